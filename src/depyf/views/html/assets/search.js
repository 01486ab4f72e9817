// Searches everything: names, your source, reasons, guards, and every line of every stage, which are loaded for it.
depyf.search = (() => {
  const { element } = depyf;
  const MOST = 300, MOST_OF_A_TEXT = 12, AT_ONCE = 12;
  const dialog = document.getElementById("search");
  const input = dialog.querySelector("input"), list = dialog.querySelector("ol"), state = dialog.querySelector(".state");
  let run = 0;

  function open() {
    if (!dialog.open) dialog.showModal();
    input.select();
  }

  function result(query, where, text, address) {
    const at = text.toLowerCase().indexOf(query), begin = Math.max(0, at - 60);
    const cut = (begin ? "…" : "") + text.slice(begin, at);
    const row = element("li", {}, element("a", { href: "#" + address, onclick: () => dialog.close() },
      element("span", { class: "where" }, where),
      element("code", {}, cut.trimStart(), element("mark", {}, text.slice(at, at + query.length)), text.slice(at + query.length, at + query.length + 120))));
    list.append(row);
  }

  async function search(text) {
    const mine = ++run, query = text.trim().toLowerCase();
    list.replaceChildren();
    state.textContent = query ? "" : "names, source lines, reasons, guards, graphs, kernels, bytecode";
    if (query.length < 2) return;
    const found = { count: 0 };
    const say = (where, line, address) => {
      if (found.count < MOST) result(query, where, line, address);
      found.count++;
    };
    pages(query, say);
    const functions = depyf.processes.flatMap((process) => process.functions.map((one) => ({ ...one, process })));
    for (const each of functions) if (each.name.toLowerCase().includes(query)) say("function", each.name, each.page);
    let done = 0;
    const tell = () => { state.textContent = `${found.count} found in ${done} of ${functions.length} functions` + (found.count > MOST ? `, the first ${MOST} are shown` : ""); };
    for (let begin = 0; begin < functions.length; begin += AT_ONCE) {
      await Promise.all(functions.slice(begin, begin + AT_ONCE).map(async (each) => {
        const data = await depyf.load(each.page);
        if (mine === run) await inFunction(query, each, data, say, () => mine !== run);
        done++;
      }));
      if (mine !== run) return;
      tell();
    }
    dialog.dataset.done = query;
  }

  // The other pages are in the document; each of their rows and paragraphs is a place.
  function pages(query, say) {
    for (const page of document.querySelectorAll(".page.recompiles, .page.breaks, .page.caches, .page.ranks")) {
      for (const part of page.querySelectorAll("tr, p, h2, li")) {
        const text = part.textContent.replace(/\s+/g, " ").trim();
        if (text.toLowerCase().includes(query)) say(page.dataset.page, text, page.dataset.page);
      }
    }
  }

  async function inFunction(query, each, data, say, stopped) {
    const where = depyf.processes.length > 1 ? `${each.process.label} · ${each.name}` : each.name;
    const first = data.entries[0] ? data.entries[0].key : "";
    data.blocks.forEach((block, index) => lines(query, block.text, (number, line) => say(`${where} · source :${block.first + number}`, line, [each.page, first, data.entries[0]?.docs[0]?.key, `S${index}.${block.first + number}`].join("/"))));
    for (const entry of data.entries) {
      for (const doc of entry.docs) {
        if (stopped()) return;
        const text = await depyf.textOf(doc);
        lines(query, text, (number, line) => say(`${where} ${entry.id} · ${doc.label} :${number + 1}`, line, [each.page, entry.key, doc.key, `L${number + 1}`].join("/")));
        if (doc.chunk) depyf.forget(doc.chunk);
      }
    }
  }

  function lines(query, text, act) {
    if (!text.toLowerCase().includes(query)) return;
    let count = 0;
    text.split("\n").some((line, number) => {
      if (line.toLowerCase().includes(query)) {
        act(number, line);
        count++;
      }
      return count >= MOST_OF_A_TEXT;
    });
  }

  let timer = 0;
  input.addEventListener("input", () => {
    clearTimeout(timer);
    timer = setTimeout(() => search(input.value), 150);
  });
  input.addEventListener("keydown", (event) => {
    const first = list.querySelector("a");
    if (event.key === "Enter" && first) first.click();
    // A browser's first Escape in a search field only clears it.
    if (event.key === "Escape") { event.preventDefault(); dialog.close(); }
    if (event.key === "ArrowDown" && first) { event.preventDefault(); first.focus(); }
  });
  list.addEventListener("keydown", (event) => {
    const step = { ArrowDown: "nextElementSibling", ArrowUp: "previousElementSibling" }[event.key];
    if (!step) return;
    event.preventDefault();
    const next = event.target.closest("li")[step];
    (next ? next.querySelector("a") : input).focus();
  });
  dialog.addEventListener("click", (event) => { if (event.target === dialog) dialog.close(); });
  document.getElementById("find").addEventListener("click", open);
  return { open, search };
})();
