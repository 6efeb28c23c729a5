// `node:events`: an emitter.
"use strict";
class EventEmitter {
  #listeners = new Map();
  on(name, code) { this.#listeners.set(name, [...this.listeners(name), code]); return this; }
  addListener(name, code) { return this.on(name, code); }
  prependListener(name, code) { this.#listeners.set(name, [code, ...this.listeners(name)]); return this; }
  once(name, code) {
    const wrapped = (...given) => { this.off(name, wrapped); code.apply(this, given); };
    wrapped.listener = code;
    return this.on(name, wrapped);
  }
  off(name, code) {
    this.#listeners.set(name, this.listeners(name).filter((each) => each !== code && each.listener !== code));
    return this;
  }
  removeListener(name, code) { return this.off(name, code); }
  removeAllListeners(name) { if (name === undefined) this.#listeners.clear(); else this.#listeners.delete(name); return this; }
  emit(name, ...given) {
    const listeners = this.listeners(name);
    if (name === "error" && listeners.length === 0) throw given[0] instanceof Error ? given[0] : new Error(`Unhandled error: ${given[0]}`);
    for (const code of listeners) code.apply(this, given);
    return listeners.length > 0;
  }
  listeners(name) { return this.#listeners.get(name) ?? []; }
  listenerCount(name) { return this.listeners(name).length; }
  eventNames() { return [...this.#listeners.keys()].filter((name) => this.listenerCount(name) > 0); }
  setMaxListeners() { return this; }
}
const once = (emitter, name) => new Promise((resolve, reject) => {
  emitter.once(name, (...given) => resolve(given));
  if (name !== "error") emitter.once("error", reject);
});
module.exports = EventEmitter;
Object.assign(module.exports, { EventEmitter, once });
