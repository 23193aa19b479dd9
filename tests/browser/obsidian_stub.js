// Stands for the app: what of its published interface the plugin uses (obsidian_members.json), over a
// vault of paths and one editor. What the plugin did is read from `app`.
"use strict";

function make(tag, { cls, text, attr = {} } = {}) {
  const element = document.createElement(tag);
  if (cls) element.className = cls;
  if (text) element.textContent = text;
  for (const [name, value] of Object.entries(attr)) element.setAttribute(name, value);
  this.append(element);
  return element;
}
Object.assign(HTMLElement.prototype, {
  createEl: make,
  createDiv(options) { return this.createEl("div", options); },
  empty() { this.replaceChildren(); },
  addClass(...names) { this.classList.add(...names); },
  onWindowMigrated() { return () => {}; },
  win: window,
});

class Events {
  constructor() { this.heard = []; }
  on(name, call) { this.heard.push([name, call]); return { name, call }; }
  trigger(name, ...given) { for (const [one, call] of this.heard) if (one === name) call(...given); }
}

class Editor {
  constructor(text) { this.text = text; this.at = [0, 0]; this.focused = 0; }
  offsetToPos(offset) { const lines = this.text.slice(0, offset).split("\n"); return { line: lines.length - 1, ch: lines.at(-1).length }; }
  posToOffset({ line, ch }) { return this.text.split("\n").slice(0, line).reduce((sum, one) => sum + one.length + 1, 0) + ch; }
  getCursor(which) { return this.offsetToPos(this.at[which === "from" ? 0 : 1]); }
  setCursor(at) { const offset = this.posToOffset(at); this.at = [offset, offset]; }
  getLine(line) { return this.text.split("\n")[line]; }
  getSelection() { return this.text.slice(...this.at); }
  replaceRange(text, from) { const at = this.posToOffset(from); this.text = this.text.slice(0, at) + text + this.text.slice(at); }
  focus() { this.focused += 1; }
}

class View {
  constructor(leaf) {
    this.app = window.app;
    this.leaf = leaf;
    this.contentEl = document.createElement("div");
    this.contentEl.className = "view-content";
  }
  registerDomEvent(element, name, call) { element.addEventListener(name, call); }
  register() {}
}
class ItemView extends View {
  addAction(icon, title, call) { this.actions = { ...this.actions, [title]: call }; return document.createElement("a"); }
}
class MarkdownView extends View {
  constructor(leaf, file, text) { super(leaf); Object.assign(this, { file, editor: new Editor(text), mode: "source" }); }
  getMode() { return this.mode; }
}

class Leaf {
  async setViewState({ type }) {
    this.view = window.app.workspace.made[type](this);
    document.getElementById("side").append(this.view.contentEl);
    await this.view.onOpen();
  }
  async openFile(file, state) {
    window.app.opened.push([file.path, state?.eState?.line ?? null]);
    window.app.workspace.show(file.path);
  }
}

class Workspace extends Events {
  constructor() { super(); Object.assign(this, { made: {}, side: [], main: new Leaf() }); }
  getLeavesOfType() { return this.side; }
  getRightLeaf() { const leaf = new Leaf(); this.side.push(leaf); return leaf; }
  async revealLeaf() {}
  getLeaf() { return this.main; }
  getMostRecentLeaf() { return this.main; }
  getActiveFile() { return this.main.view?.file ?? null; }
  async openLinkText(text) { window.app.opened.push([text, null]); }
  show(path, text = "") {
    this.main.view = new MarkdownView(this.main, window.app.vault.getFileByPath(path), text);
    this.trigger("file-open", this.main.view.file);
  }
}

class Vault extends Events {
  constructor(name, paths) {
    super();
    this.name = name;
    this.files = new Map(paths.map((path) => [path, { path, basename: path.split("/").pop().replace(/\.\w+$/, ""), extension: path.split(".").pop() }]));
    this.adapter = { getBasePath: () => `/vaults/${name}` };
  }
  getName() { return this.name; }
  getFileByPath(path) { return this.files.get(path) ?? null; }
}

class Plugin {
  constructor(app, manifest) { Object.assign(this, { app, manifest, commands: {} }); }
  async loadData() { return this.app.data; }
  async saveData(data) { this.app.data = { ...data }; }
  registerView(type, make) { this.app.workspace.made[type] = make; }
  register() {}
  registerEvent() {}
  addRibbonIcon() { return document.createElement("a"); }
  addSettingTab(tab) { this.app.tab = tab; }
  addCommand(command) { this.commands[command.id] = command; return command; }
}

class PluginSettingTab {
  constructor(app) { this.app = app; this.containerEl = document.getElementById("settings"); }
  hide() { this.containerEl.empty(); }
}
class Control {
  constructor(box, tag) { this.element = box.createEl(tag); }
  setPlaceholder(text) { this.element.placeholder = text; return this; }
  setValue(text) { this.element.value = text; return this; }
  onChange(call) { this.element.addEventListener("change", () => call(this.element.value)); return this; }
}
class SecretComponent extends Control {
  constructor(app, box) { super(box, "input"); }
}
class Setting {
  constructor(box) { this.box = box.createDiv(); }
  setName(text) { this.name = text; this.box.createEl("h3", { text }); return this; }
  setDesc(text) { this.box.createEl("p", { text }); return this; }
  named(control) { control.element.setAttribute("aria-label", this.name); return control; }
  addText(call) { call(this.named(new Control(this.box, "input"))); return this; }
  addComponent(call) { this.named(call(this.box)); return this; }
}
class Notice {
  constructor(text) { window.app.notices.push(text); }
}

window.start = async ({ main, manifest, name, paths, data, secrets, dark }) => {
  window.app = {
    workspace: new Workspace(), vault: new Vault(name, paths), data, notices: [], opened: [],
    isDarkMode: () => dark,
    secretStorage: { getSecret: (id) => secrets[id] ?? null },
    fileManager: {
      generateMarkdownLink: (file, from, subpath = "") => `${file.extension === "md" ? "" : "!"}[[${file.extension === "md" ? file.basename : file.path}${subpath}]]`,
    },
  };
  const obsidian = {
    ItemView, MarkdownView, Notice, Plugin, PluginSettingTab, SecretComponent, Setting,
    requestUrl: async ({ url, headers }) => {
      const [status, text] = await window.requested(url, headers ?? {});
      return { status, text, get json() { return JSON.parse(text); } };
    },
    debounce: (call, wait) => {
      let timer = 0;
      return () => { clearTimeout(timer); timer = setTimeout(call, wait); };
    },
    stripHeadingForLink: (text) => text.replace(/[#^|:%[\]\\]+/g, " ").trim(),
  };
  const module = { exports: {} };
  new Function("require", "module", main)((wanted) => ({ obsidian })[wanted], module);
  window.plugin = new module.exports(window.app, manifest);
  await window.plugin.onload();
};
