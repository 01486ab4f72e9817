// The margin of the user's source: which graph a line went into, where it broke and why, where it goes on.
depyf.marks = (() => {
  const { element } = depyf;
  const MOST = 3;

  function of(page, file, line) {
    const place = page.placeOf.get(file + ":" + line);
    if (place === undefined) return [];
    const made = [], others = [];
    for (const entry of page.data.entries) {
      for (const [graph, places] of Object.entries(entry.graphs)) {
        if (places.includes(place)) (entry === page.entry ? made : others).push(badge(entry === page.entry ? "own" : "", graph, `graph ${graph}, compile ${entry.id}`));
      }
    }
    const broke = page.data.entries.some((entry) => entry.breaks.some((each) => each.at.includes(place)));
    if (broke) made.push(badge("brk", "//", "a graph ends here"));
    const resumed = page.data.entries.filter((entry) => entry.resumes.includes(place));
    if (resumed.length) made.push(badge("res", "▸", "goes on here: " + resumed.map((entry) => entry.id).join(", ")));
    const room = Math.max(0, MOST - made.length);
    const shown = others.length <= room ? others : others.slice(0, Math.max(0, room - 1));
    if (shown.length < others.length) shown.push(badge("", "+" + (others.length - shown.length), "graphs of other entries"));
    return [...shown, ...made];
  }

  function badge(kind, text, title) {
    return element("span", { class: "mark " + kind, title }, text);
  }

  function note(page, file, line) {
    const place = page.placeOf.get(file + ":" + line);
    if (place === undefined) return null;
    const found = page.entry.breaks.filter((each) => each.at.includes(place));
    if (!found.length) return null;
    return element("div", { class: "breaknote" }, found.map((each) => element("div", {}, `the graph ends: ${each.reason}${each.code ? ` (${each.code})` : ""}`)));
  }

  return { of, note };
})();
