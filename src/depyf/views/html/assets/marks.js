// The margin of the user's source: the graphs of a line, graph breaks with reasons, and where resume functions start.
depyf.marks = (() => {
  const { element } = depyf;
  // Widths in pixels: of the margin, of a badge without its text, and of a letter.
  const ROOM = 82, FRAME = 11, LETTER = 6.7;

  function of(page, file, line) {
    const place = page.placeOf.get(file + ":" + line);
    if (place === undefined) return [];
    const made = [], others = [];
    for (const entry of page.data.entries) {
      for (const [graph, places] of Object.entries(entry.graphs)) {
        if (places.includes(place)) (entry === page.entry ? made : others).push(badge(entry === page.entry ? "own" : "", graph, `graph ${graph}, compile ${entry.id}`));
      }
    }
    const names = page.entry.docs.flatMap((doc) => page.kernelsAt(doc, doc.kernels.length ? page.kinIn(doc, [place]) : new Set()));
    if (names.length) made.push(badge("krn", "k" + names.length, names.join(", ")));
    const breaks = page.data.entries.flatMap((entry) => entry.breaks);
    if (breaks.some((each) => each.at.includes(place))) made.push(badge("brk", "//", "a graph ends here"));
    else if (breaks.some((each) => each.from.includes(place))) made.push(badge("brk", "//", "a graph ends in a function that is called here"));
    if (page.data.rests.some((each) => each.at.includes(place))) made.push(badge("left", "–", "the rest runs uncompiled"));
    const resumed = page.data.entries.filter((entry) => entry.resumes.includes(place));
    if (resumed.length) made.push(badge("res", "▸", "continues here: " + resumed.map((entry) => entry.id).join(", ")));
    return [...fitting(others, made), ...made];
  }

  // Shows as many of the others as fit, and the number of the rest.
  function fitting(others, made) {
    for (let count = others.length; count > 0; count--) {
      const left = others.length - count, shown = others.slice(0, count);
      if (left) shown.push(more(left));
      if (width([...shown, ...made]) <= ROOM) return shown;
    }
    return others.length ? [more(others.length)] : [];
  }

  function more(count) {
    return badge("", "+" + count, "graphs of other entries");
  }

  function width(badges) {
    return badges.reduce((sum, each) => sum + FRAME + LETTER * each.textContent.length, 0);
  }

  function badge(kind, text, title) {
    return element("span", { class: "mark " + kind, title }, text);
  }

  function note(page, file, line) {
    const place = page.placeOf.get(file + ":" + line);
    if (place === undefined) return null;
    const told = [];
    for (const each of page.entry.breaks) {
      const why = each.reason + (each.code ? ` (${each.code})` : "");
      if (each.at.includes(place)) told.push(`the graph ends: ${why}`);
      else if (each.from.includes(place)) told.push(`the graph ends in this call, at ${each.at.map((at) => page.data.origins[at].join(":")).join(", ")}: ${why}`);
    }
    const rests = page.data.rests.filter((each) => each.at.includes(place)).map((each) => `the rest runs uncompiled: ${each.reason}`);
    if (!told.length && !rests.length) return null;
    const lines = (texts) => texts.map((each) => element("div", {}, each));
    return element("div", {}, told.length ? element("div", { class: "breaknote" }, lines(told)) : null, rests.length ? element("div", { class: "breaknote rest" }, lines(rests)) : null);
  }

  return { of, note };
})();
