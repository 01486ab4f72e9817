// The first page: calls that can be folded.
depyf.overview = (() => {
  function fold(row) {
    const depth = Number(row.dataset.depth);
    const closed = row.classList.toggle("closed");
    for (let next = row.nextElementSibling; next && Number(next.dataset.depth) > depth; next = next.nextElementSibling) {
      next.hidden = closed;
      if (closed) next.classList.remove("closed");
    }
  }

  for (const table of document.querySelectorAll("table.tree")) {
    table.addEventListener("click", (event) => {
      if (event.target.closest("a")) return;
      const row = event.target.closest("tr.call, tr.function");
      if (row && !String(getSelection())) fold(row);
    });
  }
  return { fold };
})();
