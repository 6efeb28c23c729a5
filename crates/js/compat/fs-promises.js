// `node:fs/promises`.
"use strict";
module.exports = require("node:fs").promises;
