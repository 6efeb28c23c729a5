#!/usr/bin/env node
// The code of this skill: a workflow, which a person or another skill runs by its name.

import { Skill } from "./metier.ts";

const skill = new Skill();

skill.workflow(
  { name: "checklist", description: "Writes checklist.md with a box for each step." },
  async (host, input: { arguments?: string[] }) => {
    // From the command line: {"arguments": ["First step", "Second step"], "text": "First step Second step"}
    const steps = input.arguments ?? [];
    if (steps.length === 0) {
      throw new Error('name at least one step: metier run {{name}} "First step" "Second step"');
    }
    await host.writeFile("checklist.md", steps.map((step) => `- [ ] ${step}\n`).join(""));
    return `wrote ${steps.length} steps to checklist.md`;
  },
);

await skill.serve();
