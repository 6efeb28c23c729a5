// Makes the page live: keys, search as you type, forms that stay in place, events. Everything works without it.
import { connect, load, replaceParts } from "./live.js";
import { converse } from "./chat.js";

/** Times as "3 min ago"; the exact one stays in the title. */
export function tellTimes(root) {
  for (const time of root.querySelectorAll("time[data-ago]")) {
    const seconds = (Date.now() - Date.parse(time.dateTime)) / 1000;
    if (!Number.isFinite(seconds) || seconds < 0) continue;
    const units = [[60, 1, "s"], [3600, 60, "min"], [86400, 3600, "h"], [2592000, 86400, "d"]];
    const unit = units.find(([limit]) => seconds < limit);
    if (unit) time.textContent = `${Math.floor(seconds / unit[1])} ${unit[2]} ago`;
  }
}

/** A button that copies what is typed. */
export function addCopyButtons(root) {
  if (!navigator.clipboard) return;
  for (const code of root.querySelectorAll("[data-copy]:not([data-has-copy])")) {
    code.dataset.hasCopy = "";
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "copy";
    button.setAttribute("aria-label", `Copy ${code.textContent}`);
    button.addEventListener("click", async () => {
      await navigator.clipboard.writeText(code.textContent);
      button.textContent = "copied";
      setTimeout(() => { button.textContent = "copy"; }, 1500);
    });
    code.after(button);
  }
}

export function enhance(root) {
  tellTimes(root);
  addCopyButtons(root);
}

const isTyping = (target) => target.closest?.("input, textarea, select, [contenteditable]") !== null;

let afterG = false;
document.addEventListener("keydown", (event) => {
  if (event.ctrlKey || event.metaKey || event.altKey) return;
  if (event.key === "Escape" && isTyping(event.target)) { event.target.blur(); return; }
  if (isTyping(event.target)) return;
  if (afterG) {
    afterG = false;
    const to = [...document.querySelectorAll("a[data-key]")].find((link) => link.dataset.key === event.key);
    if (to) { event.preventDefault(); location.assign(to.href); }
    return;
  }
  if (event.key === "g") { afterG = true; setTimeout(() => { afterG = false; }, 1500); }
  if (event.key === "/") {
    const field = document.querySelector("[data-search]");
    event.preventDefault();
    if (field) { field.focus(); field.select?.(); } else { location.assign("/skills#search"); }
  }
});
if (location.hash === "#search") document.querySelector("[data-search]")?.focus();

// The list follows what is typed. Only the newest answer counts.
let asked = 0;
for (const form of document.querySelectorAll("form[data-live-form]")) {
  let timer = 0;
  const follow = async () => {
    const fields = [...new FormData(form)].filter(([, value]) => value !== "");
    const address = `${form.getAttribute("action")}?${new URLSearchParams(fields)}`;
    const number = ++asked;
    const page = await load(address);
    if (page && number === asked) {
      history.replaceState(null, "", address);
      replaceParts(page, "results");
    }
  };
  form.addEventListener("input", () => { clearTimeout(timer); timer = setTimeout(follow, 120); });
}

// Forms that show their answer where they are; others are sent as without script.
document.addEventListener("submit", async (event) => {
  const form = event.target;
  const mode = form.dataset.mode;
  if (!mode) {
    if (form.getAttribute("aria-busy") === "true") event.preventDefault();
    if (form.method === "post") form.setAttribute("aria-busy", "true");
    return;
  }
  event.preventDefault();
  if (form.getAttribute("aria-busy") === "true") return;
  form.setAttribute("aria-busy", "true");
  const fields = new URLSearchParams(new FormData(form));
  if (mode === "inline") fields.append("approvals", "ask");
  const page = await load(form.action, fields);
  form.removeAttribute("aria-busy");
  const answer = page?.getElementById("answer");
  form.parentElement.querySelector(":scope > .inline-answer")?.remove();
  if (mode === "quiet" && !answer) { form.reset(); return; }
  const place = document.createElement("div");
  place.className = "inline-answer";
  place.setAttribute("role", "status");
  if (answer) place.append(...document.importNode(answer, true).childNodes);
  else place.textContent = "The daemon did not answer. Try again.";
  form.after(place);
  enhance(place);
});

window.addEventListener("pageshow", () => {
  for (const form of document.querySelectorAll("form[aria-busy]")) form.removeAttribute("aria-busy");
});

document.querySelector(".menu [aria-current]")?.scrollIntoView({ block: "nearest", inline: "center" });
enhance(document);
const conversation = document.querySelector("[data-session]");
if (conversation) converse(conversation);
connect(enhance);
