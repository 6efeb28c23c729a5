#!/usr/bin/env node
// The code of this skill: it adds a line to the prompt that depends on the project. What never changes is in prompt.md.

import { Skill } from "./metier.ts";

const skill = new Skill();

skill.hook("before_prompt_build", (host, event) => {
  const style = host.config?.style ?? "short";
  // What is there stays; a hook of this phase only adds.
  event.fragments.push(`Write release notes in the style: ${style}.`);
  return event;
});

await skill.serve();
