#!/usr/bin/env node
// The code of this skill: what a pattern in SKILL.yaml can't express.

import { Skill, cancel } from "./metier.ts";

const skill = new Skill();

// A shell script that continues after an error: a pattern finds what is there, this finds what is missing.
skill.scanner("goes-on", (_host, files) =>
  files
    .filter((file) => file.path.endsWith(".sh") && !file.content.includes("set -e"))
    .map((file) => ({
      rule: "goes-on-after-errors",
      severity: "warning" as const,
      file: file.path,
      line: 1,
      message: "continues after an error; start with `set -eu`",
    })));

// The event is {tool, skill, input, session}; a call that is cancelled here never runs.
function stop(_host: unknown, event: { input: { command?: unknown } }) {
  const words = String(event.input.command ?? "").split(/\s+/);
  if (words.includes("chmod") && words.includes("777")) {
    return cancel("world-writable files are not allowed here");
  }
}

// fail_closed: if the function fails, the call is cancelled too.
skill.hook("before_tool_call", stop, { fail_closed: true });

await skill.serve();
