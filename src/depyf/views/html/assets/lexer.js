// Colours for one line of code. `state` is what the previous line left open: a multi-line string or a comment.
depyf.lexer = (() => {
  const WORDS = {
    python: "False None True and as assert async await break class continue def del elif else except finally for from global if import in is lambda nonlocal not or pass raise return try while with yield match case",
    cpp: "auto bool break case char class const constexpr continue default do double else enum extern false float for if inline int int64_t namespace new nullptr operator return short signed sizeof static static_cast struct switch template this true typedef typename unsigned using void volatile while",
  };
  const SETS = {
    python: new Set(WORDS.python.split(" ")),
    cpp: new Set((WORDS.cpp + " " + WORDS.python).split(" ")),
    text: new Set(),
    json: new Set(["true", "false", "null"]),
    bytecode: new Set(),
  };
  const TOKEN = /([rRbBuUfFtT]{0,2}(?:"""|'''))|([rRbBuUfF]{0,2}"(?:[^"\\\n]|\\.)*"|[rRbBuUfF]{0,2}'(?:[^'\\\n]|\\.)*')|(#.*$)|(\/\/.*$)|(\b\d[\w.]*)|([A-Za-z_]\w*)/g;

  function line(text, language, state, emit) {
    if (language === "text") {
      emit("", text);
      return state;
    }
    if (language === "bytecode") return listing(text, emit);
    const words = SETS[language] || SETS.text;
    let at = 0, before = "";
    if (state && language === "python") {
      const end = text.indexOf(state);
      if (end < 0) {
        emit("s", text);
        return state;
      }
      at = end + 3;
      emit("s", text.slice(0, at));
      state = "";
    }
    TOKEN.lastIndex = at;
    for (let found; (found = TOKEN.exec(text)); ) {
      const [all, triple, string, hash, slashes, number, word] = found;
      if (slashes && language !== "cpp") {
        TOKEN.lastIndex = found.index + 2;
        continue;
      }
      if (hash && language === "cpp" && /^#\s*(include|pragma|define)/.test(all)) {
        emit("", text.slice(at, found.index));
        emit("c", all);
        return state;
      }
      if (found.index > at) emit("", text.slice(at, found.index));
      at = found.index + all.length;
      if (triple) {
        if (language === "cpp") emit("", all);
        else {
          const quotes = all.slice(-3), end = text.indexOf(quotes, at);
          if (end < 0) {
            emit("s", text.slice(found.index));
            return quotes;
          }
          emit("s", text.slice(found.index, end + 3));
          at = TOKEN.lastIndex = end + 3;
        }
      } else if (string) emit("s", all);
      else if (hash || slashes) emit("c", all);
      else if (number) emit("l", all);
      else if (words.has(word)) emit("k", all);
      else emit(before === "def" || before === "class" ? "d" : "", all);
      before = word || "";
    }
    if (at < text.length) emit("", text.slice(at));
    return state;
  }

  function listing(text, emit) {
    const found = /^(\s*(?:\d+|None|--)?\s+(?:-->|>>|L\d+:)?\s*\d*\s*)([A-Z][A-Z0-9_]+)(.*)$/.exec(text);
    if (!found) emit(/^\S/.test(text) ? "d" : "", text);
    else {
      emit("c", found[1]);
      emit("k", found[2]);
      const argument = /^(.*?)(\(.*\))?$/.exec(found[3]);
      emit("l", argument[1] || "");
      if (argument[2]) emit("", argument[2]);
    }
    return "";
  }

  return { line };
})();
