//! A browser for a test: Chromium, driven over WebDriver.
//!
//! WebDriver is JSON over HTTP, and a test needs a dozen of its commands. The crates for it bring an asynchronous runtime and twenty other packages;
//! this is smaller than using one.

use std::{
    io::{BufRead as _, BufReader},
    process::{Child, Command, Stdio},
    time::Duration,
};

use metier_testkit::{NotRun, needs, patience};
use serde_json::{Value, json};
use tempfile::TempDir;

/// What Chromium must not do in a test: ask the network for anything of its own.
const FLAGS: &[&str] = &[
    "--headless",
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    "--window-size=1280,900",
];

/// A window. It is closed with this value.
pub(crate) struct Browser {
    driver: Child,
    session: String,
    _profile: TempDir,
}

impl Browser {
    pub(crate) fn open() -> Result<Self, NotRun> {
        let chromium = needs::program("chromium")?;
        let program = needs::program("chromedriver")?;
        let profile = tempfile::tempdir().unwrap();
        let mut driver = Command::new(program)
            .arg("--port=0")
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .env("HOME", profile.path())
            .spawn()
            .unwrap();
        let mut lines = BufReader::new(driver.stdout.take().unwrap()).lines();
        let port = lines.find_map(|line| {
            let line = line.unwrap();
            let (_, port) = line.split_once("started successfully on port ")?;
            port.trim_end_matches('.').parse::<u16>().ok()
        });
        let root = format!(
            "http://127.0.0.1:{}/session",
            port.expect("chromedriver says its port")
        );
        let folder = format!(
            "--user-data-dir={}",
            profile.path().join("profile").display()
        );
        let flags: Vec<&str> = FLAGS.iter().copied().chain([folder.as_str()]).collect();
        let wanted = json!({ "capabilities": { "alwaysMatch": {
            "goog:chromeOptions": { "args": flags, "binary": chromium },
        } } });
        let opened = send(&root, &wanted);
        let id = opened["sessionId"].as_str().unwrap();
        Ok(Self {
            session: format!("{root}/{id}"),
            driver,
            _profile: profile,
        })
    }

    pub(crate) fn go(&self, url: &str) {
        self.command("url", &json!({ "url": url }));
    }

    /// What a script of the test returns. The policy of the page does not apply to it.
    pub(crate) fn script(&self, code: &str) -> Value {
        self.command("execute/sync", &json!({ "script": code, "args": [] }))
    }

    /// The text of the page, as it is seen.
    pub(crate) fn text(&self) -> String {
        let text = self.script("return document.body.innerText");
        text.as_str().unwrap_or_default().to_owned()
    }

    /// Waits until the page shows a text.
    #[track_caller]
    pub(crate) fn shows(&self, text: &str) {
        patience::wait_until(&format!("the page shows `{text}`"), || {
            self.text().contains(text)
        });
    }

    /// Presses keys, one after the other. `Tab` and `Enter` have names.
    pub(crate) fn press(&self, keys: &[&str]) {
        let press = |key: &&str| {
            let value = match *key {
                "Tab" => "\u{e004}",
                "Enter" => "\u{e007}",
                key => key,
            };
            [
                json!({ "type": "keyDown", "value": value }),
                json!({ "type": "keyUp", "value": value }),
            ]
        };
        let actions: Vec<Value> = keys.iter().flat_map(press).collect();
        self.command(
            "actions",
            &json!({ "actions": [{ "type": "key", "id": "keys", "actions": actions }] }),
        );
    }

    /// Clicks the first element that a selector finds, with the mouse.
    #[track_caller]
    pub(crate) fn click(&self, selector: &str) {
        let found = self.command(
            "element",
            &json!({ "using": "css selector", "value": selector }),
        );
        let id = found
            .as_object()
            .unwrap()
            .values()
            .next()
            .unwrap()
            .as_str()
            .unwrap();
        self.command(&format!("element/{id}/click"), &json!({}));
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        send(&format!("{}/{name}", self.session), body)
    }
}

impl Drop for Browser {
    fn drop(&mut self) {
        ureq::delete(&self.session).call().ok();
        self.driver.kill().ok();
        self.driver.wait().ok();
    }
}

#[track_caller]
fn send(url: &str, body: &Value) -> Value {
    let request = ureq::post(url)
        .config()
        .timeout_global(Some(Duration::from_secs(120)))
        .http_status_as_error(false)
        .build();
    let mut answer = request
        .content_type("application/json")
        .send(body.to_string())
        .unwrap();
    let text = answer.body_mut().read_to_string().unwrap();
    let document: Value = serde_json::from_str(&text).unwrap();
    assert!(answer.status().is_success(), "{url}: {text}");
    document["value"].clone()
}
