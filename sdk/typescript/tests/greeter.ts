// The skill of `sdk/metier-sdk/examples/greeter.rs`, in TypeScript.
import { HostError, Skill, cancel } from "../metier.ts";
import type { Json } from "../metier.ts";

const skill = new Skill();

const greet = {
  name: "greet",
  description: "Greets someone",
  input_schema: {
    type: "object",
    properties: { who: { type: "string", description: "Whom to greet" } },
    required: ["who"],
  },
};
skill.tool(greet, async (host, { who }: { who: string }) => `${await host.readFile("greeting.txt")}, ${who}`);

const repeat = {
  name: "repeat",
  description: "Says it again",
  input_schema: {
    type: "object",
    properties: {
      text: { type: "string", description: "What to say" },
      times: { type: "integer", description: "How often", default: 1 },
    },
    required: ["text"],
  },
};
skill.tool(repeat, (_, { text, times = 1 }: { text: string; times?: number }) => {
  console.log("this is no frame");
  return Array(times).fill(text);
});

skill.tool({ name: "peek", description: "Looks where it may not" }, async (host) => {
  try {
    return await host.readFile("secret.txt");
  } catch (error) {
    if (error instanceof HostError && error.refused) return `refused: ${error.message}`;
    throw error;
  }
});

skill.tool({ name: "tour", description: "Asks for everything" }, async (host) => {
  await host.writeFile("note.txt", "Hello");
  const found = await host.glob("*.txt");
  const lines = await host.grep("Hel+o", "src");
  const ended = await host.exec("make greeting");
  const page = await host.fetch("https://greetings.example/");
  const language = await host.env("LANG");
  await host.setEnv("LANG", "en");
  const branch = await host.git("branch", "--show-current");
  const said = await host.llm("Say hello");
  const other = await host.invokeSkill("waver", "wave", { hands: 2 });
  host.log("debug", "the tour is over");
  return [found, lines[0]?.line, ended.exit, page.status, language, branch.stdout, said, other.output];
});

skill.tool({ name: "fail", description: "Fails" }, () => Promise.reject(new Error("it broke")));

skill.tool({ name: "crash", description: "Crashes" }, () => {
  throw new Error("it fell");
});

skill.hook("activate", (host) => host.log("info", "the greeter is here"));

skill.hook("before_tool_call", (_, event: { input: Json }) => {
  if (event.input.who === "Mallory") return cancel("we don't greet Mallory");
  event.input.who = "Countess Ada";
  return event;
});

skill.hook("after_response", () => Promise.reject(new Error("it broke")), { fail_closed: true });

skill.workflow({ name: "party", description: "Greets everyone" }, (_, input: { arguments: string[] }) => {
  return { guests: input.arguments.length };
});

skill.scanner("todo", (_, files) =>
  files.flatMap(({ path, content }) =>
    content.split("\n").flatMap((text, index) =>
      text.includes("TODO")
        ? [{ rule: "todo", severity: "info" as const, file: path, line: index + 1, message: "something is left to do" }]
        : []
    )
  ));

await skill.serve();
