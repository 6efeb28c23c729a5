//! The page over HTTP: what it shows and what it refuses. `browser.rs` uses a real browser.

use metier_testkit::patience;
use serde_json::json;

use crate::test_daemon::{Daemon, HttpAnswer, context, workflow};

/// A browser that used the link: its cookie, and the token of its forms.
struct Visitor<'d> {
    daemon: &'d Daemon,
    headers: String,
}

impl<'d> Visitor<'d> {
    fn new(daemon: &'d Daemon) -> Self {
        let host = format!("Host: {}\r\n", daemon.address);
        let path = daemon.link.split_once(&daemon.address).unwrap().1;
        let entered = daemon.request("GET", path, &host, "");
        let cookie = entered
            .head
            .lines()
            .find_map(|line| line.strip_prefix("set-cookie: "));
        let cookie = cookie.unwrap().split(';').next().unwrap().to_owned();
        Self {
            daemon,
            headers: format!("{host}Cookie: {cookie}\r\n"),
        }
    }

    fn get(&self, path: &str) -> HttpAnswer {
        self.daemon.request("GET", path, &self.headers, "")
    }

    fn post(&self, path: &str, more: &str, body: &str) -> HttpAnswer {
        let headers = format!(
            "{}{more}Content-Type: application/x-www-form-urlencoded\r\n",
            self.headers
        );
        self.daemon.request("POST", path, &headers, body)
    }

    fn form_token(&self) -> String {
        let page = self.get("/").body;
        let (_, rest) = page.split_once("name=\"form_token\" value=\"").unwrap();
        rest.split('"').next().unwrap().to_owned()
    }
}

/// A skill that reads a file, for which it needs a permission.
pub(crate) fn reader(context: &metier_testkit::TestContext) {
    context.write("secret.txt", "the secret\n");
    let code = "def look(input):\n    return read_file(\"secret.txt\")\n\nregister_workflow(\"look\", look, \"Looks.\")\n";
    workflow(context, "reader", code);
    let manifest = context.read("skills/reader/SKILL.yaml");
    let manifest = format!("{manifest}permissions: [\"file:read(./secret.txt)\"]\n");
    context.write("skills/reader/SKILL.yaml", manifest);
}

pub(crate) fn question(daemon: &Daemon) -> String {
    patience::wait_for("a question", || {
        let pending = daemon.get("/api/v1/approvals").ok();
        Some(
            pending["approvals"].as_array()?.first()?["id"]
                .as_str()?
                .to_owned(),
        )
    })
}

#[test]
fn the_page_needs_the_cookie_and_says_how_to_get_it() {
    let context = context();
    let daemon = Daemon::start(&context);
    let host = format!("Host: {}\r\n", daemon.address);
    for path in ["/", "/skills", "/skills/report", "/approvals", "/chat"] {
        let stranger = daemon.request("GET", path, &host, "");
        assert_eq!(stranger.status, 401, "{path}");
        assert!(
            stranger.body.contains("metier ui") && !stranger.body.contains("report"),
            "{stranger:?}"
        );
    }
    let visitor = Visitor::new(&daemon);
    let page = visitor.get("/skills");
    assert_eq!(page.status, 200, "{page:?}");
    assert!(page.body.contains("Writes reports."), "{}", page.body);
    for line in [
        "content-security-policy: default-src 'none'; script-src 'self'; style-src 'self'",
        "frame-ancestors 'none'",
        "x-frame-options: DENY",
        "referrer-policy: same-origin",
        "cache-control: no-store",
    ] {
        assert!(page.head.contains(line), "{}", page.head);
    }
    // The files of the page are the same for everyone.
    let style = daemon.request("GET", "/assets/page.css", &host, "");
    assert_eq!(style.status, 200);
    assert_eq!(
        daemon
            .request("GET", "/assets/..%2fmod.rs", &host, "")
            .status,
        404
    );
}

/// Another page in the same browser: it has no form token, and a different origin.
// case 143
#[test]
fn another_page_can_not_send_a_form() {
    let context = context();
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let token = visitor.form_token();
    let body = format!("form_token={token}");
    let ours = format!("Origin: http://{}\r\n", daemon.address);
    for (origin, body, expected) in [
        (ours.as_str(), body.as_str(), 303),
        ("", "", 403),
        ("", "form_token=guess", 403),
        ("Origin: http://evil.example\r\n", &body, 403),
        ("Origin: null\r\n", &body, 403),
    ] {
        let answer = visitor.post("/do/refresh", origin, body);
        assert_eq!(answer.status, expected, "{origin} {body}");
    }
    // The cookie alone does not give access to the API for programs either, and the form token is not valid there.
    let refused = visitor.post("/api/v1/refresh", "", &body).refused();
    assert_eq!(refused, (403, "missing-header".to_owned()));
    let evil = daemon.request(
        "GET",
        "/",
        &visitor
            .headers
            .replace(&format!("Host: {}", daemon.address), "Host: evil.example"),
        "",
    );
    assert_eq!(evil.status, 421);
}

#[test]
fn a_link_for_another_browser_needs_the_token() {
    let context = context();
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let headers = format!("{}X-Metier-Request: 1\r\n", visitor.headers);
    let refused = daemon
        .request("POST", "/api/v1/links", &headers, "")
        .refused();
    assert_eq!(refused, (403, "not-permitted".to_owned()));
    let printed = context.run(&["ui", "--no-open", "--json"]);
    let link: serde_json::Value = serde_json::from_str(&printed.stdout).unwrap();
    let link = link["link"].as_str().unwrap();
    let path = link.split_once(&daemon.address).unwrap().1;
    let host = format!("Host: {}\r\n", daemon.address);
    assert_eq!(daemon.request("GET", path, &host, "").status, 200);
    assert_eq!(
        daemon.request("GET", path, &host, "").status,
        401,
        "the link works once"
    );
    let browser = format!("{host}Accept: text/html\r\n");
    let used = daemon.request("GET", path, &browser, "");
    assert!(used.body.contains("this link was used before"), "{used:?}");
    let stranger = daemon.request("GET", "/", &browser, "");
    assert!(stranger.body.contains("Sign in"), "{stranger:?}");
    assert!(!stranger.body.contains("token is required"), "{stranger:?}");
}

#[test]
fn two_tabs_answer_one_question_once() {
    let context = context();
    reader(&context);
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let mut socket = daemon.socket();
    socket.say(
        &json!({ "id": 1, "type": "execute_skill", "name": "reader", "approvals": "ask" })
            .to_string(),
    );
    let id = question(&daemon);
    let card = visitor.get("/approvals").body;
    assert!(card.contains("read files: ./secret.txt"), "{card}");
    let act = format!("/do/approvals/{id}");
    let token = visitor.form_token();
    let first = visitor.post(
        &act,
        "",
        &format!("form_token={token}&answer=once&back=/approvals"),
    );
    assert_eq!(first.status, 303, "{first:?}");
    let second = visitor.post(
        &act,
        "",
        &format!("form_token={token}&answer=no&back=/approvals"),
    );
    assert_eq!(second.status, 404, "{second:?}");
    assert!(
        second.body.contains("no open question has this id"),
        "{second:?}"
    );
    assert_eq!(
        socket.hear()["content"],
        "the secret\n",
        "the first answer counts"
    );
}

#[test]
fn an_address_without_a_view_is_a_page_for_people_only() {
    let context = context();
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let headers = format!("{}Accept: text/html,*/*\r\n", visitor.headers);
    let page = daemon.request("GET", "/skils", &headers, "");
    assert_eq!(page.status, 404);
    assert!(page.body.contains("<h1>Not found</h1>"), "{page:?}");
    let program = visitor.get("/skils").refused();
    assert_eq!(program, (404, "not-found".to_owned()));
}

#[test]
fn what_was_typed_stays_in_a_form_that_did_not_work() {
    let context = context();
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let token = visitor.form_token();
    let sent = |act: &str, fields: &str| {
        visitor
            .post(act, "", &format!("form_token={token}&{fields}"))
            .body
    };
    let chat = sent("/do/sessions", "task=count+the+words");
    assert!(
        chat.contains(">count the words</textarea>") && chat.contains("metier config agent.model"),
        "{chat}"
    );
    let install = sent("/do/installs", "source=./nowhere&names=pdf");
    assert!(
        install.contains("value=\"./nowhere\"") && install.contains("value=\"pdf\""),
        "{install}"
    );
}

/// The forms of a skill name it by its folder, since another skill may have its name.
#[test]
fn a_permission_that_is_revoked_is_asked_for_again() {
    let context = context();
    reader(&context);
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let token = visitor.form_token();
    let shown = daemon.get("/api/v1/skills/reader").ok();
    let [folder, digest] = ["path", "digest"].map(|key| shown[key].as_str().unwrap());
    for (decision, state) in [("allow", "allowed"), ("forget", "ask")] {
        let body = format!("form_token={token}&skill={folder}&digest={digest}&decision={decision}");
        let sent = visitor.post("/do/permissions", "", &body);
        assert_eq!(sent.status, 303, "{sent:?}");
        let known = daemon.get("/api/v1/permissions?skill=reader").ok();
        assert_eq!(known["permissions"][0]["state"], state, "{known}");
    }
    // Without a skill in the folder there are no answers to revoke.
    let nothing = format!("form_token={token}&skill=/nowhere/reader&decision=forget");
    assert_eq!(visitor.post("/do/permissions", "", &nothing).status, 404);
}

/// A page can be open for hours. Its buttons allow what it showed, or nothing.
// case 212
#[test]
fn a_decision_is_about_the_bytes_that_were_shown() {
    let context = context();
    reader(&context);
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let token = visitor.form_token();
    let page = visitor.get("/skills/reader").body;
    let shown = daemon.get("/api/v1/skills/reader").ok();
    let [folder, digest] = ["path", "digest"].map(|key| shown[key].as_str().unwrap());
    assert!(
        page.contains(&format!("name=\"digest\" value=\"{digest}\"")),
        "{page}"
    );

    let narrow = context.read("skills/reader/SKILL.yaml");
    let wider = narrow.replace("file:read(./secret.txt)", "file:write(./**)");
    assert_ne!(narrow, wider);
    context.write("skills/reader/SKILL.yaml", wider);
    let form = format!("form_token={token}&skill={folder}&digest={digest}&decision=allow");
    assert_eq!(visitor.post("/do/permissions", "", &form).status, 409);
    let without = format!("form_token={token}&skill={folder}&digest=&decision=allow");
    assert_eq!(visitor.post("/do/permissions", "", &without).status, 400);
    let body = json!({ "skill": folder, "digest": digest, "decision": "allow" });
    let refused = daemon.post("/api/v1/permissions", &body).refused();
    assert_eq!(refused, (409, "other-bytes".to_owned()));
    let stored = daemon.get("/api/v1/permissions").ok();
    assert_eq!(stored["approvals"], json!([]));
}

/// A page of a list has the same size for ten skills and for thousands, readable or not.
#[test]
fn thousands_of_invalid_skills_are_pages() {
    let context = context();
    for number in 0..2_000 {
        context.write(
            &format!("skills/broken-{number:04}/SKILL.md"),
            "---\nname: [\n",
        );
    }
    let daemon = Daemon::start(&context);
    let visitor = Visitor::new(&daemon);
    let list = visitor.get("/skills?status=invalid").body;
    assert!(
        list.contains("1–100 of 2,000 skills") && list.contains("page 1 of 20"),
        "{list}"
    );
    assert!(list.len() < 120_000, "{}", list.len());
    let overview = visitor.get("/").body;
    assert!(overview.contains("1,996 more skills invalid"), "{overview}");
    assert!(overview.len() < 30_000, "{}", overview.len());
    let last = visitor.get("/skills?status=invalid&cursor=1900").body;
    assert!(last.contains("broken-1999"), "{last}");
}
