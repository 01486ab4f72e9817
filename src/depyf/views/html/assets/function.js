// The page of a function: source and stages side by side; pointing at a line highlights linked lines in all of them.
depyf.functionPage = (() => {
  const { element, coded, signs } = depyf;
  const SOURCE = "source", FAR = 25;
  const kinds = { Resume: "resumes", Recompile: "recompile", Outside: "graph" };
  const host = document.getElementById("function");
  let shown = null;

  class FunctionPage {
    constructor(name, data) {
      this.name = name;
      this.data = data;
      this.placeOf = new Map(data.origins.map(([file, line], index) => [file + ":" + line, index]));
      this.linesOf = new Map();
      this.pinned = null;
      this.panes = [];
      this.head = element("div", { class: "fnhead" }, element("h1", {}, data.name), element("span", { class: "type" }, data.owner), element("span", { class: "place" }, data.file && data.file + ":" + data.line));
      this.entries = element("div", { class: "entries", role: "group", "aria-label": "Entries" });
      this.why = element("div", { class: "why" });
      this.foot = element("div", { class: "foot", "aria-live": "polite" });
      this.row = element("div", { class: "panes" });
      for (const entry of data.entries) {
        this.entries.append(element("button", { type: "button", "data-entry": entry.key, title: entry.why, onclick: () => this.go(entry.key) },
          element("i", { class: "sign " + entry.status }, signs[entry.status]), element("code", {}, entry.id), " ",
          element("span", { class: "aside" }, kinds[entry.kind] || "first call")));
      }
      host.replaceChildren(this.head, this.entries, this.why, this.row, this.foot);
    }

    // What runs a line of the user's, if known: a graph, Dynamo's code between graphs, Python, or nothing yet.
    runOf(block, line) {
      const name = Object.keys(block.states).find((each) => block.states[each].includes(line));
      return name && { name, words: this.data.states[name] };
    }

    get docs() { return this.entry.docs; }

    go(entry, doc) {
      const wanted = doc || (this.panes[1] && this.panes[1].doc && this.panes[1].doc.key) || "";
      const kept = this.data.entries.some((each) => each.key === entry && each.docs.some((one) => one.key === wanted)) ? wanted : "";
      depyf.route.go([this.name, entry, kept].filter(Boolean).join("/"));
    }

    async open(entryKey, docKey, place) {
      const entry = this.data.entries.find((each) => each.key === entryKey) || this.data.entries[0];
      if (!entry) return;
      const isNew = this.entry !== entry;
      if (isNew) {
        this.entry = entry;
        this.linesOf.clear();
        this.pinned = null;
        for (const button of this.entries.children) button.setAttribute("aria-pressed", String(button.dataset.entry === entry.key));
        this.tell();
        const others = this.panes.slice(2).map((pane) => pane.doc && pane.doc.key);
        this.row.replaceChildren();
        this.panes = [new SourcePane(this), new DocPane(this)];
        for (const pane of this.panes) this.row.append(pane.root);
        for (const key of others) await this.add(key);
      }
      const doc = this.docs.find((each) => each.key === docKey) || this.panes[1].doc || this.docs[0];
      if (doc) await this.panes[1].open(doc);
      if (place) this.pinFrom(place);
      else this.point(null);
      if (isNew && !place) this.panes[0].begin();
    }

    async add(key) {
      const pane = new DocPane(this, true);
      this.panes.push(pane);
      this.row.append(pane.root);
      const doc = this.docs.find((each) => each.key === key) || this.docs[Math.min(1, this.docs.length - 1)];
      if (doc) await pane.open(doc);
      this.point(this.pinned);
    }

    remove(pane) {
      this.panes = this.panes.filter((each) => each !== pane);
      pane.root.remove();
    }

    tell() {
      const { entry } = this;
      const facts = [element("b", {}, entry.kind === "Outside" ? "graph " + entry.id : entry.fn === this.data.name ? "compile " + entry.id : entry.fn + ", compile " + entry.id), ": ", ...coded(entry.why), ". "];
      const counts = [[entry.ops, "operation", "operations"], [entry.guards, "guard", "guards"], [entry.hits, "call served", "calls served"]].filter(([number]) => number !== null);
      if (counts.length) facts.push(counts.map(([number, one, many]) => number + " " + (number === 1 ? one : many)).join(", ") + ". ");
      if (entry.backend) facts.push("Backend: ", ...coded(entry.backend), ". ");
      if (entry.kind !== "Outside") facts.push(entry.missing ? "No code: " + entry.missing : "Proof of the transformed code: " + entry.proof + ".");
      if (entry.restarts) facts.push(" ", depyf.coded(entry.restarts), ".");
      if (entry.failure) facts.push(this.givenUp(entry.failure));
      if (entry.gone) facts.push(element("div", {}, "The entry no longer exists: " + entry.gone));
      this.why.replaceChildren(...facts);
    }

    // torch's message about a frame that it gave up: a short form, and the whole message on demand.
    givenUp(failure) {
      const said = failure.explanations.map((each) => element("p", {}, depyf.coded(each)));
      const hints = failure.hints.length ? element("ul", { class: "hints" }, failure.hints.map((each) => element("li", {}, depyf.coded(each)))) : null;
      const whole = failure.whole.includes("\n") ? element("details", {}, element("summary", {}, "torch's whole message"), element("pre", {}, failure.whole)) : null;
      return element("div", { class: "given-up" }, element("div", { class: "break" }, "✕ ", depyf.coded(failure.summary)), said, hints, whole);
    }

    // The user's lines that a line of a pane came from.
    originsAt(place) {
      if (place.doc === SOURCE) {
        const found = this.placeOf.get(this.data.blocks[place.block].file + ":" + place.line);
        return found === undefined ? [] : [found];
      }
      const doc = this.docs.find((each) => each.key === place.doc);
      const run = doc && doc.links.find(([first, last]) => first <= place.line && place.line <= last);
      return run ? run[2] : [];
    }

    // The lines of a text that came from any of `origins`.
    kinIn(doc, origins) {
      if (!this.linesOf.has(doc.key)) {
        const index = new Map();
        for (const run of doc.links) {
          for (const origin of run[2]) {
            if (!index.has(origin)) index.set(origin, []);
            index.get(origin).push(run);
          }
        }
        this.linesOf.set(doc.key, index);
      }
      const index = this.linesOf.get(doc.key), found = new Set();
      for (const origin of origins) {
        for (const [first, last] of index.get(origin) || []) for (let line = first; line <= last; line++) found.add(line);
      }
      return found;
    }

    point(place) {
      const origins = place ? this.originsAt(place) : [];
      for (const pane of this.panes) pane.mark(place, origins);
      this.describe(place, origins);
    }

    describe(place, origins) {
      if (!place) {
        this.foot.replaceChildren("Point at a line to see the lines linked to it. Click to keep it selected.");
        return;
      }
      const doc = this.docs.find((each) => each.key === place.doc);
      const isUsed = doc || this.docs.some((each) => this.kinIn(each, origins).size);
      if (!origins.length || !isUsed) {
        const reason = doc ? doc.note : "no graph, guard or kernel of this entry is linked to this line";
        this.foot.replaceChildren(element("b", {}, "line " + place.line), "no link is known: " + reason);
        return;
      }
      const places = origins.slice(0, 3).map((each) => this.data.origins[each].join(":")).join(", ");
      const more = origins.length > 3 ? ` and ${origins.length - 3} more lines` : "";
      const leading = this.docs.filter((each) => each.lead), named = (each) => each.kernels.length > 0;
      const kin = [...leading.filter(named), ...leading.filter((each) => !named(each))].map((each) => this.kinWords(each, origins)).filter(Boolean);
      this.foot.replaceChildren(element("b", {}, places + more), kin.join("  ·  "));
    }

    // The part of a text that is linked to some lines of the user's: kernels by name, otherwise the number of lines.
    kinWords(doc, origins) {
      const lines = this.kinIn(doc, origins), names = this.kernelsAt(doc, lines);
      if (names.length) return `${doc.label}: ${names.join(", ")}`;
      return lines.size ? `${doc.label} ${lines.size}` : "";
    }

    // The kernels that some lines of a text call, each once, with the number of calls.
    kernelsAt(doc, lines) {
      const counts = new Map();
      for (const [line, name] of doc.kernels) if (lines.has(line)) counts.set(name, (counts.get(name) || 0) + 1);
      return [...counts].map(([name, count]) => (count > 1 ? `${name} ×${count}` : name));
    }

    // Moves the selected line by one in its text.
    step(by) {
      const from = this.pinned || { doc: SOURCE, block: 0, line: this.data.blocks.length ? this.data.blocks[0].first - by : 0 };
      const pane = this.panes.find((each) => each.has(from));
      const view = pane && pane.viewOf(from), line = from.line + by;
      if (view && view.first <= line && line < view.first + view.lines.length) {
        this.pin({ ...from, line });
        view.show(line);
      }
    }

    pin(place) {
      const same = this.pinned && place && ["doc", "block", "line"].every((key) => this.pinned[key] === place[key]);
      this.pinned = same ? null : place;
      this.point(this.pinned);
      const parts = [this.name, this.entry.key, this.panes[1].doc ? this.panes[1].doc.key : ""];
      if (this.pinned) parts.push(place.doc === SOURCE ? `S${place.block}.${place.line}` : `L${place.line}`);
      depyf.route.replace(parts.filter(Boolean).join("/"));
      if (this.pinned) this.reveal(place);
    }

    // The place in the shown source for a line of a file; empty if the page does not have it.
    sourceOf(file, line) {
      const index = this.data.blocks.findIndex((block) => block.file === file && block.first <= line && line < block.first + block.text.split("\n").length);
      return index < 0 ? "" : `S${index}.${line}`;
    }

    pinFrom(text) {
      const source = /^S(\d+)\.(\d+)$/.exec(text), line = /^L(\d+)$/.exec(text), named = /^@(.*):(\d+)$/.exec(text);
      if (named) return this.pinFrom(this.sourceOf(named[1], Number(named[2])));
      if (source && this.data.blocks[Number(source[1])]) this.pinned = { doc: SOURCE, block: Number(source[1]), line: Number(source[2]) };
      else if (line && this.panes[1].doc) this.pinned = { doc: this.panes[1].doc.key, line: Number(line[1]) };
      this.point(this.pinned);
      if (this.pinned) for (const pane of this.panes) pane.reveal(this.pinned, this.originsAt(this.pinned));
    }

    reveal(place) {
      const origins = this.originsAt(place);
      for (const pane of this.panes) if (!pane.has(place)) pane.reveal(place, origins);
    }
  }

  // The last click. A page that appears under a resting mouse is not pointed at.
  let clicked = null;
  addEventListener("click", (event) => { if (event.detail) clicked = event; }, true);
  const isAtClick = (event) => clicked !== null && event.clientX === clicked.clientX && event.clientY === clicked.clientY;

  // Calls `act` with the number of the line under the mouse.
  function listen(code, act, leave, click) {
    const line = (event) => {
      const row = event.target.closest(".ln");
      return row ? Number(row.dataset.n) : null;
    };
    code.root.addEventListener("mouseover", (event) => { const at = line(event); if (at !== null && !isAtClick(event)) act(at); });
    code.root.addEventListener("mouseleave", leave);
    code.root.addEventListener("click", (event) => {
      const at = line(event);
      if (at !== null && !String(getSelection())) click(at);
    });
  }

  class SourcePane {
    constructor(page) {
      this.page = page;
      this.views = [];
      const scroll = element("div", { class: "scroll", tabindex: "0", "aria-label": "Your source" });
      page.data.blocks.forEach((block, index) => {
        const view = new depyf.code.Code(block.text.split("\n"), {
          first: block.first, language: "python", run: (line) => page.runOf(block, line),
          marks: (line) => depyf.marks.of(page, block.file, line), after: (line) => depyf.marks.note(page, block.file, line),
        });
        this.views.push(view);
        listen(view, (line) => page.point({ doc: SOURCE, block: index, line }), () => page.point(page.pinned), (line) => page.pin({ doc: SOURCE, block: index, line }));
        scroll.append(element("div", { class: "blockhead" }, element("b", {}, block.name || "module level"), "  ", element("span", { class: "place" }, block.file + ":" + block.first)), view.root);
      });
      if (!page.data.blocks.length) scroll.append(element("p", { class: "notice" }, "The source of this function cannot be read."));
      const bar = element("div", { class: "bar" }, element("span", { class: "title" }, "your source"),
        page.data.share ? element("span", { class: "share", title: page.data.share }, element("b", {}, page.data.share.split(" lines ")[0] + " lines"), " in graphs") : null);
      this.root = element("div", { class: "pane source" }, bar, scroll);
    }

    // A function may begin with a long docstring. Scroll to the lines that are in graphs instead.
    begin() {
      const [block] = this.page.data.blocks, view = this.views[0];
      if (!view) return;
      const first = view.lines.findIndex((_, offset) => depyf.marks.of(this.page, block.file, view.first + offset).length > 0);
      if (first > FAR) view.show(view.first + first);
    }

    has(place) { return place.doc === SOURCE; }

    viewOf(place) { return this.views[place.block]; }

    mark(place, origins) {
      const lines = this.views.map(() => new Map());
      for (const origin of origins) {
        const [file, line] = this.page.data.origins[origin];
        this.page.data.blocks.forEach((block, index) => { if (block.file === file) lines[index].set(line, "kin"); });
      }
      if (place && this.has(place)) lines[place.block].set(place.line, "at");
      this.views.forEach((view, index) => view.mark(lines[index]));
    }

    reveal(place, origins) {
      if (this.has(place)) return this.views[place.block].show(place.line);
      const blocks = this.page.data.blocks, lines = origins.map((origin) => this.page.data.origins[origin]);
      const holds = (view, block, [file, line]) => block.file === file && view.first <= line && line < view.first + view.lines.length;
      // Blocks are in order of importance: the function itself, then the files with most lines in its graphs.
      for (const [index, view] of this.views.entries()) {
        const found = lines.find((place) => holds(view, blocks[index], place));
        if (found) return view.show(found[1]);
      }
    }
  }

  class DocPane {
    constructor(page, extra) {
      this.page = page;
      this.extra = extra;
      this.bar = element("div", { class: "bar", role: "tablist" });
      this.scroll = element("div", { class: "scroll", tabindex: "0" });
      this.root = element("div", { class: "pane" }, this.bar, this.scroll);
      this.wrap = false;
      this.doc = null;
    }

    tabs() {
      const leading = this.page.docs.filter((each) => each.lead || each === this.doc), others = this.page.docs.filter((each) => !leading.includes(each));
      const made = leading.map((doc) => element("button", { type: "button", role: "tab", "data-doc": doc.key, "aria-selected": String(doc === this.doc), title: doc.file, onclick: () => this.choose(doc) }, doc.label));
      if (others.length) {
        const select = element("select", { "aria-label": "More stages", onchange: () => this.choose(this.page.docs.find((each) => each.key === select.value)) },
          element("option", { value: "" }, "more"), others.map((doc) => element("option", { value: doc.key }, doc.label)));
        made.push(select);
      }
      const here = this.doc ? [this.page.name, this.page.entry.key, this.doc.key].join("/") : "";
      const right = element("span", { class: "right" },
        element("a", { class: "tool", href: "#diff/" + here, title: "Compare this text with another", "aria-label": "Diff" }, "±"),
        element("button", { type: "button", title: "Wrap long lines (w)", "aria-label": "Wrap long lines", onclick: () => this.toggleWrap() }, "↩"),
        this.extra ? element("button", { type: "button", title: "Close this column", "aria-label": "Close this column", onclick: () => this.page.remove(this) }, "×")
          : element("button", { type: "button", title: "Another column (c)", "aria-label": "Another column", onclick: () => this.page.add() }, "+"));
      this.bar.replaceChildren(...made, right);
    }

    choose(doc) {
      if (!doc) return;
      if (this.extra) this.open(doc).then(() => this.page.point(this.page.pinned));
      else {
        if (this.page.pinned && this.page.pinned.doc !== SOURCE) this.page.pinned = null;
        const place = this.page.pinned ? [`S${this.page.pinned.block}.${this.page.pinned.line}`] : [];
        depyf.route.go([this.page.name, this.page.entry.key, doc.key, ...place].join("/"));
      }
    }

    async open(doc) {
      if (this.doc === doc) return;
      this.doc = doc;
      this.tabs();
      let text = doc.text;
      if (text === undefined) {
        this.scroll.replaceChildren(element("p", { class: "notice" }, `loading ${doc.lines} lines …`));
        try { text = await depyf.textOf(doc); }
        catch (error) { text = "This text cannot be loaded: " + error.message; }
        if (this.doc !== doc) return;
      }
      this.view = new depyf.code.Code(text.replace(/\n$/, "").split("\n"), { language: doc.language, folds: doc.folds });
      this.view.root.classList.toggle("wrap", this.wrap);
      listen(this.view, (line) => this.page.point({ doc: doc.key, line }), () => this.page.point(this.page.pinned), (line) => this.page.pin({ doc: doc.key, line }));
      const unlinked = doc.links.length ? null : element("p", { class: "notice unlinked" }, "No line of yours is linked to this text: " + doc.note + ".");
      this.scroll.replaceChildren(...(unlinked ? [unlinked] : []), this.view.root);
      this.scroll.scrollTop = 0;
      // The imports at the head of a module are the same for every graph.
      if (doc.starts > FAR) this.view.show(doc.starts);
    }

    has(place) { return this.doc !== null && place.doc === this.doc.key; }

    viewOf() { return this.view; }

    mark(place, origins) {
      for (const tab of this.bar.querySelectorAll("[data-doc]")) {
        const doc = this.page.docs.find((each) => each.key === tab.dataset.doc);
        const count = origins.length ? this.page.kinIn(doc, origins).size : 0;
        tab.replaceChildren(doc.label, ...(count ? [element("span", { class: "n" }, count < 1000 ? String(count) : Math.floor(count / 1000) + "k")] : []));
      }
      if (!this.view || !this.doc) return;
      const lines = new Map();
      for (const line of this.page.kinIn(this.doc, origins)) lines.set(line, "kin");
      if (place && this.has(place)) lines.set(place.line, "at");
      this.view.mark(lines);
    }

    reveal(place, origins) {
      if (!this.view) return;
      if (this.has(place)) return this.view.show(place.line);
      const lines = [...this.page.kinIn(this.doc, origins)];
      if (lines.length) this.view.show(Math.min(...lines));
    }

    toggleWrap() {
      this.wrap = !this.wrap;
      if (this.view) {
        this.view.fillAll();
        this.view.root.classList.toggle("wrap", this.wrap);
      }
    }
  }

  // The name of a file may have slashes, so the place is the rest of the address. Returns the part of it that does not exist.
  async function show(name, entry, doc, ...place) {
    if (!shown || shown.name !== name) shown = new FunctionPage(name, await depyf.load(name));
    await shown.open(entry, doc, place.join("/"));
    if (entry && !shown.data.entries.some((each) => each.key === entry)) return "compile";
    return doc && !shown.docs.some((each) => each.key === doc) ? "text" : "";
  }

  return { show, current: () => shown };
})();
