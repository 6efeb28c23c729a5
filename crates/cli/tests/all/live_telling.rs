//! The text that active skills give to a model and a wiki, in Starlark and as a program: prompts, answers, sections.

use metier_sdk::HookPhase;
use serde_json::json;

use crate::live_session::{Live, lines, python};

/// The same hooks twice; both add to prompts and sections and change answers.
fn tellers() -> [(&'static str, String); 2] {
    let starlark = "def prompt(event):\n    event[\"fragments\"].append(\"injected\")\n    return event\n\
         def answer(event):\n    event[\"text\"] = event[\"text\"].upper()\n    return event\n\
         def section(event):\n    event[\"context\"].append(\"about \" + event[\"title\"])\n    return event\n\
         register_hook(\"before_prompt_build\", prompt)\n\
         register_hook(\"after_response\", answer)\n\
         register_hook(\"before_wiki_section\", section)\n";
    let program = python(
        "@skill.hook('before_prompt_build')\ndef prompt(host, event):\n    event['fragments'].append('injected')\n    return event\n\
         @skill.hook('after_response')\ndef answer(host, event):\n    event['text'] = event['text'].upper()\n    return event\n\
         @skill.hook('before_wiki_section')\ndef section(host, event):\n    event['context'].append('about ' + event['title'])\n    return event",
    );
    [("main.star", starlark.to_owned()), ("main.py", program)]
}

const FRONT: &str = "types: [prompt, transform]\nprompt: {system_prompt_file: prompt.md, context_files: [more.md], max_context_tokens: 20}\n";

#[test]
fn a_prompt_has_what_skills_declare_within_their_limits_and_what_hooks_inject() {
    for (file, code) in tellers() {
        let live = Live::new();
        live.skill("teller", FRONT, &[], (file, &code));
        let context = &live.stage.context;
        context.write("skills/teller/prompt.md", "Speak plainly.\n");
        let long = "one two three four five six seven\n".repeat(50);
        context.write("skills/teller/more.md", long);
        live.session(&["teller"], |runtime| {
            assert_eq!(runtime.build_prompt("Base.\n").unwrap(), "Base.", "{file}");
            runtime.activate("teller").unwrap();
            let fragments = runtime.fragments().unwrap();
            assert_eq!(fragments.len(), 2, "{file}: {fragments:?}");
            assert_eq!(fragments[0].skill.as_deref(), Some("teller"), "{file}");
            assert!(
                fragments[0].cut && fragments[0].text.len() < 120,
                "{file}: {fragments:?}"
            );
            assert_eq!(
                (&fragments[1].skill, fragments[1].text.as_str()),
                (&None, "injected")
            );
            let prompt = runtime.build_prompt("Base.\n").unwrap();
            assert!(
                prompt.starts_with("Base.\n\n## teller\n\nSpeak plainly.\n")
                    && prompt.ends_with("\n[cut: token limit reached]\n\ninjected"),
                "{file}: {prompt}"
            );
            let receipts = lines(&runtime.collect().0);
            let added = "teller hook:before_prompt_build added context: ok";
            assert!(receipts.contains(&added.to_owned()), "{file}: {receipts:?}");
            runtime.deactivate("teller").unwrap();
            assert_eq!(runtime.build_prompt("Base.\n").unwrap(), "Base.", "{file}");
        });
    }
}

#[test]
fn only_transforms_change_an_answer() {
    for (file, code) in tellers() {
        let live = Live::new();
        live.skill("teller", FRONT, &[], (file, &code));
        live.skill("other", "types: [prompt]\n", &[], (file, &code));
        live.session(&["teller", "other"], |runtime| {
            runtime.activate("teller").unwrap();
            assert_eq!(runtime.after_response("hello", false).unwrap().text, "HELLO", "{file}");
            let refused = runtime.activate("other").unwrap_err().to_string();
            assert_eq!(
                refused,
                "it registers the hook `after_response`, but `transform` is not one of its types (prompt): add it in SKILL.yaml",
                "{file}"
            );
            assert_eq!(runtime.names(), ["teller"], "{file}");
            runtime.deactivate("teller").unwrap();
            assert_eq!(runtime.after_response("hello", false).unwrap().text, "hello", "{file}");
        });
    }
}

#[test]
fn a_section_of_a_wiki_gets_context_and_keeps_the_rest() {
    for (file, code) in tellers() {
        let live = Live::new();
        live.skill("teller", FRONT, &[], (file, &code));
        live.session(&["teller"], |runtime| {
            runtime.activate("teller").unwrap();
            let section = |context: &[&str]| json!({ "title": "Bees", "content": "What bees do.", "context": context });
            let phase = HookPhase::BeforeWikiSection;
            let told = runtime.dispatch(phase, section(&["first"])).unwrap();
            assert_eq!(told.event, section(&["first", "about Bees"]), "{file}");
        });
    }
}

/// A skill that reports its path, in Starlark and as a program.
fn talker(file: &str) -> String {
    if file.ends_with(".star") {
        "print(\"loading\")\ndef begin(event):\n    log(\"beginning\")\ndef t(input):\n    log(\"working\")\n    if input.get(\"how\") == \"fail\":\n        fail(\"no\")\n    return 1\n\
         register_hook(\"activate\", begin)\nregister_tool(\"t\", \"\", t)\n"
            .to_owned()
    } else {
        python(
            "print('loading', flush=True)\n@skill.hook('activate')\ndef begin(host, event):\n    host.log('info', 'beginning')\n\
             @skill.tool('Works')\ndef t(host, how: str = ''):\n    host.log('info', 'working')\n    if how == 'end':\n        os._exit(1)\n    return 1",
        )
    }
}

#[test]
fn messages_of_a_skill_are_reported_even_if_its_call_fails() {
    for (file, broken) in [("main.star", "fail"), ("main.py", "end")] {
        let live = Live::new();
        live.skill("talker", "types: [tool]\n", &[], (file, &talker(file)));
        let call = |tool: &str, how: &str| {
            let input = format!("{{\"how\": \"{how}\"}}");
            let output = live.run(&["--approve-skills", "talker", "call", "talker", tool, &input]);
            let lines = output.stderr.lines();
            let lines = lines.filter(|line| line.starts_with("talker: "));
            let lines = lines.map(|line| line.rsplit(' ').next().unwrap().to_owned());
            (output.code, lines.collect::<Vec<_>>())
        };
        let (begin, all) = (
            ["loading", "beginning"],
            ["loading", "beginning", "working"],
        );
        let expect = |code: i32, words: &[&str]| {
            (code, words.iter().map(|word| (*word).to_owned()).collect())
        };
        assert_eq!(call("t", ""), expect(0, &all), "{file}");
        assert_eq!(call("t", broken), expect(1, &all), "{file}");
        assert_eq!(call("absent", ""), expect(1, &begin), "{file}");
    }
}
