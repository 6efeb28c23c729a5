// `node:timers/promises`.
"use strict";
const timers = require("node:timers");
module.exports = {
  setTimeout: (delay, value) => new Promise((resolve) => timers.setTimeout(resolve, delay, value)),
  setImmediate: (value) => new Promise((resolve) => timers.setImmediate(resolve, value)),
};
