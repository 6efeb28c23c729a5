// `node:os`: only the parts about folders and the platform, nothing that identifies the machine.
"use strict";
const { arch, env, platform } = require("node:process");
module.exports = {
  EOL: "\n",
  homedir: () => env.HOME ?? "/",
  tmpdir: () => env.TMPDIR ?? "/tmp",
  platform: () => platform,
  arch: () => arch,
  release: () => "",
  hostname: () => "localhost",
  cpus: () => [],
  totalmem: () => 0,
  freemem: () => 0,
  userInfo: () => ({ username: env.USER ?? "", homedir: env.HOME ?? "/", shell: null, uid: -1, gid: -1 }),
};
