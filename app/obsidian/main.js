// notehop in the app: frames the side pane of the notehop server, tells it which note is open, and does
// in the editor what is clicked there. It reads no note itself and stores nothing but its settings.
"use strict";

const {
  ItemView, MarkdownView, Notice, Plugin, PluginSettingTab, SecretComponent, Setting, debounce, requestUrl, stripHeadingForLink,
} = require("obsidian");

const VIEW = "notehop-pane";
const DEFAULTS = { address: "http://127.0.0.1:8765", secret: "" };
const TABS = { related: "Show related notes", suggest: "Show links that could be made", ask: "Ask a question" };
const READ = ["md", "canvas", "base"]; // what the server reads
const QUIET = 2500; // ms without a change before the open note counts as changed
const LONGEST = 2000; // characters of any field of a message
const PATIENCE = 15_000; // ms that the pane has to say that it is there

/** What the pane may say, and of which type each field is; web/static/pane.js has the same table. */
const HEARD = {
  ready: {},
  open: { path: "string", line: "number", at: "string", tab: "boolean" },
  link: { note: "string", path: "string" },
  cite: { path: "string", heading: "string", quote: "string" },
  web: { url: "string" },
  leave: {},
};

/** The address as a URL of its origin alone; null for what is none. */
function originOf(address) {
  try {
    const url = new URL(address);
    return ["http:", "https:"].includes(url.protocol) ? url.origin : null;
  } catch {
    return null;
  }
}

class Pane extends ItemView {
  constructor(leaf, plugin) {
    super(leaf);
    this.plugin = plugin;
    this.frame = null;
    this.origin = null;
    this.token = "";
    this.met = false;
    this.timer = 0;
    this.tries = 0;
    this.waiting = null; // a message that came before the pane was there
    this.tab = "related";
  }

  getViewType() {
    return VIEW;
  }

  getDisplayText() {
    return "notehop";
  }

  getIcon() {
    return "waypoints";
  }

  async onOpen() {
    this.addAction("refresh-cw", "Reload", () => this.connect());
    const { contentEl: box } = this;
    this.registerDomEvent(box.win, "message", (event) => this.heard(event));
    // In a window of its own, the frame begins anew and speaks to that window.
    this.register(box.onWindowMigrated((win) => {
      this.registerDomEvent(win, "message", (event) => this.heard(event));
      this.connect();
    }));
    await this.connect();
  }

  async onClose() {
    window.clearTimeout(this.timer);
    this.tries += 1;
    this.frame = null;
  }

  /** Look whether the server is there, and frame its pane; say what to do where it is not. */
  async connect() {
    window.clearTimeout(this.timer);
    this.tries += 1;
    const { tries } = this;
    this.frame = null;
    this.met = false;
    this.origin = originOf(this.plugin.settings.address);
    if (!this.origin) return this.failed("The address of the server is none", "It looks like http://127.0.0.1:8765, and stands in Settings, below Community plugins.");
    const health = await this.plugin.health(this.origin);
    if (tries !== this.tries) return; // closed, or begun anew meanwhile
    if (!health) {
      return this.failed("notehop is not running", "Start it in a terminal, and leave it running:", `notehop serve --vault "${this.plugin.folder()}"`);
    }
    this.contentEl.empty();
    this.contentEl.addClass("notehop-content");
    this.frame = this.contentEl.createEl("iframe", {
      cls: "notehop-frame",
      attr: { title: "notehop", src: `${this.origin}/pane`, sandbox: "allow-scripts allow-same-origin allow-forms", referrerpolicy: "no-referrer" },
    });
    this.timer = window.setTimeout(() => this.failed("The pane does not load", `The server answers, and its page ${this.origin}/pane does not. An older notehop has none: install a new one, and start notehop serve again.`), PATIENCE);
  }

  failed(title, text, command = "") {
    const box = this.contentEl;
    this.frame = null;
    box.empty();
    box.addClass("notehop-content");
    const told = box.createDiv({ cls: "notehop-told", attr: { role: "status" } });
    told.createEl("h2", { text: title });
    told.createEl("p", { text });
    if (command) told.createEl("code", { text: command });
    told.createEl("button", { text: "Try again", cls: "mod-cta" }).addEventListener("click", () => this.connect());
  }

  /** Say something to the pane, and to no other page that might have come into the frame. */
  tell(kind, fields) {
    if (this.frame && this.met) this.frame.contentWindow.postMessage({ notehop: kind, ...fields }, this.origin);
  }

  /** Say it now, or once the pane is there. */
  tellSoon(kind, fields) {
    if (this.met) this.tell(kind, fields);
    else this.waiting = [kind, fields];
  }

  heard({ origin, source, data }) {
    if (!this.frame || source !== this.frame.contentWindow || origin !== this.origin) return;
    if (typeof data !== "object" || data === null || !Object.hasOwn(HEARD, data.notehop)) return;
    const fields = Object.entries(HEARD[data.notehop]);
    if (!fields.every(([name, type]) => typeof data[name] === type && String(data[name]).length <= LONGEST)) return;
    if (data.notehop === "ready") this.greet();
    else this.plugin.act(data.notehop, data, this);
  }

  greet() {
    window.clearTimeout(this.timer);
    this.met = true;
    this.token = this.plugin.token();
    this.tell("hello", { token: this.token, vault: this.app.vault.getName(), folder: this.plugin.folder(), theme: this.plugin.theme(), tab: this.tab });
    this.plugin.tellNote();
    if (this.waiting) this.tell(...this.waiting);
    this.waiting = null;
  }
}

class Notehop extends Plugin {
  async onload() {
    this.settings = { ...DEFAULTS, ...(await this.loadData()) };
    this.registerView(VIEW, (leaf) => new Pane(leaf, this));
    this.addRibbonIcon("waypoints", "Open notehop", () => this.open());
    this.addSettingTab(new SettingTab(this.app, this));
    for (const [tab, name] of Object.entries(TABS)) this.addCommand({ id: tab, name, callback: () => this.show(tab) });
    this.addCommand({
      id: "ask-selection", name: "Ask about the selected text",
      editorCheckCallback: (checking, editor) => {
        const text = editor.getSelection().trim().slice(0, LONGEST);
        if (text && !checking) this.ask(text);
        return Boolean(text);
      },
    });
    const { workspace, vault } = this.app;
    // The pane looks again once nobody types any more.
    const changed = debounce(() => this.tellNote(true), QUIET, true);
    this.register(() => changed.cancel());
    this.registerEvent(workspace.on("file-open", () => this.tellNote()));
    this.registerEvent(workspace.on("css-change", () => this.tellAll("theme", { theme: this.theme() })));
    this.registerEvent(vault.on("modify", (file) => file.path === workspace.getActiveFile()?.path && changed()));
    this.registerEvent(vault.on("rename", () => this.tellNote()));
  }

  // What the pane has to know

  panes() {
    return this.app.workspace.getLeavesOfType(VIEW).map((leaf) => leaf.view).filter((view) => view instanceof Pane);
  }

  tellAll(kind, fields) {
    for (const pane of this.panes()) pane.tell(kind, fields);
  }

  tellNote(changed = false) {
    const file = this.app.workspace.getActiveFile();
    this.tellAll("note", { path: file && READ.includes(file.extension) ? file.path : "", changed });
  }

  theme() {
    return this.app.isDarkMode() ? "dark" : "light";
  }

  token() {
    return (this.settings.secret && this.app.secretStorage.getSecret(this.settings.secret)) || "";
  }

  folder() {
    return this.app.vault.adapter.getBasePath?.() ?? this.app.vault.getName();
  }

  /** Whether a notehop answers at an address. */
  async health(origin) {
    try {
      const reply = await requestUrl({ url: `${origin}/health`, throw: false });
      return reply.status === 200 && typeof reply.json.live === "boolean";
    } catch {
      return false; // nobody listens, or it speaks of something else
    }
  }

  // What is done in the app

  async open() {
    const { workspace } = this.app;
    let [leaf] = workspace.getLeavesOfType(VIEW);
    if (!leaf) {
      leaf = workspace.getRightLeaf(false);
      if (!leaf) return null; // there is no side in this window
      await leaf.setViewState({ type: VIEW, active: true });
    }
    await workspace.revealLeaf(leaf);
    return leaf.view instanceof Pane ? leaf.view : null;
  }

  async show(tab) {
    const pane = await this.open();
    if (!pane) return;
    if (!pane.met) pane.tab = tab;
    else {
      pane.frame.focus();
      pane.tell("show", { tab });
    }
  }

  async ask(question) {
    const pane = await this.open();
    pane?.tellSoon("ask", { question });
  }

  /** Do what was clicked in the pane; `fields` are of the types that HEARD names. */
  async act(kind, fields, pane) {
    if (kind === "open") await this.openNote(fields);
    else if (kind === "link") this.insertLink(fields, pane);
    else if (kind === "cite") this.insertCitation(fields, pane);
    else if (kind === "web" && /^https?:\/\//.test(fields.url)) window.open(fields.url);
    else if (kind === "leave") this.writing()?.editor.focus();
  }

  async openNote({ path, line, at, tab }) {
    const { workspace, vault } = this.app;
    const file = vault.getFileByPath(path);
    if (!file) return void new Notice(`${path} is not in this vault.`);
    if (at && !line) return workspace.openLinkText(`${path}#${at}`, "", tab);
    await workspace.getLeaf(tab ? "tab" : false).openFile(file, line > 0 ? { eState: { line: line - 1 } } : undefined);
  }

  /** The view in which one writes: the one that was used last, if it shows a note to be edited. */
  writing() {
    const view = this.app.workspace.getMostRecentLeaf()?.view;
    return view instanceof MarkdownView && view.file && view.getMode() === "source" ? view : null;
  }

  /** A link to a note as the app itself would write it in another; null where there is no such note. */
  linkTo(path, from, heading = "") {
    const file = this.app.vault.getFileByPath(path);
    if (!file) return null;
    const subpath = heading ? `#${stripHeadingForLink(heading.split(" > ").pop())}` : "";
    return this.app.fileManager.generateMarkdownLink(file, from, subpath).replace(/^!/, "");
  }

  insertLink({ note, path }, pane) {
    const view = this.writing();
    if (view && note !== view.file.path) return this.refused(pane, "Another note is open by now.");
    this.insert(view, view && this.linkTo(path, view.file.path), pane);
  }

  insertCitation({ path, heading, quote }, pane) {
    const view = this.writing();
    const link = view && this.linkTo(path, view.file.path, heading);
    const lines = quote.split(/\r?\n/).map((line) => line.trim()).filter(Boolean);
    if (!link || !lines.length) return this.insert(view, link, pane);
    const begun = view.editor.getLine(view.editor.getCursor("to").line).trim();
    this.insert(view, `${begun ? "\n\n" : ""}${lines.map((line) => `> ${line}`).join("\n")}\n>\n> — ${link}\n\n`, pane);
  }

  /** Put a text behind the cursor, or behind what is selected; nothing is replaced. */
  insert(view, text, pane) {
    if (!view) return this.refused(pane, "Open a note to write in first.");
    if (!text) return this.refused(pane, "That note is not in this vault.");
    const { editor } = view;
    const at = editor.getCursor("to");
    editor.replaceRange(text, at);
    editor.setCursor(editor.offsetToPos(editor.posToOffset(at) + text.length));
    pane.tell("done", { ok: true, text: `Inserted in ${view.file.basename}` });
  }

  refused(pane, text) {
    new Notice(text);
    pane.tell("done", { ok: false, text });
  }

  async changed(settings) {
    Object.assign(this.settings, settings);
    await this.saveData(this.settings);
  }
}

class SettingTab extends PluginSettingTab {
  constructor(app, plugin) {
    super(app, plugin);
    this.plugin = plugin;
  }

  display() {
    const { containerEl: box, plugin } = this;
    box.empty();
    new Setting(box)
      .setName("Address")
      .setDesc("Of the server that “notehop serve” runs for this vault, on this computer.")
      .addText((text) => text.setPlaceholder(DEFAULTS.address).setValue(plugin.settings.address)
        .onChange((value) => plugin.changed({ address: value.trim() || DEFAULTS.address })));
    new Setting(box)
      .setName("Token")
      .setDesc("Only for a server that asks for one. The app keeps it on this computer, and not in the vault.")
      .addComponent((element) => new SecretComponent(this.app, element).setValue(plugin.settings.secret)
        .onChange((value) => plugin.changed({ secret: value })));
  }

  hide() {
    super.hide();
    const origin = originOf(this.plugin.settings.address);
    for (const pane of this.plugin.panes()) {
      // What a pane shows may be an answer that is being written.
      if (!pane.met || pane.origin !== origin || pane.token !== this.plugin.token()) pane.connect();
    }
  }
}

module.exports = Notehop;
