// Keyboard shortcuts for everything that the mouse does.
depyf.keys = (() => {
  const HELP = [["/", "search"], ["t", "switch between light and dark"], ["o  r  b  h  d", "overview, recompiles, breaks, caches, diff"], ["[  ]", "previous entry, next entry"],
    ["1 … 9", "tab with that number"], ["j  k", "next, previous line"], ["c", "add a column"], ["w", "wrap long lines"], ["Esc", "deselect the line"], ["?", "show these keys"]];
  const dialog = document.getElementById("keys");
  dialog.querySelector("dl").append(...HELP.flatMap(([key, what]) => [depyf.element("dt", {}, key), depyf.element("dd", {}, what)]));

  function onFunction(key) {
    const page = depyf.functionPage.current();
    if (!page || document.getElementById("function").hidden) return false;
    const entries = page.data.entries, at = entries.indexOf(page.entry), pane = page.panes[1];
    const tabs = [...pane.bar.querySelectorAll("[data-doc]")];
    if (key === "[" && at > 0) page.go(entries[at - 1].key);
    else if (key === "]" && at + 1 < entries.length) page.go(entries[at + 1].key);
    else if (/^[1-9]$/.test(key) && tabs[Number(key) - 1]) tabs[Number(key) - 1].click();
    else if (key === "Escape" && page.pinned) page.pin(page.pinned);
    else if (key === "w") pane.toggleWrap();
    else if (key === "c") page.add();
    else if (key === "j" || key === "k") page.step(key === "j" ? 1 : -1);
    else return false;
    return true;
  }

  addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || document.querySelector("dialog[open]")) return;
    const pages = { o: "overview", r: "recompiles", b: "breaks", h: "caches", d: "diff" };
    if (event.key === "/") depyf.search.open();
    else if (event.key === "?") dialog.showModal();
    else if (event.key === "t") document.getElementById("theme").click();
    else if (pages[event.key]) location.hash = "#" + pages[event.key];
    else if (!onFunction(event.key)) return;
    event.preventDefault();
  });
  dialog.addEventListener("click", () => dialog.close());
  document.getElementById("help").addEventListener("click", () => dialog.showModal());
  return {};
})();
