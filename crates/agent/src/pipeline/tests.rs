//! Which skill waits for which, and whether the promised results were delivered.

use metier_catalog::{ProjectLimits, ProjectState};
use metier_model::SkillManifest;
use metier_policy::{CODING_PIPELINE, ComposeOptions, Member, compose};
use metier_testkit::skill_yaml;
use serde_json::json;

use super::*;

const CONTRACT: &str = "output_contract: {type: object, required: [plan], properties: {plan: {type: string, minLength: 3}}}\n";

fn skill(name: &str, lines: &str) -> SkillManifest {
    let text = format!("name: {name}\nversion: 1.0.0\ndescription: Does {name}.\n{lines}");
    skill_yaml(&text).0
}

/// Two skills with these lines; `first` declares that it comes before `second`.
fn in_order(first: &str, second: &str) -> [SkillManifest; 2] {
    let order = "composability_rules: [{with: second, order: before}]\n";
    [
        skill("first", &format!("{first}{order}")),
        skill("second", second),
    ]
}

/// The order of a set, as a sub-agent has it.
fn pipeline<'m>(members: impl IntoIterator<Item = &'m SkillManifest>) -> Pipeline {
    pipeline_of(members, false)
}

/// [`pipeline`] for a task that can be coding.
fn pipeline_of<'m>(members: impl IntoIterator<Item = &'m SkillManifest>, coding: bool) -> Pipeline {
    let members: Vec<&SkillManifest> = members.into_iter().collect();
    let named: Vec<Member<'_>> = members
        .iter()
        .map(|manifest| Member::Known {
            manifest,
            place: manifest.card.name.as_str(),
        })
        .collect();
    let options = ComposeOptions {
        coding,
        ..ComposeOptions::default()
    };
    let composition = compose(&named, options);
    assert!(!composition.order.is_empty(), "{:?}", composition.errors);
    Pipeline::new(&composition, members, coding)
}

/// A tool of a skill's own code.
fn own(skill: &str) -> RequestedTool<'_> {
    RequestedTool {
        name: skill,
        short: "go",
        skill: Some(skill),
    }
}

/// A tool of the program.
fn core(name: &str) -> RequestedTool<'_> {
    RequestedTool {
        name,
        short: name,
        skill: Some("core-tools"),
    }
}

const CODE: &str = "types: [tool]\nimplementation: {backend: starlark, entrypoint: x.star}\n";

/// A planner with a tool, followed by a builder.
fn pair() -> [SkillManifest; 2] {
    [
        skill("planner", &format!("{CODE}{CONTRACT}")),
        skill(
            "builder",
            &format!(
                "{CODE}composability_rules: [{{with: planner, required: true, order: after}}]\n\
                 output_contract: {{type: object, required: [done]}}\n"
            ),
        ),
    ]
}

#[test]
fn a_skill_waits_until_the_one_before_has_delivered() {
    let pair = pair();
    let mut pipeline = pipeline(&pair);
    assert_eq!(pipeline.admit(own("planner"), &[""]), Ok(()));
    assert_eq!(pipeline.admit(own("somebody-else"), &[""]), Ok(()));
    let not_yet = pipeline.admit(own("builder"), &[""]).unwrap_err();
    assert_eq!(not_yet.by(), Some("planner"));
    for misfit in [
        json!("a plan"),
        json!({}),
        json!({"plan": "x"}),
        json!({"plan": 7}),
    ] {
        pipeline.deliver(own("planner"), &[""], &misfit);
        assert!(pipeline.admit(own("builder"), &[""]).is_err(), "{misfit}");
    }
    // No skill delivers for another.
    pipeline.deliver(own("builder"), &[""], &json!({"plan": "by somebody else"}));
    assert!(pipeline.admit(own("builder"), &[""]).is_err());
    pipeline.deliver(own("planner"), &[""], &json!({"plan": "three steps"}));
    assert_eq!(pipeline.admit(own("builder"), &[""]), Ok(()));
}

#[test]
fn in_a_conversation_a_skill_has_no_tools_without_the_one_that_it_requires() {
    let pair = pair();
    let mut conversation = Pipeline::default();
    for skill in &pair {
        conversation.join(skill);
    }
    assert_eq!(conversation.admit(own("planner"), &[""]), Ok(()));
    let apart = conversation.admit(own("builder"), &[""]).unwrap_err();
    assert!(apart.to_string().contains("sub-agent"), "{apart}");
    conversation.leave("builder");
    assert_eq!(conversation.admit(own("builder"), &[""]), Ok(()));

    // A member of a set that is loaded once more stays a member.
    let mut set = pipeline(&pair);
    set.deliver(own("planner"), &[""], &json!({"plan": "three steps"}));
    set.join(&pair[1]);
    assert_eq!(set.admit(own("builder"), &[""]), Ok(()));
}

#[test]
fn either_skill_can_declare_the_order() {
    let [first, second] = in_order(CONTRACT, "");
    let pipeline = pipeline([&second, &first]);
    assert!(pipeline.admit(own("second"), &[""]).is_err());
    assert_eq!(pipeline.admit(own("first"), &[""]), Ok(()));
}

#[test]
fn a_skill_without_tools_delivers_in_the_models_words() {
    let mut pipeline = pipeline(&in_order(CONTRACT, ""));
    pipeline.hear("I have a plan.");
    assert!(pipeline.admit(own("second"), &[""]).is_err());
    pipeline.hear("Here it is:\n```json\n{\"plan\": \"three steps\"}\n```\nShall I?");
    assert_eq!(pipeline.admit(own("second"), &[""]), Ok(()));
}

#[test]
fn a_task_is_done_when_the_last_skill_has_delivered() {
    let pair = pair();
    let mut pipeline = pipeline(&pair);
    let missing = pipeline.conclude("Done.").unwrap_err();
    assert_eq!(missing.len(), 2, "{missing:?}");
    assert!(
        missing[0].contains("`planner` has not delivered"),
        "{missing:?}"
    );
    pipeline.deliver(own("planner"), &[""], &json!({"plan": "three steps"}));
    assert!(pipeline.conclude("```json\n{}\n```").is_err());
    assert_eq!(pipeline.conclude("{\"done\": true}"), Ok(()));
}

#[test]
fn a_skill_that_works_alone_delivers_what_it_promised() {
    let alone = skill("alone", CONTRACT);
    let missing = pipeline([&alone]).conclude("Done.").unwrap_err();
    assert!(
        missing[0].contains("the result of `alone` is missing"),
        "{missing:?}"
    );
    assert_eq!(
        pipeline([&alone]).conclude(r#"{"plan": "three steps"}"#),
        Ok(())
    );
    let with_tool = skill("alone", &format!("{CODE}{CONTRACT}"));
    let mut by_tool = pipeline([&with_tool]);
    by_tool.deliver(own("alone"), &[""], &json!({"plan": "three steps"}));
    assert_eq!(by_tool.conclude("Done."), Ok(()));
    // A promise in prose is left to the model.
    let prose = skill("alone", "output_contract: A plan.\n");
    assert_eq!(pipeline([&prose]).conclude("Done."), Ok(()));
    assert_eq!(Pipeline::default().conclude("Done."), Ok(()));
}

#[test]
fn an_order_holds_without_a_contract() {
    let mut set = pipeline(&in_order(CODE, CODE));
    assert!(set.admit(own("second"), &[""]).is_err());
    set.deliver(own("second"), &[""], &json!("done"));
    assert!(set.admit(own("second"), &[""]).is_err());
    set.deliver(own("first"), &[""], &json!("done"));
    assert_eq!(set.admit(own("second"), &[""]), Ok(()));
}

#[test]
fn a_tool_of_the_program_belongs_to_the_skills_that_allow_it() {
    let [first, second] = in_order("allowed_tools: [grep]\n", "allowed_tools: [shell, read]\n");
    let third = skill("third", "allowed_tools: [read]\n");
    let mut set = pipeline([&first, &second, &third]);
    assert!(set.admit(core("shell"), &[""]).is_err());
    // Another skill that does not wait allows it, too.
    assert_eq!(set.admit(core("read"), &[""]), Ok(()));
    set.deliver(core("read"), &[""], &json!("text"));
    assert!(set.admit(core("shell"), &[""]).is_err());
    set.deliver(core("grep"), &[""], &json!("text"));
    assert_eq!(set.admit(core("shell"), &[""]), Ok(()));
}

#[test]
fn a_part_of_a_tool_belongs_to_the_skill_that_allows_it() {
    let mut set = pipeline(&in_order(
        "allowed_tools: [\"Bash(ls)\"]\n",
        "allowed_tools: [\"Bash(touch *)\"]\n",
    ));
    let shell = core("shell");
    assert_eq!(set.admit(shell, &["ls"]), Ok(()));
    assert!(set.admit(shell, &["touch stolen"]).is_err());
    // No skill allows all of it: the one that waits decides.
    assert!(set.admit(shell, &["ls", "touch stolen"]).is_err());
    set.deliver(shell, &["ls"], &json!("text"));
    assert_eq!(set.admit(shell, &["touch stolen"]), Ok(()));
}

#[test]
fn what_a_skill_expects_is_delivered_before_it_works() {
    let expects = "preconditions: [{schema: {type: object, required: [plan]}}]\n";
    let first = skill(
        "first",
        &format!("{CODE}output_contract: {{type: object}}\n"),
    );
    let second = skill(
        "second",
        &format!("{CODE}{expects}composability_rules: [{{with: first, order: after}}]\n"),
    );
    let mut set = pipeline([&first, &second]);
    set.deliver(own("first"), &[""], &json!({}));
    let not_yet = set.admit(own("second"), &[""]).unwrap_err();
    assert_eq!(not_yet.by(), Some("second"));
    set.deliver(own("first"), &[""], &json!({"plan": 1}));
    assert_eq!(set.admit(own("second"), &[""]), Ok(()));

    let alone = skill("alone", expects);
    assert_eq!(pipeline([&alone]).expected_of("Build it.").len(), 1);
    assert_eq!(
        pipeline([&alone]).expected_of("Build it.\n```json\n{\"plan\": 1}\n```"),
        []
    );
}

#[test]
fn a_schema_among_postconditions_is_a_promise() {
    let alone = skill(
        "alone",
        "postconditions: [{schema: {type: object, required: [sum]}}]\n",
    );
    assert!(pipeline([&alone]).conclude("{}").is_err());
    assert_eq!(pipeline([&alone]).conclude(r#"{"sum": 3}"#), Ok(()));
}

#[test]
fn a_contract_that_is_not_a_schema_can_not_be_kept() {
    let mut pipeline = pipeline(&in_order("output_contract: {type: nonsense}\n", ""));
    pipeline.deliver(own("first"), &[""], &json!({}));
    assert!(pipeline.admit(own("second"), &[""]).is_err());
    assert_eq!(pipeline.refused().len(), 1);
}

/// A coding set in its own folder.
struct Coding {
    pipeline: Pipeline,
    root: tempfile::TempDir,
}

const IMPLEMENTER: &str = CODING_PIPELINE[1];

impl Coding {
    /// After a specification with the criteria A1 and A2.
    fn new() -> Self {
        let [specification, implementer] = CODING_PIPELINE;
        let specification = skill(
            specification,
            &format!(
                "{CODE}composability_rules: [{{with: {implementer}, order: before}}]\noutput_contract: {{type: object, required: [acceptance]}}\n"
            ),
        );
        let implementer = skill(
            implementer,
            &format!("{CODE}output_contract: {{type: object, required: [criteria]}}\n"),
        );
        let helper = skill("helper", "allowed_tools: [shell, read]\n");
        let mut coding = Self {
            pipeline: pipeline([&specification, &implementer, &helper]),
            root: tempfile::tempdir().unwrap(),
        };
        coding.specify();
        coding
    }

    fn specify(&mut self) {
        let criteria = json!({"acceptance": [{"id": "A1"}, {"id": "A2"}]});
        self.pipeline
            .deliver(own(CODING_PIPELINE[0]), &[""], &criteria);
    }

    /// A call that writes a file and reports this.
    fn call(
        &mut self,
        tool: RequestedTool<'_>,
        criterion: &str,
        output: Option<Value>,
        file: &str,
    ) {
        let now = || ProjectState::now(self.root.path(), ProjectLimits::default());
        let before = now();
        if !file.is_empty() {
            std::fs::write(self.root.path().join(file), "x").unwrap();
        }
        let called = CodingCall {
            criterion: Some(criterion.to_owned()),
            output,
            before,
            after: now(),
        };
        self.pipeline.watched(tool, called);
    }

    fn implements(&mut self, criterion: &str, exit: i64) {
        let output = json!({"exit": exit, "criterion": criterion});
        self.call(
            own(IMPLEMENTER),
            criterion,
            Some(output),
            &format!("{criterion}.rs"),
        );
    }

    /// The faults of a report that claims these criteria as met, and A2 as not met.
    fn disputes(&mut self, met: &[&str]) -> Vec<String> {
        let mut criteria: Vec<Value> = met
            .iter()
            .map(|id| json!({"id": id, "met": true, "evidence": "3 passed"}))
            .collect();
        if !met.contains(&"A2") {
            criteria.push(json!({"id": "A2", "met": false}));
        }
        self.answer(&json!({ "criteria": criteria }))
    }

    fn answer(&mut self, report: &Value) -> Vec<String> {
        let answer = self.pipeline.conclude(&report.to_string());
        answer.err().unwrap_or_default()
    }
}

#[test]
fn a_criterion_is_met_when_the_last_call_that_named_it_succeeded() {
    let mut coding = Coding::new();
    assert!(coding.disputes(&["A1"])[0].contains("no call of `opencode-implementer` named it"));
    coding.implements("A2", 0);
    assert!(coding.disputes(&["A1"])[0].contains("named it"));
    coding.implements("A1", 1);
    assert!(coding.disputes(&["A1"])[0].contains("ended with exit code 1"));
    coding.implements("A1", 0);
    assert_eq!(coding.disputes(&["A1", "A2"]), [""; 0]);
    coding.implements("A1", 2);
    assert!(coding.disputes(&["A1"])[0].contains("ended with exit code 2"));
    coding.call(own(IMPLEMENTER), "A1", None, "");
    assert!(coding.disputes(&["A1"])[0].contains("failed"));
    coding.implements("A1", 0);
    assert_eq!(coding.disputes(&["A1"]), [""; 0]);
    // Work for another specification proves nothing.
    coding.specify();
    assert_eq!(coding.disputes(&["A1"]).len(), 1);
}

#[test]
fn a_report_is_about_each_criterion_once_and_nothing_else() {
    let mut coding = Coding::new();
    coding.implements("A1", 0);
    coding.implements("Z9", 0);
    assert!(coding.disputes(&["A1", "Z9"])[0].contains("no criterion `Z9`"));
    assert!(coding.disputes(&["A1", "A1"])[0].contains("reported twice"));
    let silent = json!({"criteria": [{"id": "A1", "met": true, "evidence": " "}]});
    assert_eq!(
        coding.answer(&silent),
        [
            "acceptance criterion `A2` is missing from the report",
            "criterion `A1` is met without evidence"
        ]
    );
    // Anything except a plain no counts as a claim.
    let claims = json!({"criteria": [{"id": "A1", "met": false}, {"id": "A2", "met": "yes", "evidence": "x"}]});
    assert_eq!(coding.answer(&claims).len(), 1);
    let two = "```json\n{\"criteria\": []}\n```\n```json\n{\"criteria\": []}\n```";
    let said = coding.pipeline.conclude(two).unwrap_err();
    assert!(said[0].contains("2 reports"), "{said:?}");
}

#[test]
fn the_files_of_a_report_are_those_that_changed() {
    let mut coding = Coding::new();
    coding.implements("A1", 0);
    let report = |files: &[&str]| json!({"criteria": [{"id": "A1", "met": true, "evidence": "x"}, {"id": "A2", "met": false}], "changed": files});
    assert_eq!(coding.answer(&report(&["./A1.rs"])), [""; 0]);
    for files in [&[][..], &["A1.rs", "other.rs"], &["other.rs"]] {
        assert_eq!(coding.answer(&report(files)).len(), 1, "{files:?}");
    }
}

#[test]
fn what_could_write_waits_for_the_implementer_and_changes_nothing() {
    let mut coding = Coding::new();
    assert_eq!(coding.pipeline.admit(core("read"), &[""]), Ok(()));
    assert!(coding.pipeline.admit(core("shell"), &[""]).is_err());
    coding.implements("A1", 1);
    assert!(coding.pipeline.admit(core("shell"), &[""]).is_err());
    coding.implements("A1", 0);
    assert_eq!(coding.pipeline.admit(core("shell"), &[""]), Ok(()));
    coding.call(core("shell"), "A1", Some(json!("done")), "sneaked.rs");
    let said = coding.disputes(&["A1"]);
    assert!(
        said[0].contains("`sneaked.rs` was changed by `shell`"),
        "{said:?}"
    );
    std::fs::remove_file(coding.root.path().join("sneaked.rs")).unwrap();
    coding.call(core("shell"), "A1", Some(json!("done")), "");
    assert_eq!(coding.disputes(&["A1"]), [""; 0]);
    for tool in ["sessions_spawn", "activate_skill"] {
        let of_program = RequestedTool {
            name: tool,
            short: tool,
            skill: None,
        };
        assert!(matches!(
            coding.pipeline.admit(of_program, &[""]),
            Err(NotYet::Leads(_))
        ));
    }
}

#[test]
fn the_two_of_a_coding_task_owe_a_specification_and_a_report_whatever_they_declare() {
    let pair = CODING_PIPELINE.map(|name| skill(name, CODE));
    let mut set = pipeline_of(&pair, true);
    for nothing in [json!("done"), json!({}), json!({"acceptance": []})] {
        set.deliver(own(CODING_PIPELINE[0]), &[""], &nothing);
        assert!(set.admit(own(IMPLEMENTER), &[""]).is_err(), "{nothing}");
    }
    set.deliver(
        own(CODING_PIPELINE[0]),
        &[""],
        &json!({"acceptance": [{"id": "A1"}]}),
    );
    assert_eq!(set.admit(own(IMPLEMENTER), &[""]), Ok(()));
    assert!(set.conclude("Done.").is_err());
    assert!(set.conclude(r#"{"criteria": []}"#).is_err());
    let honest = r#"{"criteria": [{"id": "A1", "met": false, "evidence": ""}]}"#;
    assert_eq!(set.conclude(honest), Ok(()));

    // In a conversation an implementer has no tools, whatever it declares.
    let mut conversation = Pipeline::default();
    conversation.join(&pair[1]);
    assert!(conversation.admit(own(IMPLEMENTER), &[""]).is_err());
}
