//! A plugin from `initialize` to `shutdown`, called in this process: through the Rust API, and through the C interface.

use std::{ffi::c_void, ptr, slice};

use metier_sdk::{
    guest::{Context, Host, HostError, Outcome, Plugin, Skill, Transport},
    native::{ABI, Bytes, HostTable, Table, table},
    wire::{HostRequest, Manifest, code},
};
use serde_json::{Value, json};

/// Greets with the greeting that it got on activation.
#[derive(Default)]
struct Greeter {
    activated: u32,
}

impl Plugin for Greeter {
    fn manifest(&self) -> Manifest {
        Manifest::new("greeter", "1.2.3")
    }

    fn activate(&mut self, context: &mut Context<'_>) -> Outcome<()> {
        let greeting = context.host().read_file("greeting.txt")?;
        self.activated += 1;
        if self.activated > 1 {
            context.tool("again", "", |_, _: Value| Ok(()));
            panic!("once is enough");
        }
        context.tool("greet", "Greets", move |_, input: Value| {
            Ok(format!("{greeting}, {}", input["who"]))
        });
        Ok(())
    }

    fn deactivate(&mut self, host: &Host<'_>) -> Outcome<()> {
        host.log("info", "good-bye");
        Err("the door is stuck".into())
    }
}

/// Knows one file, and records what it gets.
#[derive(Default)]
struct Desk {
    greeting: Option<&'static str>,
    said: Vec<String>,
    /// The last answer, for callers that only borrow it.
    kept: Vec<u8>,
}

impl Transport for Desk {
    fn ask(&mut self, request: &HostRequest) -> Result<Value, HostError> {
        match (request, self.greeting) {
            (HostRequest::ReadFile { .. }, Some(content)) => Ok(json!({ "content": content })),
            (HostRequest::Log { message, .. }, _) => {
                self.said.push(message.clone());
                Ok(json!({}))
            }
            _ => Err(HostError {
                code: code::REFUSED,
                message: "no".into(),
                data: None,
            }),
        }
    }
}

fn hello() -> Value {
    json!({"protocol": 1, "skill": "greeter", "directory": "."})
}

fn desk() -> Desk {
    Desk {
        greeting: Some("Hello"),
        ..Desk::default()
    }
}

#[test]
fn a_plugin_registers_when_it_is_activated_and_declares_its_identity() {
    let (mut skill, mut desk) = (Skill::of(Greeter::default()), desk());
    let answer = skill.answer("initialize", hello(), &mut desk).unwrap();
    assert_eq!(
        answer["manifest"],
        json!({"name": "greeter", "version": "1.2.3"})
    );
    assert_eq!(answer["tools"][0]["name"], "greet");
    let call = json!({"name": "greet", "input": {"who": "Ada"}});
    let answer = skill.answer("tool/execute", call, &mut desk).unwrap();
    assert_eq!(answer["output"], "Hello, \"Ada\"");
}

#[test]
fn a_skill_without_a_plugin_has_no_identity() {
    let answer = Skill::new().answer("initialize", hello(), &mut desk());
    assert!(answer.unwrap().get("manifest").is_none());
}

#[test]
fn a_plugin_that_is_refused_what_it_needs_is_not_activated() {
    let (mut skill, mut desk) = (Skill::of(Greeter::default()), Desk::default());
    let error = skill.answer("initialize", hello(), &mut desk).unwrap_err();
    assert_eq!((error.code, &*error.message), (code::INTERNAL, "no"));
}

#[test]
fn what_a_failed_activation_registered_does_not_stay() {
    let (mut skill, mut desk) = (Skill::of(Greeter::default()), desk());
    skill.answer("initialize", hello(), &mut desk).unwrap();
    let error = skill.answer("initialize", hello(), &mut desk).unwrap_err();
    assert_eq!(error.message, "once is enough");
    let call = json!({"name": "greet", "input": {}});
    let error = skill.answer("tool/execute", call, &mut desk).unwrap_err();
    assert_eq!(error.message, "there is no tool `greet`");
}

#[test]
fn a_plugin_is_deactivated_once_and_its_failure_is_reported() {
    let (mut skill, mut desk) = (Skill::of(Greeter::default()), desk());
    let mut end = |skill: &mut Skill| skill.answer("shutdown", json!({}), &mut desk);
    // It was never activated.
    assert_eq!(end(&mut skill), Ok(json!({})));
    let mut other = self::desk();
    skill.answer("initialize", hello(), &mut other).unwrap();
    assert_eq!(end(&mut skill).unwrap_err().message, "the door is stuck");
    assert_eq!(end(&mut skill), Ok(json!({})));
    let told = "deactivation failed: the door is stuck";
    assert_eq!(desk.said, ["good-bye", told]);
}

extern "C" fn ask(context: *mut c_void, request: Bytes) -> Bytes {
    #[expect(unsafe_code, reason = "this is what a host does")]
    // SAFETY: the test passes a desk that outlives the call.
    let desk = unsafe { &mut *context.cast::<Desk>() };
    let request = bytes(request);
    let answer = match desk.ask(&serde_json::from_slice(request).unwrap()) {
        Ok(result) => json!({ "result": result }),
        Err(error) => json!({ "error": error }),
    };
    desk.kept = answer.to_string().into_bytes();
    Bytes::of(&desk.kept)
}

/// One request through the C interface.
#[expect(unsafe_code, reason = "this is what a host does")]
fn across(table: &Table, skill: *mut c_void, desk: &mut Desk, request: &[u8]) -> Value {
    let context = ptr::from_mut(desk).cast();
    let host = HostTable { context, ask };
    let mut answer = Bytes::NONE;
    let request = Bytes::of(request);
    // SAFETY: the skill is one of this table's, and everything lent outlives the call.
    let status = unsafe { (table.answer.unwrap())(skill, request, &host, &mut answer) };
    assert_eq!(status, 0);
    let said = serde_json::from_slice(bytes(answer)).unwrap();
    // SAFETY: the answer of just now, read already.
    unsafe { (table.release.unwrap())(skill, answer) };
    said
}

#[expect(unsafe_code, reason = "this is what a host does")]
fn bytes<'a>(lent: Bytes) -> &'a [u8] {
    // SAFETY: the lender keeps them until they are read, which is before the call is over.
    unsafe { slice::from_raw_parts(lent.data, lent.length) }
}

#[test]
fn the_same_plugin_answers_across_the_border_of_c() {
    let table = table::<Greeter>();
    assert_eq!((table.abi, table.size as usize), (ABI, size_of::<Table>()));
    let mut desk = desk();
    #[expect(unsafe_code, reason = "this is what a host does")]
    // SAFETY: `create` needs nothing.
    let skill = unsafe { (table.create.unwrap())() };
    let hello = json!({"method": "initialize", "params": hello()}).to_string();
    let mut talk = |request: &[u8]| across(table, skill, &mut desk, request);
    assert_eq!(
        talk(hello.as_bytes())["result"]["manifest"]["name"],
        "greeter"
    );
    let call = br#"{"method":"tool/execute","params":{"name":"greet","input":{"who":"\u00c4da"}}}"#;
    assert_eq!(talk(call)["result"]["output"], "Hello, \"Äda\"");
    // A panic does not cross the interface.
    assert_eq!(talk(hello.as_bytes())["error"]["message"], "once is enough");
    assert_eq!(talk(b"{")["error"]["code"], code::PARSE);
    assert_eq!(talk(b"")["error"]["code"], code::PARSE);
    assert_eq!(talk(b"[]")["error"]["code"], code::METHOD);
    desk.greeting = None;
    let refused = across(table, skill, &mut desk, hello.as_bytes());
    assert_eq!(refused["error"]["message"], "no");
    #[expect(unsafe_code, reason = "this is what a host does")]
    // SAFETY: made above, and not used any more.
    unsafe {
        (table.destroy.unwrap())(skill);
    }
}
