// Links from places of the program to their lines in the reader's editor.
depyf.editor = (() => {
  const KEY = "depyf-editor", PLACE = /^(.+):(\d+)$/;
  const EDITORS = {
    vscode: ["VS Code", (path, line) => `vscode://file${path}:${line}`],
    pycharm: ["PyCharm", (path, line) => `pycharm://open?file=${path}&line=${line}`],
    neovim: ["Neovim", (path, line) => `nvim://open?file=${path}&line=${line}`],
    none: ["no editor", null],
  };
  const box = document.getElementById("editor");
  const paths = Object.assign({}, ...depyf.processes.map((process) => process.paths));
  let chosen = "vscode";
  try { chosen = localStorage.getItem(KEY) || chosen; } catch { /* a browser may store nothing for files */ }
  // The frame of a notebook may not open other programs.
  const isFramed = window.top !== window;
  if (isFramed || !EDITORS[chosen]) chosen = isFramed ? "none" : "vscode";
  box.parentElement.hidden = isFramed;

  // Returns the address that opens a line, or null if the path of the file is unknown.
  function address(file, line) {
    const make = EDITORS[chosen][1], path = paths[file] || file;
    if (!make || !/^(\/|[A-Za-z]:[\\/])/.test(path)) return null;
    const slashed = path.replace(/\\/g, "/");
    return make(encodeURI(slashed.startsWith("/") ? slashed : "/" + slashed).replace(/[?#]/g, encodeURIComponent), line);
  }

  function decorate(root) {
    // The tree of functions is dense; its pages have the same places.
    for (const place of root.querySelectorAll(".place:not(.tree *)")) {
      const found = PLACE.exec(place.textContent.trim()), known = place.nextElementSibling;
      const link = found && address(found[1], found[2]);
      if (known && known.classList.contains("edit")) known.remove();
      if (link) place.after(depyf.element("a", { class: "edit", href: link, title: `open in ${EDITORS[chosen][0]}`, "aria-label": `open ${found[0]} in ${EDITORS[chosen][0]}` }, "✎"));
    }
  }

  box.append(...Object.entries(EDITORS).map(([name, [label]]) => depyf.element("option", { value: name, selected: name === chosen }, label)));
  box.addEventListener("change", () => {
    chosen = box.value;
    try { localStorage.setItem(KEY, chosen); } catch { /* as above */ }
    decorate(document);
  });
  const shown = document.getElementById("function");
  const watch = new MutationObserver(() => {
    watch.disconnect();
    decorate(shown);
    watch.observe(shown, { childList: true, subtree: true });
  });
  watch.observe(shown, { childList: true, subtree: true });
  decorate(document);
  return { address };
})();
