#!/usr/bin/env node
// The code of this skill. It runs in a sandbox and asks metier for everything: `host.readFile` works
// because SKILL.yaml requests `file:read` and the user approved it.

import { Skill } from "./metier.ts";

const skill = new Skill();

const path = { type: "string", description: "The file, from the project's folder" };
const input_schema = { type: "object", properties: { path }, required: ["path"], additionalProperties: false };

skill.tool(
  { name: "count", description: "Counts the lines and words of a text file.", input_schema },
  async (host, input: { path: string }) => {
    const text = await host.readFile(input.path);
    const lines = text.split("\n").length - (text.endsWith("\n") || text === "" ? 1 : 0);
    return { lines, words: text.split(/\s+/).filter(Boolean).length };
  },
);

await skill.serve();
