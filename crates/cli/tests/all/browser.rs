//! The page in a real browser: tests that our own requests can't replace, such as the headers that a browser sends with a form.
//!
//! One test, because a browser takes seconds to start; `cargo xtask judge page` clicks through everything. WebDriver is JSON over HTTP.

use std::{
    fs::File,
    io::{BufRead as _, BufReader},
    os::unix::process::CommandExt as _,
    process::{Child, Command, Stdio},
};

use metier_testkit::{NotRun, TestContext, needed, needs, patience};
use rustix::process::{Pid, Signal, kill_process_group};
use serde_json::{Value, json};
use tempfile::TempDir;

use crate::{
    page::{question, reader},
    test_daemon::{Daemon, context, skill},
};

/// Nothing is fetched or sent except what a test requests.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-dev-shm-usage",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    // A name that an attacker made to resolve to this machine.
    "--host-resolver-rules=MAP rebound.example 127.0.0.1",
];

/// A window of Chromium. Dropping it ends everything that was started for it.
struct Browser {
    driver: Child,
    session: String,
    agent: ureq::Agent,
    _profile: TempDir,
}

impl Browser {
    fn start() -> Result<Self, NotRun> {
        let chromium = needs::program("chromium")?;
        let driver = needs::program("chromedriver")?;
        let profile = tempfile::tempdir().unwrap();
        let log = profile.path().join("driver.log");
        let mut driver = Command::new(driver)
            .arg("--port=0")
            .env("HOME", profile.path())
            // A separate process group: it contains the browser's processes, which are killed together.
            .process_group(0)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(File::create(log).unwrap())
            .spawn()
            .unwrap();
        let said = BufReader::new(driver.stdout.take().unwrap());
        let mut lines = said.lines().map_while(Result::ok);
        let port = lines.find_map(|line| {
            let (_, port) = line.split_once("started successfully on port ")?;
            Some(port.trim_end_matches('.').to_owned())
        });
        let config = ureq::Agent::config_builder()
            .timeout_global(Some(patience::PATIENCE))
            .http_status_as_error(false);
        let mut browser = Self {
            driver,
            session: format!("http://127.0.0.1:{}/session", port.unwrap()),
            agent: config.build().into(),
            _profile: profile,
        };
        let data = browser._profile.path().join("data");
        let data = format!("--user-data-dir={}", data.display());
        let flags: Vec<&str> = FLAGS.iter().copied().chain([data.as_str()]).collect();
        let options = json!({ "binary": chromium, "args": flags });
        let wanted =
            json!({ "goog:chromeOptions": options, "goog:loggingPrefs": { "browser": "ALL" } });
        let opened = browser.send("", &json!({ "capabilities": { "alwaysMatch": wanted } }));
        browser.session = format!(
            "{}/{}",
            browser.session,
            opened["sessionId"].as_str().unwrap()
        );
        Ok(browser)
    }

    /// A command that may fail.
    fn try_send(&self, command: &str, body: &Value) -> Result<Value, Value> {
        let request = self
            .agent
            .post(format!("{}{command}", self.session))
            .header("Content-Type", "application/json");
        let mut answer = request.send(body.to_string()).unwrap();
        let text = answer.body_mut().read_to_string().unwrap();
        let value: Value = serde_json::from_str(&text).unwrap();
        match value["value"]["error"].is_string() {
            true => Err(value["value"].clone()),
            false => Ok(value["value"].clone()),
        }
    }

    #[track_caller]
    fn send(&self, command: &str, body: &Value) -> Value {
        let done = self.try_send(command, body);
        done.unwrap_or_else(|error| panic!("{command}: {error}"))
    }

    fn go(&self, url: &str) {
        self.send("/url", &json!({ "url": url }));
    }

    /// The result of a script in the page.
    fn script(&self, code: &str) -> Value {
        let body = json!({ "script": code, "args": [] });
        // The page may be replaced while the script runs.
        self.try_send("/execute/sync", &body).unwrap_or_default()
    }

    fn text(&self) -> String {
        let text = self.script("return document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    #[track_caller]
    fn shows(&self, text: &str) {
        patience::wait_until(text, || self.text().contains(text));
    }

    fn press(&self, keys: &str) {
        let keys: Vec<Value> = keys
            .chars()
            .flat_map(|key| ["keyDown", "keyUp"].map(|kind| json!({ "type": kind, "value": key })))
            .collect();
        let actions = json!([{ "type": "key", "id": "keys", "actions": keys }]);
        self.send("/actions", &json!({ "actions": actions }));
    }

    #[track_caller]
    fn click(&self, selector: &str) {
        let wanted = json!({ "using": "css selector", "value": selector });
        let found = patience::wait_for(selector, || self.try_send("/element", &wanted).ok());
        let id = found.as_object().unwrap().values().next().unwrap();
        let id = id.as_str().unwrap();
        self.send(&format!("/element/{id}/click"), &json!({}));
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        self.agent.delete(&self.session).call().ok();
        if let Some(group) = i32::try_from(self.driver.id()).ok().and_then(Pid::from_raw) {
            kill_process_group(group, Signal::KILL).ok();
        }
        self.driver.wait().ok();
    }
}

fn machine() -> TestContext {
    let context = context();
    reader(&context);
    skill(
        &context,
        "merge-tables",
        "Joins two tables.",
        "Join them.\n",
    );
    let hostile = "# <script>document.title = 'taken'</script>\n<form action=/do/refresh><button>Always</button></form>\n<img src=x onerror=alert(1)>\n";
    skill(&context, "hostile", "'<b>x</b>'", hostile);
    context
}

// case 143
#[test]
fn a_browser_uses_the_page() {
    let browser = needed!(Browser::start());
    let context = machine();
    let daemon = Daemon::start(&context);
    let url = format!("http://{}", daemon.address);
    browser.go(&daemon.link);
    browser.shows("Skills on this machine");
    browser.shows("live");
    // A form, as the browser sends it.
    browser.click("form[action='/do/refresh'] button");
    patience::wait_until("the form was sent", || {
        let navigation = "return performance.getEntriesByType('navigation')[0].redirectCount";
        browser.script(navigation) == 1 && browser.text().contains("Skills on this machine")
    });
    // With the keyboard only: open the list, and search while typing.
    browser.press("gs");
    browser.shows("Writes reports.");
    browser.shows("live");
    browser.press("/joining table");
    patience::wait_until("the search", || {
        let text = browser.text();
        text.contains("merge-tables") && !text.contains("Writes reports.")
    });
    // A question is answered while a program waits for it.
    let mut socket = daemon.socket();
    let request = json!({ "id": 1, "type": "execute_skill", "name": "reader", "approvals": "ask" });
    socket.say(&request.to_string());
    question(&daemon);
    browser.shows("A skill waits for your answer.");
    browser.click(".banner a");
    browser.click(".approval button.once");
    assert_eq!(socket.hear()["content"], "the secret\n");
    // The text of a skill is shown as text.
    browser.go(&format!("{url}/skills/hostile"));
    let taken = "return [document.title, document.querySelectorAll('.foreign :is(script, form, button, img)').length]";
    assert_eq!(browser.script(taken), json!(["hostile · metier", 0]));
    let log = browser.send("/se/log", &json!({ "type": "browser" }));
    assert_eq!(log, json!([]), "the console");
    // Other origins: a name that resolves to this machine gets no cookie and no answer, and another port can't read with the cookie.
    let port = daemon.address.rsplit_once(':').unwrap().1;
    browser.go(&format!("http://rebound.example:{port}/skills"));
    let text = browser.text();
    assert!(
        !text.contains("reports") && text.contains("Refused"),
        "{text}"
    );
    let other = Daemon::start(&self::context());
    browser.go(&other.link);
    let read = format!(
        "const done = arguments[0]; fetch('{url}/api/v1/skills', {{ credentials: 'include' }}).then((r) => done(r.status), () => done('refused'))"
    );
    let read = browser.send("/execute/async", &json!({ "script": read, "args": [] }));
    assert_eq!(read, "refused");
}
