// A view of lines. Long texts are added to the page part by part while the user scrolls.
depyf.code = (() => {
  const PART = 200, HEIGHT = 19;
  const { element } = depyf;

  class Code {
    // `lines` is a list of texts; `options`: first (number of the first line), language, marks (line -> elements), after (line -> element),
    // folds (first, last, words of lines that are hidden at first).
    constructor(lines, options) {
      this.lines = lines;
      this.first = options.first || 1;
      this.language = options.language || "text";
      this.options = options;
      this.root = element("div", { class: "code", role: "list" });
      this.parts = [];
      this.marked = new Map();
      this.folds = new Map();
      for (const [first, last, words] of options.folds || []) this.addFold(first, last, words);
      const lazy = lines.length > 4 * PART;
      if (lazy) this.observer = new IntersectionObserver((seen) => this.see(seen), { rootMargin: "800px" });
      this.states = null;
      for (let begin = 0; begin < lines.length; begin += PART) {
        const part = element("div");
        const count = Math.min(PART, lines.length - begin);
        this.parts.push({ part, begin, count, filled: false });
        part.dataset.part = String(this.parts.length - 1);
        if (lazy) {
          part.style.height = count * HEIGHT + "px";
          this.observer.observe(part);
        } else this.fill(this.parts.length - 1);
        this.root.append(part);
      }
    }

    addFold(first, last, words) {
      const fold = { first, last, isOpen: false, button: element("button", { type: "button", class: "fold", "aria-expanded": "false", onclick: () => this.toggle(fold) }, "⋯ " + words) };
      for (let number = first; number <= last; number++) this.folds.set(number, fold);
    }

    toggle(fold) {
      fold.isOpen = !fold.isOpen;
      fold.button.setAttribute("aria-expanded", String(fold.isOpen));
      for (let number = fold.first; number <= fold.last; number++) this.row(number)?.classList.toggle("folded", !fold.isOpen);
    }

    see(seen) {
      for (const each of seen) if (each.isIntersecting) this.fill(Number(each.target.dataset.part));
    }

    fill(index) {
      const { part, begin, count, filled } = this.parts[index];
      if (filled) return;
      this.parts[index].filled = true;
      part.style.height = "";
      let state = this.stateBefore(begin);
      for (let offset = begin; offset < begin + count; offset++) {
        const text = element("span", { class: "t" });
        state = depyf.lexer.line(this.lines[offset], this.language, state, (kind, token) => {
          if (!token) return;
          text.append(kind ? element("span", { class: kind }, token) : token);
        });
        const number = this.first + offset;
        const row = element("div", { class: "ln", "data-n": number, role: "listitem" }, element("span", { class: "g" }, String(number)));
        const run = this.options.run && this.options.run(number);
        if (run) {
          row.classList.add("is-" + run.name);
          row.firstChild.title = run.words;
        }
        if (this.options.marks) row.append(element("span", { class: "m" }, this.options.marks(number)));
        row.append(text);
        const kind = this.marked.get(number);
        if (kind) row.classList.add(kind);
        const fold = this.folds.get(number);
        if (fold && fold.first === number) part.append(fold.button);
        if (fold && !fold.isOpen) row.classList.add("folded");
        part.append(row);
        const after = this.options.after && this.options.after(number);
        if (after) part.append(after);
      }
    }

    stateBefore(line) {
      if (this.language !== "python" || line === 0) return "";
      if (!this.states) {
        this.states = [];
        let state = "";
        this.lines.forEach((text, index) => {
          if (index % PART === 0) this.states.push(state);
          state = depyf.lexer.line(text, "python", state, () => {});
        });
      }
      return this.states[line / PART] || "";
    }

    row(number) {
      const index = Math.floor((number - this.first) / PART);
      const found = this.parts[index];
      if (!found || !found.filled) return null;
      return found.part.querySelector(`.ln[data-n="${number}"]`);
    }

    // Marks lines: `numbers` is a map from line to class. Earlier marks are removed.
    mark(numbers) {
      for (const [number, kind] of this.marked) {
        if (numbers.get(number) !== kind) this.row(number)?.classList.remove(kind);
      }
      for (const [number, kind] of numbers) {
        if (this.marked.get(number) !== kind) this.row(number)?.classList.add(kind);
      }
      this.marked = numbers;
      for (const fold of new Set(this.folds.values())) fold.button.classList.remove("kin");
      for (const number of numbers.keys()) this.folds.get(number)?.button.classList.add("kin");
    }

    show(number) {
      const index = Math.floor((number - this.first) / PART);
      if (!this.parts[index]) return;
      this.fill(index);
      const fold = this.folds.get(number);
      if (fold && !fold.isOpen) this.toggle(fold);
      this.row(number)?.scrollIntoView({ block: "center", inline: "nearest" });
    }

    fillAll() {
      this.parts.forEach((_, index) => this.fill(index));
    }
  }

  return { Code };
})();
