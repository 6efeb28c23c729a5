//! A child's requests during a call.

use std::time::Duration;

use metier_host::backend::{ChildProcess, SkillProcess, SkillProcessError};
use metier_sdk::wire::{HostRequest, code, method};
use serde_json::{Value, json};

use super::{Desk, PATIENCE, Script, check, text};

#[test]
fn a_child_asks_and_is_answered() {
    let (answer, _, desk) = check(
        "send(id=id, result=ask('host/env', name='LANG')['result'])\nhear()",
        PATIENCE,
    );
    assert_eq!(answer.unwrap(), json!({"value": "here"}));
    let expected = HostRequest::Env {
        name: "LANG".into(),
    };
    assert_eq!(*desk.last.borrow(), Some(expected));
}

#[test]
fn a_refusal_is_an_error_and_the_work_continues() {
    let (answer, _, _) = check(
        "first = ask('host/exec', command='id')['error']
second = ask('host/format_disk')['error']
third = ask('host/env', nome='x')['error']
fourth = ask('host/env', name='x')['result']
send(id=id, result=[first, second, third, fourth])
hear()",
        PATIENCE,
    );
    let answer = answer.unwrap();
    assert_eq!(
        answer[0],
        json!({"code": code::REFUSED, "message": "`shell:exec` is not granted"})
    );
    assert_eq!(
        answer[1],
        json!({"code": code::METHOD, "message": "there is no method `host/format_disk`"})
    );
    assert_eq!(answer[2]["code"], code::PARAMS);
    assert_eq!(answer[3], json!({"value": "here"}));
}

#[test]
fn a_hundred_thousand_questions_are_answered() {
    let (answer, _, desk) = check(
        "for n in range(100000): ask('host/env', name='N%d' % n)
send(id=id, result='done')
hear()",
        PATIENCE,
    );
    assert_eq!(answer.unwrap(), "done");
    assert_eq!(desk.asked.get(), 100_000);
}

#[test]
fn a_child_that_asks_without_reading_is_held_up_and_not_answered_for_ever() {
    // Its answers would exceed the limit; it then reads them after all, and gets every one.
    let ask = "import threading
def questions():
    for n in range(200000): send(id='question-%0100d' % n, method='host/env', params={'name': 'A'})
asking = threading.Thread(target=questions, daemon=True)
asking.start()
";
    let patient = format!(
        "{ask}time.sleep(1)\nfor n in range(200000): assert hear()['id'].endswith('%0100d' % n)\nsend(id=id, result='all')\nhear()"
    );
    let (answer, _, desk) = check(&patient, PATIENCE);
    assert_eq!(answer.unwrap(), "all");
    assert_eq!(desk.asked.get(), 200_000);
    let (answer, _, desk) = check(&format!("{ask}time.sleep(1000)"), Duration::from_secs(3));
    assert_eq!(text(answer), "took longer than 3 s and was stopped");
    assert!(desk.asked.get() < 200_000, "{}", desk.asked.get());
}

#[test]
fn a_child_that_does_not_read_its_input_blocks_no_caller() {
    let script = Script::new(
        "begin()
raw('x\\n' * 500 + 'y' * 100000 + '\\n')
time.sleep(0.3)
m = hear()
while 'method' not in m: m = hear()
send(id=m['id'], result=len(m['params']['text']))
hear()",
    );
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let text = "x".repeat(3 << 20);
    let answer = session.call(method::TOOL, json!({"text": text}), &desk, PATIENCE);
    assert_eq!(answer.unwrap(), 3 << 20);
}

#[test]
fn what_is_too_large_to_be_read_is_not_sent() {
    let script = Script::new("begin()\nwhile True: send(id=hear()['id'], result='ok')");
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let text = "x".repeat(5 << 20);
    let refused = session.call(method::TOOL, json!({"text": text}), &desk, PATIENCE);
    assert!(
        matches!(refused, Err(SkillProcessError::Answered(_))),
        "{refused:?}"
    );
    assert!(self::text(refused).contains("the limit for a message is 4194304"));
    let fine = session.call(method::TOOL, json!({}), &desk, PATIENCE);
    assert_eq!(fine.unwrap(), "ok");
}

#[test]
fn ids_of_a_child_are_its_own() {
    let (answer, _, _) = check(
        "for other in [id, 0, -1, 1.5, 'x' * 200]:
    send(id=other, method='host/env', params={'name': 'A'})
    assert hear()['id'] == other
send(id='x' * 300, method='host/env', params={'name': 'A'})
assert hear()['error']['code'] == -32600
send(id=id, result='done')
hear()",
        PATIENCE,
    );
    assert_eq!(answer.unwrap(), "done");
}

/// Replies with the request, and the number of requests so far.
const ECHO: &str = r#"
begin()
count = 0
while True:
    message = hear()
    if message["method"] == "shutdown":
        send(id=message["id"], result={})
        break
    count += 1
    send(id=message["id"], result=[message["params"], count])
"#;

#[test]
fn what_was_asked_ahead_is_asked_once_and_counts_only_if_it_is_the_same() {
    let script = Script::new(ECHO);
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let call = |session: &mut ChildProcess<'_>, params: Value| {
        session.call(method::HOOK, params, &desk, PATIENCE).unwrap()
    };
    session.ahead(method::HOOK, &json!("a"));
    assert_eq!(call(&mut session, json!("a")), json!(["a", 1]));
    session.ahead(method::HOOK, &json!("b"));
    assert_eq!(call(&mut session, json!("c")), json!(["c", 3]));
    session.ahead(method::HOOK, &json!("d"));
    session.ahead(method::HOOK, &json!("e"));
    assert_eq!(
        call(&mut session, json!("e")),
        json!(["e", 5]),
        "one at a time"
    );
    assert_eq!(
        call(&mut session, json!("e")),
        json!(["e", 6]),
        "and only once"
    );
    session.ahead(method::TOOL, &json!("f"));
    assert_eq!(
        call(&mut session, json!("f")),
        json!(["f", 8]),
        "another method"
    );
}

#[test]
fn a_child_that_ends_over_what_was_asked_ahead_is_started_again() {
    let script = Script::new("begin()\nhear()\nsys.exit(3)");
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    session.ahead(method::HOOK, &json!("a"));
    let error = session.call(method::HOOK, json!("a"), &desk, PATIENCE);
    assert!(
        matches!(error, Err(SkillProcessError::Ended { .. })),
        "{error:?}"
    );
    drop(session);
    assert!(!script.lives());
}
