// Chooses the page by the part of the address after `#`, so that each page and line has a link.
depyf.route = (() => {
  const which = document.getElementById("which"), unknown = document.getElementById("unknown");
  let process = depyf.processes[0].key;
  let settled = Promise.resolve();

  function replace(address) {
    history.replaceState(null, "", "#" + address);
  }

  // Pages are shown one after another: each waits for texts to load, and two at once would mix two addresses.
  function show() {
    settled = settled.then(showNow);
    return settled;
  }

  function go(address) {
    history.pushState(null, "", "#" + address);
    return show();
  }

  function decoded(address) {
    try { return decodeURIComponent(address); } catch { return address; /* a stray % */ }
  }

  async function showNow() {
    const address = decoded(location.hash.slice(1) || document.documentElement.dataset.home || "");
    const parts = address.split("/");
    const owner = depyf.processes.find((each) => each.functions.some((one) => one.page === parts[0]));
    // `p1/overview` is a page of another process than the shown one.
    if (depyf.processes.some((each) => each.key === parts[0])) process = parts.shift();
    const page = owner ? "function" : parts[0] || "overview";
    if (owner) process = owner.key;
    if (which) which.value = process;
    const pages = [...document.querySelectorAll(".page")];
    const known = pages.some((each) => each.dataset.page === page);
    for (const each of pages) {
      each.hidden = each.dataset.page !== (known ? page : "overview") || (each.dataset.process !== undefined && each.dataset.process !== process);
    }
    for (const link of document.querySelectorAll(".pages a")) {
      if (link.hash === "#" + page) link.setAttribute("aria-current", "page");
      else link.removeAttribute("aria-current");
    }
    let missing = known || owner ? "" : "page";
    if (page === "diff") await depyf.diffPage.show(...parts.slice(1));
    if (owner) {
      missing = await depyf.functionPage.show(...parts);
      document.title = "depyf: " + owner.functions.find((one) => one.page === parts[0]).name;
    } else document.title = "depyf: " + (known ? page : "overview");
    unknown.hidden = !missing;
    unknown.textContent = missing ? `The address names a ${missing} that is not in this report: #${address}. ` + (owner ? "This page shows the nearest part that there is." : "This is the overview.") : "";
    document.documentElement.dataset.shown = location.hash || "#" + (document.documentElement.dataset.home || "overview");
  }

  function theme(next) {
    document.documentElement.dataset.theme = next;
    try { localStorage.setItem("depyf-theme", next); } catch { /* a browser may store nothing for files */ }
  }

  let kept = null;
  try { kept = localStorage.getItem("depyf-theme"); } catch { /* as above */ }
  theme(kept || (matchMedia("(prefers-color-scheme: dark)").matches ? "dark" : "light"));
  document.getElementById("theme").addEventListener("click", () => theme(document.documentElement.dataset.theme === "dark" ? "light" : "dark"));
  if (which) which.addEventListener("change", () => { process = which.value; go("overview"); });
  addEventListener("hashchange", show);
  return { show, go, replace, settled: () => settled };
})();
depyf.route.show();
