// `fetch` through the host. Bodies are text.
"use strict";
const native = require("metier:native");

class Headers {
  #values = new Map();
  constructor(init = {}) {
    const pairs = init instanceof Headers || Array.isArray(init) ? init : Object.entries(init);
    for (const [name, value] of pairs) this.append(name, value);
  }
  append(name, value) { const known = this.get(name); this.set(name, known === null ? value : `${known}, ${value}`); }
  set(name, value) { this.#values.set(`${name}`.toLowerCase(), `${value}`); }
  get(name) { return this.#values.get(`${name}`.toLowerCase()) ?? null; }
  has(name) { return this.#values.has(`${name}`.toLowerCase()); }
  delete(name) { this.#values.delete(`${name}`.toLowerCase()); }
  forEach(code) { for (const [name, value] of this.#values) code(value, name, this); }
  entries() { return this.#values.entries(); }
  keys() { return this.#values.keys(); }
  values() { return this.#values.values(); }
  [Symbol.iterator]() { return this.#values.entries(); }
}

class Response {
  #body;
  constructor(body = "", { status = 200, statusText = "", headers = {}, url = "" } = {}) {
    this.#body = body ?? "";
    Object.assign(this, { status, statusText, url, headers: new Headers(headers), ok: status >= 200 && status < 300, redirected: false });
  }
  async text() { return this.#body; }
  async json() { return JSON.parse(this.#body); }
  async arrayBuffer() { return native.encode(this.#body.toWellFormed()).buffer; }
  async bytes() { return native.encode(this.#body.toWellFormed()); }
  clone() { return new Response(this.#body, this); }
}

async function fetch(address, { method, headers, body, signal } = {}) {
  signal?.throwIfAborted();
  if (body !== undefined && body !== null && typeof body !== "string") {
    if (!(body instanceof URLSearchParams)) throw new TypeError("the body of a request must be text");
    headers = { "content-type": "application/x-www-form-urlencoded;charset=UTF-8", ...Object.fromEntries(new Headers(headers)) };
    body = body.toString();
  }
  const url = `${address?.url ?? address}`;
  const params = { url, method, headers: Object.fromEntries(new Headers(headers ?? {})), body: body ?? undefined };
  try {
    const answer = JSON.parse(native.ask("host/fetch", JSON.stringify(params)));
    return new Response(answer.body, { ...answer, url });
  } catch (error) {
    if (error.rpc === undefined) throw error;
    throw Object.assign(new TypeError(`fetch failed: ${error.message}`), { cause: error });
  }
}
module.exports = { fetch, Response, Headers };
