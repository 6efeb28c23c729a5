// Timers. Rust waits until the next one is due, and fires it.
"use strict";
const native = require("metier:native");
const MAX_TIMERS = 10_000;
const waiting = new Map();
let last = 0;

/** The result of `setTimeout`: usable as a number, and as an object with `unref`. */
class Timer {
  constructor(id) { this.id = id; }
  ref() { return this; }
  unref() { return this; }
  hasRef() { return true; }
  refresh() { const timer = waiting.get(this.id); if (timer) timer.due = native.now() + timer.delay; return this; }
  close() { waiting.delete(this.id); }
  [Symbol.toPrimitive]() { return this.id; }
}

function start(code, delay, given, repeat) {
  if (typeof code !== "function") throw new TypeError("a timer requires a function");
  if (waiting.size >= MAX_TIMERS) throw new RangeError(`there are more than ${MAX_TIMERS} timers`);
  const wait = Math.min(Math.max(Number(delay) || 0, repeat ? 1 : 0), 2 ** 31 - 1), id = ++last;
  waiting.set(id, { id, code, given, delay: wait, due: native.now() + wait, repeat });
  return new Timer(id);
}
const stop = (timer) => void waiting.delete(timer instanceof Timer ? timer.id : Number(timer));

function first() {
  let next;
  for (const timer of waiting.values()) if (!next || timer.due < next.due) next = timer;
  return next;
}

// One at a time: jobs run between two of them.
native.timers = {
  next: () => { const timer = first(); return timer ? Math.max(timer.due - native.now(), 0) : null; },
  fire: () => {
    const timer = first();
    if (!timer || timer.due > native.now()) return;
    if (timer.repeat) timer.due = native.now() + timer.delay;
    else waiting.delete(timer.id);
    timer.code(...timer.given);
  },
  clear: () => { const left = waiting.size; waiting.clear(); return left; },
};

module.exports = {
  setTimeout: (code, delay, ...given) => start(code, delay, given, false),
  setInterval: (code, delay, ...given) => start(code, delay, given, true),
  setImmediate: (code, ...given) => start(code, 0, given, false),
  clearTimeout: stop, clearInterval: stop, clearImmediate: stop,
};
