// The page that compares two texts: any two stages, of one entry or of two.
depyf.diffPage = (() => {
  const { element } = depyf;
  const AROUND = 3, FOLDED_FROM = 9, MOST_WORDS = 1500;
  const host = document.getElementById("diff");

  async function show(...parts) {
    const sides = [parts.slice(0, 3), parts.slice(3, 6)];
    const functions = depyf.processes.flatMap((process) => process.functions.map((one) => ({ ...one, label: (depyf.processes.length > 1 ? process.label + " · " : "") + one.name })));
    if (!functions.length) return host.replaceChildren(element("p", { class: "notice" }, "Nothing was compiled."));
    const chosen = [];
    for (const [index, side] of sides.entries()) chosen.push(await choice(functions, side, index, chosen[0]));
    const go = () => depyf.route.go("diff/" + chosen.map((each) => each.address()).join("/"));
    for (const each of chosen) each.changed = go;
    const [left, right] = await Promise.all(chosen.map((each) => each.text()));
    const steps = depyf.differ.diff(left.map(plain), right.map(plain));
    const gone = steps.filter(([kind]) => kind === "-").length, come = steps.filter(([kind]) => kind === "+").length;
    const told = gone + come ? `${gone} line${gone === 1 ? "" : "s"} only on the left, ${come} only on the right` : "no line differs";
    host.replaceChildren(element("h1", {}, "Diff"),
      element("div", { class: "sides" }, chosen.map((each) => each.root)), element("p", { class: "lead" }, told), table(left, right, steps));
  }

  // Ignores numbers of the process that name the same object in every entry, and the line with the text's owner.
  function plain(line, index) {
    if (index < 2 && /^# .* of __compiled_fn_\d+ in /.test(line)) return "";
    return line.replace(/(__compiled_fn|__builtins_dict__|\[Provenance debug handles\] \S+?:|__resume_at_\d+)_?\d+/g, "$1").replace(/\[c\d+_key\]/g, "[c_key]");
  }

  async function choice(functions, [page, entryKey, docKey], index, other) {
    const one = functions.find((each) => each.page === page) || (other ? other.one : functions[0]);
    const data = await depyf.load(one.page);
    const entry = data.entries.find((each) => each.key === entryKey) || data.entries[Math.min(index, data.entries.length - 1)];
    const doc = entry.docs.find((each) => each.key === docKey) || (other && entry.docs.find((each) => each.key === other.doc.key)) || entry.docs[0];
    const made = { one, doc, changed: () => {} };
    const select = (label, options, value) => {
      const box = element("select", { "aria-label": label, onchange: () => made.changed() }, options.map(([key, text]) => element("option", { value: key, selected: key === value }, text)));
      return box;
    };
    const boxes = [select("function", functions.map((each) => [each.page, each.label]), one.page),
      select("entry", data.entries.map((each) => [each.key, `${each.id} ${each.kind === "Resume" ? "resumes" : each.kind === "Recompile" ? "recompile" : "first call"}`]), entry.key),
      select("text", entry.docs.map((each) => [each.key, each.label]), doc.key)];
    made.root = element("div", { class: "side" }, boxes);
    made.address = () => boxes.map((box) => box.value).join("/");
    made.text = async () => (await depyf.textOf(doc)).replace(/\n$/, "").split("\n");
    return made;
  }

  function table(left, right, steps) {
    const body = element("div", { class: "difference" });
    const rows = paired(steps);
    for (let begin = 0; begin < rows.length; ) {
      let end = begin;
      while (end < rows.length && rows[end].same) end++;
      if (end - begin >= FOLDED_FROM) {
        const hidden = rows.slice(begin + AROUND, end - AROUND);
        rows.slice(begin, begin + AROUND).forEach((row) => body.append(line(left, right, row)));
        const fold = element("button", { type: "button", class: "fold", onclick: () => fold.replaceWith(...hidden.map((row) => line(left, right, row))) }, `${hidden.length} equal lines`);
        body.append(fold);
        rows.slice(end - AROUND, end).forEach((row) => body.append(line(left, right, row)));
      } else rows.slice(begin, end).forEach((row) => body.append(line(left, right, row)));
      for (begin = end; begin < rows.length && !rows[begin].same; begin++) body.append(line(left, right, rows[begin]));
    }
    return body;
  }

  // Puts replaced lines beside their replacements.
  function paired(steps) {
    const rows = [];
    for (let begin = 0; begin < steps.length; ) {
      if (steps[begin][0] === "=") {
        rows.push({ same: true, one: steps[begin][1], other: steps[begin][2] });
        begin++;
        continue;
      }
      const gone = [], come = [];
      for (; begin < steps.length && steps[begin][0] !== "="; begin++) (steps[begin][0] === "-" ? gone : come).push(steps[begin]);
      for (let index = 0; index < Math.max(gone.length, come.length); index++) {
        rows.push({ same: false, one: gone[index] ? gone[index][1] : null, other: come[index] ? come[index][2] : null });
      }
    }
    return rows;
  }

  function line(left, right, row) {
    const one = row.one === null ? null : left[row.one], other = row.other === null ? null : right[row.other];
    const changed = !row.same && one !== null && other !== null ? pieces(one, other) : null;
    return element("div", { class: row.same ? "both" : "apart" },
      cell(row.one, one, row.same ? "" : "gone", "−", changed && changed[0]), cell(row.other, other, row.same ? "" : "come", "+", changed && changed[1]));
  }

  function cell(number, text, kind, sign, changed) {
    if (text === null) return element("div", { class: "cell none" });
    const parts = changed ? changed.map(([piece, same]) => (same ? piece : element("mark", {}, piece))) : [text];
    return element("div", { class: "cell " + kind }, element("span", { class: "g" }, String(number + 1)), element("span", { class: "v" }, kind ? sign : ""), element("span", { class: "t" }, parts));
  }

  // Both lines in pieces, each with whether the other line has it: by words, or between a common start and end.
  function pieces(one, other) {
    const words = [one, other].map((text) => text.match(/\w+|\s+|[^\w\s]/g) || []);
    if (Math.max(words[0].length, words[1].length) > MOST_WORDS) return ends(one, other);
    const made = [[], []];
    for (const [kind, left, right] of depyf.differ.diff(words[0], words[1])) {
      if (kind !== "+") made[0].push([words[0][left], kind === "="]);
      if (kind !== "-") made[1].push([words[1][right], kind === "="]);
    }
    return made;
  }

  function ends(one, other) {
    let begin = 0, end = 0;
    const least = Math.min(one.length, other.length);
    while (begin < least && one[begin] === other[begin]) begin++;
    while (end < least - begin && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
    return [one, other].map((text) => [[text.slice(0, begin), true], [text.slice(begin, text.length - end), false], [text.slice(text.length - end), true]]);
  }

  return { show };
})();
