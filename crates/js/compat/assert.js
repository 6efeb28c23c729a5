// `node:assert`, the strict kind.
"use strict";
const { inspect } = require("node:util");
class AssertionError extends Error {
  constructor(message) { super(message); this.name = "AssertionError"; this.code = "ERR_ASSERTION"; }
}
const fail = (message, otherwise) => { throw message instanceof Error ? message : new AssertionError(message ?? otherwise ?? "Failed"); };

/** Whether two values are deeply equal. */
function same(a, b) {
  if (Object.is(a, b)) return true;
  if (typeof a !== "object" || typeof b !== "object" || a === null || b === null) return false;
  if (Object.getPrototypeOf(a) !== Object.getPrototypeOf(b)) return false;
  if (a instanceof Date) return a.getTime() === b.getTime();
  if (a instanceof Map || a instanceof Set) return same([...a], [...b]);
  const keys = Object.keys(a);
  return keys.length === Object.keys(b).length && keys.every((key) => Object.hasOwn(b, key) && same(a[key], b[key]));
}

const ok = (value, message) => { if (!value) fail(message, `${inspect(value)} is not true`); };
const equal = (a, b, message) => { if (!Object.is(a, b)) fail(message, `${inspect(a)} is not ${inspect(b)}`); };
const notEqual = (a, b, message) => { if (Object.is(a, b)) fail(message, `both are ${inspect(a)}`); };
const deepEqual = (a, b, message) => { if (!same(a, b)) fail(message, `${inspect(a)} is not ${inspect(b)}`); };
const fits = (error, expected) =>
  expected === undefined || (expected instanceof RegExp ? expected.test(String(error)) : typeof expected === "function" ? error instanceof expected : true);
const throws = (code, expected) => {
  try { code(); } catch (error) { return fits(error, expected) ? undefined : fail(error); }
  fail("nothing was thrown");
};
const rejects = async (code, expected) => {
  try { await (typeof code === "function" ? code() : code); } catch (error) { return fits(error, expected) ? undefined : fail(error); }
  fail("nothing was rejected");
};
module.exports = Object.assign((value, message) => ok(value, message), {
  ok, equal, notEqual, deepEqual, strictEqual: equal, notStrictEqual: notEqual, deepStrictEqual: deepEqual, throws, rejects, fail, same, AssertionError,
});
module.exports.strict = module.exports;
