#!/usr/bin/env node
// The code of this skill: it adds a line to the prompt that depends on the project. What never changes is in prompt.md.

import { Skill } from "./metier.ts";

const skill = new Skill();

skill.hook("before_prompt_build", (host, event) => {
  const style = host.config?.style ?? "short";
  // A hook of this phase can only add; it keeps the existing fragments.
  event.fragments.push(`Write release notes in the style: ${style}.`);
  return event;
});

await skill.serve();
