// `node:crypto`: random numbers and one digest. Keys and signatures are omitted: scripts should not handle them here.
"use strict";
const { Buffer } = require("node:buffer");
const { crypto } = require("metier:web");

/** The first 32 bits of the fractional parts of roots of primes, as the standard has them. */
function roots(count, power) {
  const found = [];
  for (let n = 2; found.length < count; n++) {
    let prime = true;
    for (let d = 2; d * d <= n && prime; d++) prime = n % d !== 0;
    if (prime) found.push(((n ** power % 1) * 2 ** 32) | 0);
  }
  return found;
}
const START = roots(8, 1 / 2), ROUND = roots(64, 1 / 3);

function sha256(data) {
  const length = data.length, padded = new Uint8Array(((length + 72) >> 6) << 6), words = new DataView(padded.buffer);
  padded.set(data);
  padded[length] = 128;
  words.setUint32(padded.length - 8, Math.floor(length / 2 ** 29));
  words.setUint32(padded.length - 4, (length << 3) >>> 0);
  const turn = (word, by) => (word >>> by) | (word << (32 - by)), state = START.slice(), w = new Int32Array(64);
  for (let block = 0; block < padded.length; block += 64) {
    for (let t = 0; t < 64; t++) {
      if (t < 16) { w[t] = words.getInt32(block + t * 4); continue; }
      const early = turn(w[t - 15], 7) ^ turn(w[t - 15], 18) ^ (w[t - 15] >>> 3), late = turn(w[t - 2], 17) ^ turn(w[t - 2], 19) ^ (w[t - 2] >>> 10);
      w[t] = w[t - 16] + early + w[t - 7] + late;
    }
    let [a, b, c, d, e, f, g, h] = state;
    for (let t = 0; t < 64; t++) {
      const one = (h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) + ((e & f) ^ (~e & g)) + ROUND[t] + w[t]) | 0;
      const two = ((turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c))) | 0;
      [h, g, f, e, d, c, b, a] = [g, f, e, (d + one) | 0, c, b, a, (one + two) | 0];
    }
    [a, b, c, d, e, f, g, h].forEach((word, at) => { state[at] = (state[at] + word) | 0; });
  }
  const digest = Buffer.alloc(32), out = new DataView(digest.buffer);
  state.forEach((word, at) => out.setInt32(at * 4, word));
  return digest;
}

class Hash {
  #parts = [];
  update(data, encoding) { this.#parts.push(typeof data === "string" ? Buffer.from(data, encoding) : Buffer.from(data)); return this; }
  digest(encoding) { const digest = sha256(Buffer.concat(this.#parts)); return encoding ? digest.toString(encoding) : digest; }
}
function createHash(name) {
  if (!/^sha-?256$/i.test(name)) throw new Error(`the digest '${name}' is not available; use sha256`);
  return new Hash();
}
const randomBytes = (size) => crypto.getRandomValues(Buffer.alloc(size));
const randomInt = (low, high) => (high === undefined ? randomInt(0, low) : low + Math.floor((randomBytes(4).reduce((sum, byte) => sum * 256 + byte, 0) / 2 ** 32) * (high - low)));
const timingSafeEqual = (a, b) => a.length === b.length && a.reduce((sum, byte, at) => sum | (byte ^ b[at]), 0) === 0;
module.exports = { createHash, randomBytes, randomInt, timingSafeEqual, randomUUID: crypto.randomUUID, getRandomValues: crypto.getRandomValues, webcrypto: crypto };
