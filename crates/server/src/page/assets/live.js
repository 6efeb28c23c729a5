// Loads pages and replaces their live parts when something happens.

/** A page as a document, or null. It is parsed by the browser without running anything in it. */
export function load(address, fields) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(fields ? "POST" : "GET", address);
    request.responseType = "document";
    request.onload = () => resolve(request.response);
    request.onerror = () => resolve(null);
    request.send(fields);
  });
}

/** Replaces the parts that both pages have, or one of them, and keeps the focus. What is being typed in stays. */
export function replaceParts(page, only) {
  const changed = [];
  for (const part of document.querySelectorAll("[data-live-part]")) {
    if (only && part.id !== only && part.id !== "pending" && part.id !== "waiting") continue;
    const fresh = page.getElementById(part.id);
    if (!fresh || fresh.outerHTML === part.dataset.shown) continue;
    const active = document.activeElement;
    if (part.contains(active) && active.matches("input, textarea, select")) continue;
    const focused = part.contains(active) ? position(part, active) : -1;
    const shown = fresh.outerHTML;
    const node = document.importNode(fresh, true);
    node.dataset.shown = shown;
    part.replaceWith(node);
    if (focused >= 0) node.querySelectorAll("a, button, summary")[focused]?.focus({ preventScroll: true });
    changed.push(node);
  }
  return changed;
}

const position = (part, element) => [...part.querySelectorAll("a, button, summary")].indexOf(element);

/** The card of a question, as the view Approvals shows it, to be answered in place; null if it was answered meanwhile. */
export async function cardOf(id) {
  const page = await load("/approvals");
  const card = page?.getElementById(`approval-${id}`);
  if (!card || document.getElementById(card.id)) return null;
  const node = document.importNode(card, true);
  for (const form of node.querySelectorAll("form")) {
    form.dataset.mode = "quiet";
    form.querySelector("[name=back]").value = location.pathname;
  }
  return node;
}

/** The question of a tool that is tried appears below its form: to leave the page would end the call. */
async function askInPlace(message) {
  const form = document.querySelector("form[data-mode=inline][aria-busy=true]");
  const card = form && (await cardOf(JSON.parse(message.data).approval.id));
  if (!card) return;
  form.after(card);
  card.scrollIntoView({ block: "nearest" });
}

/** Listens to the daemon. After a break the page is loaded again, for what was missed. */
export function connect(enhance) {
  const state = document.getElementById("connection");
  if (!state) return;
  const wanted = new Set(["approval_requested", "approval_answered", ...(document.querySelector("main")?.dataset.live ?? "").split(" ").filter(Boolean)]);
  let timer = 0;
  const again = () => {
    clearTimeout(timer);
    timer = setTimeout(async () => {
      const page = await load(location.href);
      if (page) for (const node of replaceParts(page)) enhance(node);
    }, 150);
  };
  let wasLost = false;
  const events = new EventSource(`/api/v1/events?kinds=${[...wanted].join(",")}`);
  for (const kind of [...wanted, "missed"]) events.addEventListener(kind, again);
  events.addEventListener("approval_requested", askInPlace);
  events.addEventListener("approval_answered", (message) => {
    const card = document.getElementById(`approval-${JSON.parse(message.data).id}`);
    if (card && !card.closest("[data-live-part], [data-session]")) card.remove();
  });
  events.onopen = () => {
    state.textContent = "live";
    state.classList.remove("lost");
    if (wasLost) { wasLost = false; again(); }
  };
  events.onerror = () => {
    wasLost = true;
    state.textContent = "not connected: the daemon does not answer";
    state.classList.add("lost");
    // A daemon that was started again does not know the cookie: the browser gives up, and we ask now and then.
    if (events.readyState === EventSource.CLOSED) setTimeout(() => { events.close(); connect(enhance); }, 2000);
  };
}
