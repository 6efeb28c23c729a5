"""Chromium uses the page of `metier serve` as a person would, axe-core judges it, and pictures of it are made. WebDriver is JSON over HTTP."""

import base64
import contextlib
import http.server
import json
import os
import pathlib
import re
import signal
import subprocess
import sys
import tempfile
import threading
import time
import urllib.error
import urllib.parse
import urllib.request

from agents import Model
from checks import METIER, SKILLS, check, metier

PICTURES, AXE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
PATIENCE = 30
HOME = pathlib.Path(os.environ["HOME"])
FLAGS = (
    "--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update "
    "--disable-sync --disable-dev-shm-usage --hide-scrollbars"
).split()
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " "}

# Every view: its name, its address, its key after `g`, its title.
VIEWS = [
    ("overview", "/", "o", "Skills on this machine"),
    ("skills", "/skills", "s", "Skills"),
    ("skill", "/skills/tally", None, "tally"),
    ("approvals", "/approvals", "a", "Approvals"),
    ("why", "/why?task=write+a+report+about+a+text", "w", "Why"),
    ("compose", "/compose?skill=report&skill=rfc-writer", "c", "Compose"),
    ("install", "/install", "i", "Install"),
    ("chat", "/chat", "t", "Chat"),
    ("receipts", "/receipts", "r", "Receipts"),
    ("usage", "/usage", "u", "Usage"),
]
HOSTILE = """---
name: hostile
description: '<script>alert(1)</script><b>x</b>'
license: '<style>*{display:none}</style>'
---
# <script>document.title = "taken"</script>
<div class="approval"><form method=post action=/do/approvals/requests.1><button class=always>Always</button></form></div>
<img src=http://127.0.0.1:1/x.png onerror=alert(1)> ![p](http://127.0.0.1:1/p.png)

[js](javascript:alert(1)) [bank](https://bank.example@evil.example/) <svg onload=alert(1)>
"""


class Daemon:
    """`metier serve`, on a port that stays."""

    def __init__(self, model=None):
        self.address = "127.0.0.1:0"
        self.environment = dict(os.environ)
        if model:
            self.environment |= {"OPENAI_BASE_URL": model.url, "OPENAI_API_KEY": "none"}

    def start(self):
        command = [METIER, "serve", "--listen", self.address, "--json"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True, env=self.environment)
        self.started = json.loads(self.process.stdout.readline())
        self.url, self.link = self.started["url"], self.started["link"]
        self.address = self.url.removeprefix("http://")
        self.token = pathlib.Path(self.started["token_file"]).read_text().strip()

    def end(self):
        self.process.send_signal(signal.SIGTERM)
        self.process.wait(20)

    def api(self, method, path, body=None):
        data = None if body is None else json.dumps(body).encode()
        headers = {"Authorization": f"Bearer {self.token}", "Content-Type": "application/json"}
        request = urllib.request.Request(f"{self.url}/api/v1{path}", data, headers, method=method)
        try:
            return json.load(urllib.request.urlopen(request, timeout=PATIENCE * 10))
        except urllib.error.HTTPError as error:
            return json.load(error)

    def new_link(self):
        return self.url + self.api("POST", "/links")["path"]


class Browser:
    """A window."""

    def __enter__(self):
        self.profile = tempfile.TemporaryDirectory(ignore_cleanup_errors=True)
        self.driver = subprocess.Popen(["chromedriver", "--port=0"], stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True)
        for line in self.driver.stdout:
            if found := re.search(r"started successfully on port (\d+)", line):
                self.root = f"http://127.0.0.1:{found.group(1)}/session"
                break
        options = {"args": [*FLAGS, f"--user-data-dir={self.profile.name}"]}
        wanted = {"goog:chromeOptions": options, "goog:loggingPrefs": {"browser": "ALL"}}
        opened = self.send("POST", self.root, {"capabilities": {"alwaysMatch": wanted}})
        self.session = f"{self.root}/{opened['sessionId']}"
        self.look(1280, "light")
        return self

    def __exit__(self, *_):
        with contextlib.suppress(Exception):
            self.send("DELETE", self.session)
        self.driver.terminate()
        self.profile.cleanup()

    def send(self, method, url, body=None):
        data = None if body is None else json.dumps(body).encode()
        request = urllib.request.Request(url, data, {"Content-Type": "application/json"}, method=method)
        try:
            return json.load(urllib.request.urlopen(request, timeout=PATIENCE))["value"]
        except urllib.error.HTTPError as error:
            raise RuntimeError(error.read().decode()[:400]) from None

    def command(self, name, body):
        return self.send("POST", f"{self.session}/{name}", body)

    def chrome(self, name, **parameters):
        return self.command("goog/cdp/execute", {"cmd": name, "params": parameters})

    def look(self, width, theme):
        """The width of the window and the theme of the system."""
        height = 900 if width > 500 else 844
        self.chrome("Emulation.setDeviceMetricsOverride", width=width, height=height, deviceScaleFactor=1, mobile=width < 500)
        self.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}])

    def go(self, url):
        self.command("url", {"url": url})

    def script(self, code, *arguments):
        return self.command("execute/sync", {"script": code, "args": list(arguments)})

    def text(self):
        return self.script("return document.body.innerText") or ""

    def shows(self, text):
        return wait(lambda: text in self.text())

    def press(self, *keys):
        actions = []
        for key in keys:
            value = KEYS.get(key, key)
            actions += [{"type": "keyDown", "value": value}, {"type": "keyUp", "value": value}]
        self.command("actions", {"actions": [{"type": "key", "id": "keys", "actions": actions}]})

    def type(self, text):
        self.press(*text)

    def click(self, selector):
        found = self.command("element", {"using": "css selector", "value": selector})
        self.command(f"element/{next(iter(found.values()))}/click", {})

    def tab_to(self, code):
        """Presses Tab until a condition about the focused element holds."""
        for _ in range(200):
            self.press("Tab")
            if self.script(f"const e = document.activeElement; return Boolean({code})"):
                return True
        return False

    def picture(self, file):
        file.write_bytes(base64.b64decode(self.chrome("Page.captureScreenshot", format="png")["data"]))

    def judged(self):
        """The serious findings of axe-core."""
        self.chrome("Runtime.evaluate", expression=AXE.read_text())
        code = "const done = arguments[0]; axe.run().then((r) => done(r.violations.filter((v) => ['serious', 'critical'].includes(v.impact)).map((v) => `${v.id}: ${v.nodes[0].html}`)))"
        return self.command("execute/async", {"script": code, "args": []})


def wait(look):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(RuntimeError):
            if value := look():
                return value
        time.sleep(0.05)
    return None


def write(name, text):
    file = SKILLS / name / "SKILL.md"
    file.parent.mkdir(exist_ok=True)
    file.write_text(text)


def plain(name, description):
    write(name, f"---\nname: {name}\ndescription: {description}\n---\nFollow this.\n")


def ask(daemon):
    """A program that waits for an answer; the list gets its result."""
    result = []
    body = {"input": {"path": "notes.txt"}, "approvals": "ask"}
    thread = threading.Thread(target=lambda: result.append(daemon.api("POST", "/skills/tally/tools/count", body)))
    thread.start()
    question = wait(lambda: daemon.api("GET", "/approvals")["approvals"])
    return thread, result, question[0]["id"]


def views(browser, daemon):
    browser.go(daemon.url)
    missing = []
    for name, address, key, title in VIEWS:
        if key is None:
            browser.go(daemon.url + "/skills")
            browser.click(f"a[href='{address}']")
        else:
            browser.click(f".menu a[data-key='{key}']")
        if wait(lambda: browser.script("return document.querySelector('h1').innerText") == title) is None:
            missing.append(name)
    check("every view with the mouse", not missing, missing)
    for name, address, key, title in VIEWS:
        if key is None:
            browser.go(daemon.url + "/skills")
            if not browser.tab_to(f"e.getAttribute('href') === '{address}'"):
                missing.append(f"{name}: no focus")
            browser.press("Enter")
        else:
            browser.press("Escape", "g", key)
        if wait(lambda: browser.script("return document.querySelector('h1').innerText") == title) is None:
            missing.append(name)
        if not browser.tab_to("e === document.querySelector('main a, main button, main input:not([type=hidden]), main select, main textarea, main summary, main [tabindex=\"0\"]')"):
            missing.append(f"{name}: the content has no focus")
        if not browser.script("return getComputedStyle(document.activeElement).outlineStyle !== 'none'"):
            missing.append(f"{name}: the focus is not visible")
    check("every view with the keyboard", not missing, missing)


def seeing(browser, daemon):
    browser.go(daemon.url + "/skills")
    browser.shows("live")
    browser.press("/")
    browser.type("rfc")
    followed = wait(lambda: "rfc-writer" in browser.text() and "no-secrets" not in browser.text())
    check("a search follows what is typed", followed, browser.text())
    browser.go(daemon.url + "/skills")
    browser.shows("live")
    plain("appears", "Appears at once.")
    check("a skill that appears is shown", browser.shows("Appears at once."), browser.text())
    write("unreadable", "---\nname: [\n")
    browser.go(daemon.url)
    invalid = wait(lambda: browser.script("return document.querySelector('a.tile[href=\"/skills?status=invalid\"] .figure').innerText") == "1")
    ready = daemon.api("GET", "/skills?status=ready")["skills"]
    check("an invalid skill is counted and not ready", invalid and all(row["name"] != "unreadable" for row in ready), browser.text())
    plain("git", "The git of this user.")
    browser.go(daemon.url + "/skills?status=shadowed")
    shadowed = wait(lambda: (browser.go(daemon.url + "/skills?status=shadowed"), "git" in browser.text())[1])
    check("a skill of the user shadows a built-in one", shadowed and daemon.api("GET", "/skills/git")["source"] != "builtin", browser.text())
    browser.go(daemon.url + "/skills/report/files/..%2F..%2F..%2F..%2Fproject%2Fnotes.txt")
    check("a file outside a skill is refused", "This did not work" in browser.text() and "three" not in browser.text(), browser.text())
    browser.go(daemon.url)
    browser.click("form[action='/do/refresh'] button")
    sent = wait(lambda: browser.script("return performance.getEntriesByType('navigation')[0].redirectCount") == 1)
    check("refresh", sent and browser.shows("Skills on this machine"), browser.text())


def deciding(browser, daemon):
    browser.go(daemon.url + "/skills/counter")
    browser.click("form[action='/do/tools/counter'] button")
    wait(lambda: browser.script("return document.querySelector('.tool input[type=text]') !== null"))
    browser.click(".tool input[type=text]")
    browser.type("notes.txt")
    browser.press("Enter")
    check("a tool is tried with the form of its schema", browser.shows("✓ ok"), browser.text())
    browser.go(daemon.url + "/skills/tally")
    browser.click("#permissions .choices button")
    allowed = browser.shows("✓ allowed")
    browser.click("#permissions .choices button")
    check("a permission is allowed and revoked", allowed and browser.shows("! ask"), browser.text())
    browser.go(daemon.url)
    browser.shows("live")
    thread, result, _ = ask(daemon)
    noticed = browser.shows("A skill waits for your answer.")
    browser.press("g", "a")
    browser.shows("asks")
    for width, theme in [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]:
        browser.look(width, theme)
        browser.picture(PICTURES / f"approvals-{width}-{theme}.png")
    browser.look(1280, "light")
    browser.tab_to("e.matches('.approval button.once')")
    browser.press("Enter")
    thread.join(PATIENCE)
    check("a question is answered while a program waits", noticed and result and result[0].get("is_error") is False, result)
    thread, result, question = ask(daemon)
    browser.go(daemon.url + "/approvals")
    browser.shows("asks")
    second = browser.script(
        "const f = document.querySelector('.approval .choices form:last-child'); const b = new URLSearchParams(new FormData(f));"
        "const first = new URLSearchParams(new FormData(document.querySelector('.approval .choices form')));"
        "const send = (body) => { const r = new XMLHttpRequest(); r.open('POST', f.action, false); r.send(body); return [r.status, r.responseText.includes('does not wait')]; };"
        "return [send(first), send(b)]"
    )
    thread.join(PATIENCE)
    once = second[1] == [404, True] and result and result[0].get("is_error") is False
    check("two tabs answer one question once", once, [second, result])


def explaining(browser, daemon):
    browser.go(daemon.url + "/why")
    browser.press("/")
    browser.type("write a report")
    browser.press("Enter")
    shown = browser.shows("picked of") and browser.script("return document.querySelectorAll('.account .bar').length") > 0
    check("a task is explained", shown, browser.text())
    browser.go(daemon.url + "/compose")
    for name in ["report", "rfc-writer"]:
        browser.press("/")
        browser.type(name)
        browser.press("Escape", "Escape")
        browser.click(".filters button")
        wait(lambda: name in browser.text())
    check("a set is composed", browser.shows("The set can be used."), browser.text())
    browser.go(daemon.url + "/receipts")
    browser.click("a[href='/receipts?verify=true']")
    check("the chain of receipts is whole", browser.shows("The chain is whole"), browser.text())
    browser.go(daemon.url + "/chat")
    browser.press("/")
    browser.type("say something")
    browser.click(".ask button")
    said = browser.shows("The script is over.")
    browser.picture(PICTURES / "session-1280-light.png")
    check("a chat with a scripted model", said and browser.shows("tokens in"), browser.text())
    browser.chrome("Emulation.setScriptExecutionDisabled", value=True)
    browser.go(daemon.url)
    browser.click("form[action='/do/refresh'] button")
    title = browser.command("element", {"using": "css selector", "value": "h1"})
    browser.chrome("Emulation.setScriptExecutionDisabled", value=False)
    check("forms work without script", title, title)


class Elsewhere(http.server.BaseHTTPRequestHandler):
    """A page of another origin."""

    def do_GET(self):
        self.send_response(200)
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(b"<!doctype html><title>elsewhere</title><iframe id=f></iframe>")

    def log_message(self, *_):
        pass


def installing(browser, daemon):
    source = HOME / "offered" / "newcomer"
    source.mkdir(parents=True)
    (source / "SKILL.md").write_text("---\nname: newcomer\ndescription: Comes from a folder.\n---\nFollow this.\n")
    browser.go(daemon.url + "/install")
    browser.press("/")
    browser.type(str(source))
    browser.press("Enter")
    card = browser.shows("Place newcomer")
    browser.picture(PICTURES / "card-1280-light.png")
    browser.click("main form button.primary")
    placed = browser.shows("installed") and wait(lambda: daemon.api("GET", "/skills/newcomer").get("status") == "ready")
    browser.go(daemon.url + "/install")
    browser.click("form[action='/do/undo'] button")
    undone = wait(lambda: "error" in daemon.api("GET", "/skills/newcomer"))
    check("a skill is installed from its card, and that is undone", card and placed and undone, browser.text())


def refusing(browser, daemon):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    browser.go(f"http://127.0.0.1:{server.server_port}/")
    code = """
      const [url, done] = [arguments[0], arguments[1]];
      const out = {};
      const attempt = async (name, work) => { try { out[name] = await work(); } catch (e) { out[name] = 'refused'; } };
      (async () => {
        await attempt('read', async () => (await fetch(url + '/api/v1/skills', { credentials: 'include' })).status);
        await attempt('page', async () => (await fetch(url + '/', { credentials: 'include' })).status);
        await attempt('post', async () => (await fetch(url + '/do/refresh', { method: 'POST', mode: 'no-cors', credentials: 'include', body: 'x' })).type);
        await attempt('socket', () => new Promise((ok, no) => { const s = new WebSocket(url.replace('http', 'ws') + '/ws'); s.onopen = () => ok('open'); s.onerror = no; }));
        const frame = document.getElementById('f');
        frame.src = url + '/';
        await new Promise((ok) => { frame.onload = ok; setTimeout(ok, 3000); });
        try { out.frame = frame.contentDocument ? frame.contentDocument.body.innerText : 'refused'; } catch { out.frame = 'refused'; }
        done(out);
      })();
    """
    before = daemon.api("GET", "/status")["generation"]
    out = browser.command("execute/async", {"script": code, "args": [daemon.url]})
    after = daemon.api("GET", "/status")["generation"]
    server.shutdown()
    kept = out["read"] == out["page"] == out["socket"] == "refused" and out["post"] in ("refused", "opaque") and before == after
    check("another origin can't read, post or frame the page", kept and "Skills on this machine" not in out["frame"], out)
    browser.go(daemon.url + "/skills/hostile")
    seen = browser.script("return [document.title, document.querySelectorAll('img, .foreign script, .foreign form, .foreign button, .foreign svg').length, document.querySelector('.foreign').innerText.includes('(evil.example)')]")
    browser.picture(PICTURES / "hostile-1280-light.png")
    check("nothing of a hostile skill runs or is loaded", seen == ["hostile · metier", 0, True], seen)


def looking(browser, daemon):
    sideways, found = [], {"light": [], "dark": []}
    for name, address, _, title in VIEWS:
        for width, theme in [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]:
            browser.look(width, theme)
            browser.go(daemon.url + address)
            browser.shows("live")
            wide = browser.script("return document.documentElement.scrollWidth > window.innerWidth")
            if wide:
                sideways.append(f"{name} {width}")
            is_kept = (width, theme) in [(1280, "light"), (390, "dark")] or name in ("overview", "skill")
            if is_kept and name != "approvals":
                browser.picture(PICTURES / f"{name}-{width}-{theme}.png")
            if (width, theme) in [(1280, "light"), (1280, "dark"), (390, "dark")]:
                found[theme] += [f"{name} {width}: {one}" for one in browser.judged()]
    check("no view scrolls sideways on a phone", not sideways, sideways)
    for theme, violations in found.items():
        check(f"axe-core has no serious finding in the {theme} theme", not violations, violations)
    browser.look(1280, "light")
    browser.chrome("Network.enable")
    browser.chrome("Network.setCacheDisabled", cacheDisabled=True)
    browser.go(daemon.url)
    size = browser.script("const n = performance.getEntriesByType('navigation')[0].transferSize; return performance.getEntriesByType('resource').reduce((s, e) => s + e.transferSize, n)")
    paint = browser.script("return performance.getEntriesByType('paint').map((e) => Math.round(e.startTime))")
    check("the first view is below 200 KB", size < 200_000, f"{size} bytes, first paint after {paint} ms")


def main():
    PICTURES.mkdir(exist_ok=True)
    write("hostile", HOSTILE)
    metier("config", "agent.model", "openai/scripted")
    with Model([], "") as model, Browser() as browser:
        daemon = Daemon(model)
        daemon.start()
        try:
            browser.go(daemon.link)
            first = browser.shows("Skills on this machine")
            browser.go(daemon.link)
            check("the link works once", first and "not known here" in browser.text(), browser.text())
            browser.go(daemon.new_link())
            browser.shows("Skills on this machine")
            for part in (views, seeing, deciding, explaining, installing, refusing, looking):
                part(browser, daemon)
            browser.go(daemon.url + "/skills/report")
            browser.shows("live")
            daemon.end()
            lost = browser.shows("not connected")
            daemon.start()
            again = browser.shows("live")
            browser.press("g", "s")
            check("the page connects again when the daemon was started again", lost and again and browser.shows("rfc-writer"), browser.text())
            log = browser.command("se/log", {"type": "browser"})
            ours = [one["message"] for one in log if daemon.address in one["message"] and "status of 4" not in one["message"] and "ERR_" not in one["message"]]
            check("nothing is reported in the console", not ours, ours)
        finally:
            daemon.end()


main()
