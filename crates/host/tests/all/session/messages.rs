//! Children that write invalid messages, or too many of them.

use std::time::Duration;

use metier_host::backend::{ProcessEvent, SkillProcess, SkillProcessError};
use metier_sdk::wire::method;
use serde_json::json;

use super::{Desk, PATIENCE, Script, check, said, text};

const GOOD: &str = "send(id=id, result={'output': 'fine'})\n";

/// The answer counts, whatever came before it.
fn continues(trouble: &str) -> Vec<ProcessEvent> {
    let (answer, events, _) = check(&format!("{trouble}\n{GOOD}hear()"), PATIENCE);
    assert_eq!(answer.unwrap(), json!({"output": "fine"}), "{trouble}");
    events
}

// case 133
#[test]
fn a_gigabyte_without_a_line_is_cut_off() {
    let (answer, events, _) = check("for _ in range(1000): raw(b'x' * (1 << 20))", PATIENCE);
    let text = text(answer);
    assert!(
        text.starts_with("broke the protocol: a line is longer than 4194304 bytes"),
        "{text}"
    );
    assert!(
        matches!(&events[..], [ProcessEvent::Started { .. }, ProcessEvent::Crashed { how, .. }] if *how == text)
    );
}

// case 133
#[test]
fn a_line_may_be_as_long_as_a_frame_and_no_longer() {
    // Python writes three spaces that we do not.
    let answer = |size: usize| {
        let script = format!(
            "text = json.dumps({{'id': id, 'result': 'x' * {size}}})\nraw(text + '\\n')\nhear()"
        );
        check(&script, PATIENCE).0
    };
    let around = json!({"id": 2, "result": ""}).to_string().len() + 3;
    let most = (4 << 20) - around;
    assert_eq!(answer(most).unwrap().as_str().unwrap().len(), most);
    assert!(matches!(
        answer(most + 1),
        Err(SkillProcessError::Protocol(_))
    ));
}

// case 133, 134
#[test]
fn nonsense_is_shown_and_skipped() {
    let events = continues(
        "raw('loading the model...\\n\\n{\"half\":\\n')\nassert hear()['error']['code'] == -32700",
    );
    let shown = said(&events);
    assert_eq!(
        shown[0],
        "not a message, on standard output: loading the model..."
    );
    assert_eq!(shown.len(), 2, "{shown:?}");
    continues("raw(b'\\xff\\xfe\\x00\\n')");
    continues("raw('7\\n\"text\"\\nnull\\n')\nassert hear()['error']['code'] == -32600");
    continues("raw('[' * 100000 + ']' * 100000 + '\\n')");
    continues(
        "raw('{\"params\":' * 100000 + '1' + '}' * 100000 + '\\n')\nassert hear()['error']['code'] == -32700",
    );
}

// case 134
#[test]
fn an_answer_that_is_not_json_is_text() {
    for (result, why) in [
        ("NaN", "expected value"),
        ("\"\\ud800\"", "unexpected end of hex escape"),
        ("[' + '[' * 100000 + '", "recursion limit exceeded"),
    ] {
        let script = format!(
            "raw('{{\"id\": %d, \"result\": ' % id + '{result}' + '}}\\n')\nhear()\nhear()"
        );
        let script = script.replace("\\ud800", "\\\\ud800");
        let (answer, _, _) = check(&script, PATIENCE);
        assert!(
            matches!(answer, Err(SkillProcessError::Answered(_))),
            "{answer:?}"
        );
        let text = text(answer);
        assert!(
            text.starts_with("sent a malformed answer: ") && text.contains(why),
            "{text}"
        );
    }
}

// case 134, 135
#[test]
fn answers_without_a_request_are_skipped() {
    continues(
        "for other in [id + 1, id - 1, str(id), None, -id, id + 0.5, [id], {'id': id}, True, 10 ** 30]:\n    send(id=other, result='wrong')",
    );
    continues("send(result='wrong'); send(id=id + 1, result='early'); send(id=1, result='again')");
    // The second answer to the same request is read by the next call, which ignores it.
    let events = continues("send(id=id, result={'output': 'fine'}); time.sleep(0.1)");
    assert_eq!(events.last(), Some(&ProcessEvent::Ended), "{events:?}");
}

// case 135
#[test]
fn an_answer_before_the_request_is_none() {
    let script = Script::new(
        "begin()
id = hear()['id']
send(id=id, result='first')
for other in range(id, id + 9): send(id=other, result='too early')
id = hear()['id']
time.sleep(0.2)
send(id=id, result='second')
hear()",
    );
    let desk = Desk::default();
    let mut session = script.open(&desk).unwrap();
    let mut call = || session.call(method::TOOL, json!({}), &desk, PATIENCE);
    assert_eq!(call().unwrap(), "first");
    std::thread::sleep(Duration::from_millis(200));
    assert_eq!(call().unwrap(), "second");
}

// case 135
#[test]
fn batches_are_refused() {
    continues(
        "raw(json.dumps([{'jsonrpc': '2.0', 'id': id, 'result': 1}] * 1000) + '\\n')\nassert hear()['error']['code'] == -32600",
    );
    continues("raw('[' + '1,' * 1000000 + '1]\\n')\nassert hear()['error']['code'] == -32600");
    let (answer, _, _) = check(
        "raw(json.dumps([{'jsonrpc': '2.0', 'id': id, 'result': 1}] * 1000000) + '\\n')",
        PATIENCE,
    );
    assert!(text(answer).contains("a line is longer"));
}

// case 135
#[test]
fn floods_of_notifications_are_limited() {
    for flood in [
        "send(method='progress', params={'at': 1})",
        "send(id=id + 7, result=1)",
        "raw('nonsense\\n')",
        "raw('[]\\n')",
        "send(id={}, method='host/env', params={'name': 'A'})",
    ] {
        let (answer, _, _) = check(&format!("while True: {flood}"), PATIENCE);
        let text = text(answer);
        let expected = "broke the protocol: sent more than 1000 unexpected messages in one call; the last one: ";
        assert!(text.starts_with(expected), "{flood}: {text}");
    }
    continues("for _ in range(1000): send(method='progress')");
}

#[test]
fn what_is_written_down_is_bounded() {
    let events = continues(
        "for n in range(100000): send(method='host/log', params={'level': 'info', 'message': 'line %d' % n})",
    );
    let lines = said(&events);
    assert_eq!((lines.len(), lines[0]), (100, "info: line 0"));
    assert!(
        events.contains(&ProcessEvent::SaidMore(99_900)),
        "{events:?}"
    );
    let events = continues("assert ask('host/log', message='one\\ntwo')['result'] == {}");
    assert_eq!(said(&events), ["one", "two"]);
}

#[test]
fn complaints_are_kept_and_never_in_the_way() {
    let events = continues("sys.stderr.write('a warning\\n'); sys.stderr.flush()");
    assert_eq!(said(&events), ["a warning"]);
    let events = continues("for _ in range(1000): os.write(2, b'y\\n' * 10000)");
    assert!(
        said(&events).len() <= 200,
        "a hundred of the call, and of its end"
    );
    assert!(
        events
            .iter()
            .any(|event| matches!(event, ProcessEvent::SaidMore(more) if *more > 9_000_000))
    );
    let (answer, events, _) = check(
        "while True: os.write(2, b'y' * 65536)",
        Duration::from_millis(500),
    );
    assert_eq!(text(answer), "took longer than 500 ms and was stopped");
    let Some(ProcessEvent::Crashed { stderr, .. }) = events
        .iter()
        .find(|event| matches!(event, ProcessEvent::Crashed { .. }))
    else {
        panic!("{events:?}");
    };
    assert_eq!(stderr.len(), 64 * 1024);
}
