// Sets the theme before anything is drawn: the one that was chosen, else that of the system.
(() => {
  const chosen = localStorage.getItem("notehop.theme");
  if (chosen === "dark" || chosen === "light") document.documentElement.dataset.theme = chosen;
})();
