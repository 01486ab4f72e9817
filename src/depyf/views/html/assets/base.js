"use strict";
// Shared by all scripts: creating elements, and loading data on demand.
// The user's text becomes a text node, never markup: no code here writes HTML.
const depyf = (() => {
  const chunks = new Map();
  const waiting = new Map();

  function element(tag, attributes, ...children) {
    const made = document.createElement(tag);
    for (const [name, value] of Object.entries(attributes || {})) {
      if (value === null || value === undefined || value === false) continue;
      if (name.startsWith("on")) made.addEventListener(name.slice(2), value);
      else if (name === "class") made.className = value;
      else made.setAttribute(name, value === true ? "" : value);
    }
    for (const child of children.flat()) {
      if (child !== null && child !== undefined) made.append(child);
    }
    return made;
  }

  // Returns text with the parts between backticks as code.
  function coded(text) {
    const parts = text.split("`"), last = parts.length - 1;
    return parts.map((part, index) => index % 2 === 0 ? part : index < last ? element("code", { class: "inline" }, part) : "`" + part);
  }

  function put(name, content) {
    chunks.set(name, content);
    const callbacks = waiting.get(name) || [];
    waiting.delete(name);
    for (const { resolve } of callbacks) resolve(content);
  }

  // Stores compressed data; the browser decompresses it.
  async function unpack(name, packed) {
    const bytes = Uint8Array.from(atob(packed), (each) => each.charCodeAt(0));
    const stream = new Blob([bytes]).stream().pipeThrough(new DecompressionStream("deflate"));
    put(name, JSON.parse(await new Response(stream).text()));
  }

  function load(name) {
    if (chunks.has(name)) return Promise.resolve(chunks.get(name));
    const inline = document.getElementById("chunk-" + name);
    if (inline) {
      put(name, JSON.parse(inline.textContent));
      return Promise.resolve(chunks.get(name));
    }
    return new Promise((resolve, reject) => {
      const callbacks = waiting.get(name);
      if (callbacks) {
        callbacks.push({ resolve, reject });
        return;
      }
      waiting.set(name, [{ resolve, reject }]);
      const script = element("script", { src: "data/" + encodeURIComponent(name) + ".js" });
      script.addEventListener("error", () => {
        waiting.delete(name);
        reject(new Error("data/" + name + ".js does not exist"));
      });
      document.head.append(script);
    });
  }

  // Returns the text of a document. A long one is a chunk, without the title at its head.
  async function textOf(doc) {
    return doc.text !== undefined ? doc.text : doc.head + (await load(doc.chunk)).text;
  }

  // Drops data that can be loaded again.
  function forget(name) {
    chunks.delete(name);
  }

  const processes = JSON.parse(document.getElementById("directory").textContent);
  return { element, coded, put, unpack, load, textOf, forget, processes, signs: { compiled: "✓", recompiled: "↻", broke: "//", skipped: "–", failed: "✕" } };
})();
window.depyf = depyf;
