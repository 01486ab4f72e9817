// The page of costs: pointing at a kernel, a line or a stretch of the step highlights the others that belong to it.
depyf.costsPage = (() => {
  const { element } = depyf;
  const HUES = { kernel: 212, backward: 268, eager: 32, break: 8, guards: 48, dynamo: 168, wrapper: 190, optimizer: 130, copy: 320, allocation: 300, waiting: 0, python: 80, rest: 0 };

  function words(seconds) {
    const size = Math.abs(seconds);
    if (size >= 1) return seconds.toFixed(2) + " s";
    return size >= 0.001 ? (1e3 * seconds).toFixed(2) + " ms" : (1e6 * seconds).toFixed(1) + " µs";
  }

  function percent(share) {
    return (100 * share).toFixed(1) + " %";
  }

  function colour(kind) {
    return "hsl(" + (HUES[kind] ?? 0) + " " + (kind === "rest" || kind === "waiting" ? 0 : 42) + "% 58%)";
  }

  const keyOf = (place) => place.file + ":" + place.line;

  function places(lines) {
    return lines.map((line) => element("span", { class: lines.length > 1 ? "together" : null }, element("span", { class: "place" }, keyOf(line)), " ", element("code", {}, line.text)));
  }

  class CostsPage {
    constructor(host, data) {
      this.data = data;
      this.marked = [];
      const step = data.step, bare = step.without_profiler;
      host.append(
        element("h1", {}, "A step takes " + words(step.seconds)),
        element("p", { class: "lead" }, step.steps + " steady steps were measured" + (bare === null ? "" : "; a step without the profiler takes " + words(bare)) +
          (step.profiler ? "; the profiler's own " + words(step.profiler) + " per step is subtracted" : "") +
          (step.eager === null ? "" : "; without compiled code " + words(step.eager)) + ". " +
          Object.entries(step.left_out).map(([why, count]) => "Left out: " + count + " that " + why + ". ").join("")),
        data.notes.map((note) => element("p", { class: "notice" }, note)),
        this.axis(), this.kinds(),
        element("div", { class: "halves" },
          element("div", {}, element("h2", {}, "Source"), data.blocks.map((block) => this.block(block))),
          element("div", {}, this.lines(), this.againstEager(), this.kernels(), this.functions(), this.modules(), this.findings())));
    }

    // A stretch, a row or a line is highlighted together with everything for the same lines.
    tie(shown, lines) {
      const keys = lines.map(keyOf);
      if (!keys.length) return shown;
      this.marked.push([shown, keys]);
      shown.dataset.lines = keys.join(" ");
      shown.addEventListener("click", () => this.light(shown.classList.contains("lit") ? [] : keys));
      return shown;
    }

    light(keys) {
      const wanted = new Set(keys);
      for (const [shown, own] of this.marked) shown.classList.toggle("lit", own.some((key) => wanted.has(key)));
    }

    axis() {
      const end = Math.max(...this.data.timeline.map((piece) => piece.end));
      return element("div", { class: "axis-of-step", role: "group", "aria-label": "One step" }, this.data.timeline.map((piece) => {
        const where = piece.lines.length ? " of " + piece.lines.map(keyOf).join(", ") : piece.function ? " of " + piece.function : "";
        const shown = element("button", { type: "button", tabindex: "-1", title: piece.name + where + ": " + words(piece.end - piece.start) + " (" + this.data.words[piece.kind] + ")",
          style: "left:" + 100 * piece.start / end + "%;width:" + 100 * (piece.end - piece.start) / end + "%;--kind:" + colour(piece.kind) });
        return this.tie(shown, piece.lines);
      }));
    }

    kinds() {
      const whole = this.data.step.seconds;
      return element("div", { class: "kinds" }, Object.entries(this.data.kinds).map(([kind, seconds]) =>
        element("span", {}, element("i", { style: "--kind:" + colour(kind) }), this.data.words[kind] + " " + words(seconds) + ", " + percent(seconds / whole))));
    }

    block(block) {
      const own = new Map(), shared = new Map();
      for (const row of this.data.lines) {
        if (row.set.length) for (const place of row.set) shared.set(keyOf(place), (shared.get(keyOf(place)) || 0) + row.seconds);
        else own.set(keyOf(row), (own.get(keyOf(row)) || 0) + row.seconds);
      }
      const whole = this.data.step.seconds;
      const rows = block.text.split("\n").map((text, index) => {
        const line = block.first + index, key = block.file + ":" + line, alone = own.get(key) || 0, together = shared.get(key) || 0;
        const told = alone ? words(alone) + " " + percent(alone / whole) : together ? "in sets " + words(together) : "";
        const title = together ? words(alone) + " alone; in sets of lines that are computed together " + words(together) : "";
        const shown = element("div", { class: "row" + (told ? " priced" : "") + (told && !alone ? " shared" : ""), title, style: "--share:" + Math.min(100, 100 * (alone || together) / whole) + "%" },
          element("span", { class: "seconds" }, told), element("span", { class: "number" }, String(line)), element("span", { class: "text" }, text || " "));
        return told ? this.tie(shown, [{ file: block.file, line }]) : shown;
      });
      return element("div", {}, element("p", { class: "place" }, block.file + (block.name ? " " + block.name : "")), element("div", { class: "heat" }, rows));
    }

    // A table with columns that a click on the head sorts: [head, cell of a row, sort key].
    table(title, rows, columns, linesOf) {
      if (!rows.length) return null;
      const body = element("tbody", {});
      const shown = rows.map((row) => {
        const made = element("tr", {}, columns.map(([, cell, by]) => element("td", { class: typeof by(row) === "number" ? "num" : null }, cell(row))));
        this.tie(made, linesOf(row));
        return [row, made];
      });
      const fill = (by) => {
        const ordered = [...shown].sort(([a], [b]) => typeof by(a) === "number" ? by(b) - by(a) : String(by(a)).localeCompare(String(by(b))));
        body.replaceChildren(...ordered.map(([, made]) => made));
      };
      const head = element("tr", {}, columns.map(([name, , by]) => element("th", { class: typeof by(rows[0]) === "number" ? "num" : null }, element("button", { type: "button", onclick: () => fill(by) }, name))));
      body.append(...shown.map(([, made]) => made));
      return [element("h2", {}, title), element("table", {}, element("thead", {}, head), body)];
    }

    amounts() {
      const whole = this.data.step.seconds;
      return [["per step", (row) => words(row.seconds), (row) => row.seconds], ["share", (row) => percent(row.seconds / whole), (row) => row.seconds / whole]];
    }

    lines() {
      const place = (row) => places(row.set.length ? row.set : [row]);
      const columns = [...this.amounts(), ["line, or lines computed together", place, keyOf], ["kind", (row) => row.kind, (row) => row.kind]];
      return this.table("Lines", this.data.lines, columns, (row) => row.set.length ? row.set : [row]);
    }

    againstEager() {
      const columns = [["slower by", (row) => words(row.compiled - row.eager), (row) => row.compiled - row.eager], ["compiled", (row) => words(row.compiled), (row) => row.compiled],
        ["eager", (row) => words(row.eager), (row) => row.eager],
        ["noise", (row) => words(row.noise), (row) => row.noise], ["lines that share kernels", (row) => places(row.lines), (row) => keyOf(row.lines[0])]];
      return this.table("Against eager", this.data.against_eager, columns, (row) => row.lines);
    }

    kernels() {
      const link = (row) => {
        const page = row.compiles.map((each) => this.data.pages[each]).find(Boolean);
        return page ? element("a", { href: "#" + page + "/" + row.shown }, row.name) : row.name;
      };
      return this.table("Kernels", this.data.kernels, [...this.amounts(), ["times", (row) => String(Math.round(row.times)), (row) => row.times],
        ["kernel", link, (row) => row.name], ["compile", (row) => row.compiles.join(", "), (row) => row.compiles.join()]], (row) => row.lines);
    }

    functions() {
      const part = (kind) => [kind, (row) => row.kinds[kind] ? words(row.kinds[kind]) : "", (row) => row.kinds[kind] || 0];
      return this.table("Compiled functions", this.data.functions, [...this.amounts(), ["function", (row) => row.name || (row.kinds.guards ? "frames that Dynamo skips" : "graphs of an unknown function"), (row) => row.name], part("guards"), part("dynamo"), part("wrapper")], () => []);
    }

    findings() {
      const priced = this.data.findings.filter((row) => row.seconds > 0);
      return this.table("Costs of findings", priced, [...this.amounts(), ["finding", (row) => [depyf.coded(row.cause + "."), row.fix ? depyf.coded(" Fix: " + row.fix) : ""], (row) => row.cause]], (row) => row.where ? [row.where] : []);
    }

    modules() {
      return this.table("Modules", this.data.modules, [...this.amounts(), ["class", (row) => row.name, (row) => row.name]], () => []);
    }
  }

  const pages = [...document.querySelectorAll(".page.costs")].map((page) => new CostsPage(page.querySelector(".costs-page"), JSON.parse(page.querySelector(".costs-data").textContent)));
  return { pages };
})();
