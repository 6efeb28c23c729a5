#!/usr/bin/env node
import { Skill } from "./metier.ts";

const skill = new Skill();
const who = { type: "string", description: "Whom to greet" };
const input_schema = { type: "object", properties: { who }, required: ["who"] };

skill.tool({ name: "greet", description: "Greets someone", input_schema }, async (host, input: { who: string }) => {
  const greeting = (await host.readFile("greeting.txt")).trim();
  const said = (await host.exec("echo Hello")).stdout.trim();
  await host.writeFile("note.txt", said);
  return `${greeting}, ${input.who}`;
});

skill.tool({ name: "peek", description: "Looks where it may not", input_schema: { type: "object" } }, (host) =>
  host.readFile("secret.txt"));

await skill.serve();
