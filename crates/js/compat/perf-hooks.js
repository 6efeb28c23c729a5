// `node:perf_hooks`: a monotonic clock; marks are not kept.
"use strict";
const native = require("metier:native");
const performance = {
  timeOrigin: Date.now() - native.now(),
  now: () => native.now(),
  mark: () => undefined,
  measure: () => undefined,
  clearMarks: () => undefined,
  clearMeasures: () => undefined,
  toJSON: () => ({}),
};
module.exports = { performance };
