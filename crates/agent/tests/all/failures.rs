//! The results of failed requests.

use std::net::{TcpListener, TcpStream};
use std::thread;
use std::time::{Duration, Instant};

use metier_agent::{Cancel, ModelError, Provider, ProviderKind, ProviderLimits, TimeoutKind};
use metier_testkit::{
    model_server::{ModelServer, ScriptedTurn},
    patience::in_time,
};

use crate::{BOTH, KEY, answer, ask, endpoint, limits, provider, question};

#[test]
fn errors_that_pass_are_waited_out() {
    for kind in BOTH {
        for code in [429, 500, 502, 503, 529] {
            let turns = [
                ScriptedTurn::status(code, None),
                ScriptedTurn::status(500, None),
                ScriptedTurn::text("ok"),
            ];
            let server = ModelServer::start(turns);
            let provider = provider(kind, &server, limits());
            let (answer, told) = ask(&provider, &question(), &Cancel::new());
            assert_eq!(answer.unwrap().text, "ok", "{kind} {code}");
            assert_eq!(
                told.iter().filter(|line| line.starts_with("again")).count(),
                2
            );
            let requests = server.finish();
            assert_eq!(requests.len(), 3);
            assert_eq!(
                requests[0].body, requests[2].body,
                "the same bytes each time"
            );
        }
    }
}

#[test]
fn a_storm_ends_after_so_many_attempts() {
    for kind in BOTH {
        let storm = || (0..3).map(|_| ScriptedTurn::status(429, None));
        let server = ModelServer::start(storm());
        let error = answer(kind, &server, limits()).unwrap_err();
        assert!(
            matches!(
                error,
                ModelError::RateLimited {
                    attempts: 3,
                    after: None,
                    ..
                }
            ),
            "{error:?}"
        );
        assert!(error.to_string().contains("3 attempts"), "{error}");
        assert_eq!(error.hint().unwrap(), "try again later");
        assert_eq!(server.finish().len(), 3);

        let server = ModelServer::start((0..3).map(|_| ScriptedTurn::status(503, None)));
        let error = answer(kind, &server, limits()).unwrap_err();
        assert!(matches!(
            error,
            ModelError::Overloaded {
                code: 503,
                attempts: 3,
                ..
            }
        ));
        let _ = server.finish();
    }
}

#[test]
fn a_retry_waits_as_long_as_the_provider_requests() {
    let server = ModelServer::start([
        ScriptedTurn::status(429, Some("1")),
        ScriptedTurn::text("ok"),
    ]);
    let begin = Instant::now();
    assert!(answer(ProviderKind::Anthropic, &server, limits()).is_ok());
    assert!(
        begin.elapsed() >= Duration::from_secs(1),
        "{:?}",
        begin.elapsed()
    );
    let _ = server.finish();
}

#[test]
fn a_wait_that_is_too_long_is_reported_instead() {
    let server = ModelServer::start([ScriptedTurn::status(429, Some("3600"))]);
    let error = in_time("the refusal", || {
        answer(ProviderKind::OpenAi, &server, limits())
    });
    let error = error.unwrap_err();
    assert_eq!(error.hint().unwrap(), "try again in 3600 s");
    assert_eq!(server.finish().len(), 1);
}

#[test]
fn a_header_that_is_not_a_number_is_ignored() {
    for after in [
        "soon",
        "-5",
        "NaN",
        "1e999",
        "Wed, 21 Oct 2026 07:28:00 GMT",
    ] {
        let server = ModelServer::start([
            ScriptedTurn::status(429, Some(after)),
            ScriptedTurn::text("ok"),
        ]);
        assert!(
            answer(ProviderKind::OpenAi, &server, limits()).is_ok(),
            "{after}"
        );
        let _ = server.finish();
    }
}

#[test]
fn permanent_errors_are_reported_at_once() {
    for kind in BOTH {
        for code in [400, 404, 413, 422, 302] {
            let server = ModelServer::start([ScriptedTurn::status(code, None)]);
            let error = answer(kind, &server, limits()).unwrap_err();
            assert!(
                matches!(error, ModelError::Status { code: told, .. } if told == code),
                "{kind} {code}: {error:?}"
            );
            assert_eq!(server.finish().len(), 1);
        }
        let server = ModelServer::start([ScriptedTurn::status(401, None)]);
        let error = answer(kind, &server, limits()).unwrap_err();
        assert!(matches!(error, ModelError::Unauthorized { .. }));
        assert!(error.hint().unwrap().contains("_API_KEY"));
        let _ = server.finish();
    }
}

#[test]
fn a_disconnect_is_not_retried_once_something_was_shown() {
    for kind in BOTH {
        let text = "one two three four five six seven eight nine ten";
        let server = ModelServer::start([ScriptedTurn::text(text).cut_after(1100)]);
        let (answer, told) = ask(
            &provider(kind, &server, limits()),
            &question(),
            &Cancel::new(),
        );
        let error = answer.unwrap_err();
        assert!(
            error.to_string().ends_with("in the middle of its response"),
            "{error}"
        );
        assert_eq!(error.hint().unwrap(), "try again later");
        let ModelError::Cut { text: partial, .. } = error else {
            panic!("{kind}: {error:?}");
        };
        assert!(
            !partial.is_empty() && text.starts_with(&partial),
            "{kind}: {partial}"
        );
        let shown: String = told.iter().map(|line| &line["text ".len()..]).collect();
        assert_eq!(shown, partial);
        assert_eq!(server.finish().len(), 1);
    }
}

#[test]
fn a_disconnect_before_anything_was_shown_is_retried() {
    for kind in BOTH {
        let server = ModelServer::start([
            ScriptedTurn::text("x").cut_after(20),
            ScriptedTurn::text("ok"),
        ]);
        assert_eq!(
            answer(kind, &server, limits()).unwrap().text,
            "ok",
            "{kind}"
        );
        assert_eq!(server.finish().len(), 2);
    }
}

#[test]
fn an_error_in_the_middle_of_a_stream_keeps_its_kind() {
    let check = |kind: ProviderKind, event: &str, code: u16| {
        let stream = format!("event: error\ndata: {event}\n\n");
        let turns = (0..3).map(|_| ScriptedTurn::raw(200, "text/event-stream", stream.clone()));
        let server = ModelServer::start(turns);
        let error = answer(kind, &server, limits()).unwrap_err();
        match &error {
            ModelError::Overloaded {
                code: told,
                attempts: 3,
                message,
                ..
            } => {
                assert_eq!((*told, message.as_str()), (code, "busy"));
            }
            other => panic!("{other:?}"),
        }
        let _ = server.finish();
    };
    check(
        ProviderKind::Anthropic,
        r#"{"type":"error","error":{"type":"overloaded_error","message":"busy"}}"#,
        529,
    );
    check(
        ProviderKind::OpenAi,
        r#"{"error":{"type":"server_error","message":"busy"}}"#,
        500,
    );
    check(
        ProviderKind::OpenAi,
        r#"{"error":{"code":503,"message":"busy"}}"#,
        503,
    );
}

#[test]
fn what_is_not_in_the_format_is_malformed() {
    for kind in BOTH {
        for (content_type, body) in [
            ("text/event-stream", "data: {\"type\": \n\n"),
            ("text/event-stream", "data: \u{fffd}\n\n"),
            ("application/json", "<html>welcome</html>"),
            ("text/html", "<html>sign in</html>"),
            ("application/json", "[]"),
        ] {
            let server = ModelServer::start([ScriptedTurn::raw(200, content_type, body)]);
            let error = answer(kind, &server, limits()).unwrap_err();
            assert!(
                matches!(error, ModelError::Malformed { .. }),
                "{kind} {body}: {error:?}"
            );
            assert!(error.hint().unwrap().contains("agent.base_url"));
            let _ = server.finish();
        }
        let server =
            ModelServer::start((0..3).map(|_| ScriptedTurn::raw(200, "text/event-stream", "")));
        let error = answer(kind, &server, limits()).unwrap_err();
        assert!(matches!(error, ModelError::Cut { .. }), "{kind}: {error:?}");
        assert!(error.to_string().ends_with("before sending a response"));
        assert!(error.hint().unwrap().contains("agent.context_tokens"));
        let _ = server.finish();
    }
}

fn timed_out(
    kind: ProviderKind,
    turn: ScriptedTurn,
    limits: ProviderLimits,
) -> (TimeoutKind, Duration) {
    let server = ModelServer::start([turn]);
    let begin = Instant::now();
    let error = answer(kind, &server, limits).unwrap_err();
    let took = begin.elapsed();
    assert_eq!(server.finish().len(), 1, "a time-out is not tried again");
    match error {
        ModelError::TimedOut { wait, .. } => (wait, took),
        other => panic!("{other:?}"),
    }
}

#[test]
fn silence_has_an_end() {
    let short = Duration::from_millis(300);
    for kind in BOTH {
        let first = ProviderLimits {
            first_byte: short,
            ..limits()
        };
        let (wait, took) = timed_out(kind, ScriptedTurn::hang(), first);
        assert_eq!(wait, TimeoutKind::FirstByte);
        assert!(took >= short, "{took:?}");

        let between = ProviderLimits {
            between: short,
            ..limits()
        };
        let (wait, took) = timed_out(kind, ScriptedTurn::text("a b c").hang_after(700), between);
        assert_eq!(wait, TimeoutKind::NextByte);
        assert!(took >= short, "{took:?}");

        let whole = ProviderLimits {
            whole: short,
            ..limits()
        };
        let (wait, took) = timed_out(kind, ScriptedTurn::text("a b c").hang_after(700), whole);
        assert_eq!(wait, TimeoutKind::End);
        assert!(took >= short, "{took:?}");
    }
}

#[test]
fn a_cancel_from_another_thread_ends_the_call() {
    for turn in [ScriptedTurn::hang as fn() -> ScriptedTurn, || {
        ScriptedTurn::text("a b c").hang_after(700)
    }] {
        let server = ModelServer::start([turn()]);
        let provider = provider(ProviderKind::Anthropic, &server, limits());
        let cancel = Cancel::new();
        let from_outside = cancel.clone();
        let asking = thread::spawn(move || ask(&provider, &question(), &cancel).0);
        server.wait_for(1);
        from_outside.cancel();
        let answer = in_time("the cancelled call", || asking.join().unwrap());
        assert_eq!(answer, Err(ModelError::Cancelled));
        server.wait_until_left(); // otherwise the model would keep writing without a reader
        let _ = server.finish();
    }
}

#[test]
fn a_cancel_ends_a_pause_too() {
    let server = ModelServer::start([ScriptedTurn::status(429, Some("8"))]);
    let provider = provider(ProviderKind::OpenAi, &server, limits());
    let cancel = Cancel::new();
    let from_outside = cancel.clone();
    let asking = thread::spawn(move || ask(&provider, &question(), &cancel).0);
    server.wait_for(1);
    thread::sleep(Duration::from_millis(50));
    from_outside.cancel();
    let answer = in_time("the cancelled pause", || asking.join().unwrap());
    assert_eq!(answer, Err(ModelError::Cancelled));
    assert_eq!(server.finish().len(), 1);
}

#[test]
fn what_was_cancelled_before_is_not_sent() {
    let server = ModelServer::start([]);
    let cancel = Cancel::new();
    cancel.cancel();
    let (answer, _) = ask(
        &provider(ProviderKind::OpenAi, &server, limits()),
        &question(),
        &cancel,
    );
    assert_eq!(answer, Err(ModelError::Cancelled));
    assert!(server.finish().is_empty());
}

#[test]
fn an_unreachable_server_is_reported_with_its_url() {
    let port = TcpListener::bind("127.0.0.1:0")
        .unwrap()
        .local_addr()
        .unwrap()
        .port();
    let url = format!("http://127.0.0.1:{port}");
    let provider = Provider::new(endpoint(ProviderKind::OpenAi, url.clone()), limits());
    let (answer, told) = ask(&provider, &question(), &Cancel::new());
    match answer.unwrap_err() {
        ModelError::Unreachable { url: told, .. } => assert!(told.starts_with(&url), "{told}"),
        other => panic!("{other:?}"),
    }
    assert_eq!(told.len(), 2, "it was tried again");
    assert!(!told.concat().contains(KEY));
}

/// A port that neither accepts nor refuses: its accept queue is full.
fn black_hole() -> (TcpListener, Vec<TcpStream>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    let mut waiting = Vec::new();
    while waiting.len() < 10_000 {
        match TcpStream::connect_timeout(&address, Duration::from_millis(200)) {
            Ok(stream) => waiting.push(stream),
            Err(_) => return (listener, waiting),
        }
    }
    panic!("the queue does not fill");
}

#[test]
fn a_connection_that_does_not_come_has_an_end() {
    let (listener, _waiting) = black_hole();
    let url = format!("http://{}", listener.local_addr().unwrap());
    let short = Duration::from_millis(300);
    let quick = ProviderLimits {
        connect: short,
        ..limits()
    };
    let provider = Provider::new(endpoint(ProviderKind::OpenAi, url.clone()), quick);
    let begin = Instant::now();
    let error = ask(&provider, &question(), &Cancel::new()).0.unwrap_err();
    let wait = TimeoutKind::Connection;
    let provider = ProviderKind::OpenAi;
    let limit = short;
    assert_eq!(
        error,
        ModelError::TimedOut {
            provider,
            wait,
            limit
        }
    );
    // The kernel counts in whole milliseconds.
    assert!(begin.elapsed() + Duration::from_millis(1) >= short);

    let provider = Provider::new(endpoint(ProviderKind::OpenAi, url), limits());
    let cancel = Cancel::new();
    let from_outside = cancel.clone();
    let asking = thread::spawn(move || ask(&provider, &question(), &cancel).0);
    thread::sleep(Duration::from_millis(100));
    from_outside.cancel();
    let answer = in_time("the cancelled connection", || asking.join().unwrap());
    assert_eq!(answer, Err(ModelError::Cancelled));
}
