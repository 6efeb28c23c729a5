#!/usr/bin/env node
// The code of this skill: it gets every answer before the user sees it.

import { Skill } from "./metier.ts";

const PLAIN: Record<string, string> = {
  "in order to": "to",
  "utilize": "use",
  "at this point in time": "now",
};

const skill = new Skill();

skill.hook("after_response", (_host, event) => {
  // Every second piece is code between backticks.
  const pieces: string[] = event.text.split("`");
  const plain = (piece: string) =>
    Object.entries(PLAIN).reduce((text, [long, short]) => text.replaceAll(long, short), piece);
  return { ...event, text: pieces.map((piece, number) => (number % 2 ? piece : plain(piece))).join("`") };
});

await skill.serve();
