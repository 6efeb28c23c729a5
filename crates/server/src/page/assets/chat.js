// A conversation: events of a session as they happen. Text is only ever text.
import { cardOf, load } from "./live.js";

function element(name, className, text) {
  const node = document.createElement(name);
  if (className) node.className = className;
  if (text !== undefined) node.textContent = text;
  return node;
}

function folded(title, content, isOpen) {
  const node = element("details", "event");
  node.open = isOpen === true;
  node.append(element("summary", "", title));
  if (content) {
    const block = element("pre", "", content);
    block.tabIndex = 0;
    node.append(block);
  }
  return node;
}

const written = (value) => (typeof value === "string" ? value : JSON.stringify(value, null, 2));

/** Shows a session in its element. */
export function converse(place) {
  const id = place.dataset.session;
  place.replaceChildren();
  let answer = null;
  const calls = new Map();
  const atEnd = () => window.innerHeight + window.scrollY > document.body.scrollHeight - 160;
  const add = (node, depth) => {
    const follow = atEnd();
    if (depth > 0) node.classList.add("deep");
    place.append(node);
    if (follow) window.scrollTo({ top: document.body.scrollHeight });
    return node;
  };
  const say = (kind, text, depth) => {
    if (!answer || !answer.classList.contains(kind)) answer = add(element("div", `said ${kind}`, ""), depth);
    answer.textContent += text;
  };
  const state = document.querySelector("#state .badge");
  const become = (word, tone) => {
    if (state) { state.textContent = word; state.className = `badge ${tone}`; }
  };
  const show = {
    message: (event) => { add(element("div", "said user", event.text), 0); become("▸ running", "good"); },
    text: (event) => say("agent", event.text, event.depth),
    thinking: (event) => say("thinking", event.text, event.depth),
    tool_call: (event) => calls.set(event.id, add(folded(`${event.tool} …`, written(event.input)), event.depth)),
    tool_result: (event) => {
      const call = calls.get(event.id) ?? add(folded(event.tool), event.depth);
      call.querySelector("summary").textContent = `${event.is_error ? "✗" : "✓"} ${event.tool} · ${event.ms} ms`;
      const block = element("pre", "", written(event.output));
      block.tabIndex = 0;
      call.append(block);
    },
    tool_refused: (event) => {
      const call = calls.get(event.id) ?? add(folded(event.tool), event.depth);
      call.querySelector("summary").textContent = `✗ ${event.tool} was refused`;
      call.append(element("p", "", event.reason));
    },
    skill_activated: (event) => add(element("div", "event", `skill ${event.skill} is active (${event.by}${event.why ? `: ${event.why}` : ""})`), event.depth),
    skill_unloaded: (event) => add(element("div", "event", `skill ${event.skill} is not active any more`), event.depth),
    subagent_started: (event) => add(element("div", "event", `a sub-agent starts: ${event.task}`), event.depth),
    subagent_rejected: (event) => add(element("div", "event", `a sub-agent was rejected: ${written(event.errors)}`), event.depth),
    retry: (event) => add(element("div", "event", `trying again in ${event.seconds} s (${event.attempt} of ${event.of}): ${event.reason}`), event.depth),
    note: (event) => add(element("div", "event", event.text), event.depth),
    compacted: (event) => add(element("div", "event", `the conversation was shortened from ${event.before} to ${event.after} tokens`), event.depth),
    turn_ended: (event) => {
      if (event.depth === 0) become("– idle", "faint");
      add(element("div", "event small", `${event.input_tokens} tokens in, ${event.output_tokens} out${event.cost ? ` · ${event.cost}` : ""}`), event.depth);
    },
    turn_failed: (event) => {
      become("✗ failed", "bad");
      const node = element("div", "notice bad");
      node.append(element("p", "", `✗ ${event.message}`));
      if (event.hint) node.append(element("p", "faint", event.hint));
      add(node, event.depth);
    },
  };
  const events = new EventSource(`/api/v1/sessions/${encodeURIComponent(id)}/events`);
  events.addEventListener("event", (message) => {
    const event = JSON.parse(message.data);
    if (event.type !== "text" && event.type !== "thinking") answer = null;
    show[event.type]?.(event);
  });
  // The card of a question is the one of the view Approvals.
  events.addEventListener("approval_requested", async (message) => {
    const card = await cardOf(JSON.parse(message.data).approval.id);
    if (!card) return;
    answer = null;
    add(card, 0);
  });
  events.addEventListener("approval_answered", (message) => {
    const { id: answered, answer: word } = JSON.parse(message.data);
    document.getElementById(`approval-${answered}`)?.replaceWith(element("div", "event", `you answered: ${word}`));
  });
  // A session that has ended has no more events; its stream would be opened again and again.
  let isOver = false;
  events.onerror = async () => {
    if (isOver) return;
    const page = await load(location.href);
    if (page && !page.querySelector(".ask form")) { isOver = true; events.close(); }
  };
}
