"""Chromium uses the page of `metier serve` as a person would, axe-core judges it, and pictures of it are made."""

import contextlib
import http.server
import os
import pathlib
import shutil
import signal
import sys
import threading
import time

from agents import Model
from browser import PATIENCE, Browser, Daemon, wait
from checks import SKILLS, check, metier

PICTURES, AXE = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
HOME = pathlib.Path(os.environ["HOME"])

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
# Views that are also pictures of a phone in the dark.
PHONE = ("overview", "skill", "approvals", "why")
# What a person has: a skill for Claude, one for every agent, and one that lacks a program.
OWNED = {
    ".claude/skills/review-pr": "---\nname: review-pr\ndescription: Reviews a pull request. Use when the user asks for a review of a branch or a change.\nmetadata:\n  openclaw:\n    requires:\n      bins: [gh]\n---\nRead the change, then its tests.\n",
    ".claude/skills/release-notes": "---\nname: release-notes\ndescription: Writes release notes from commits. Use before a release.\n---\nGroup the commits by what users notice.\n",
    ".agents/skills/meeting-minutes": "---\nname: meeting-minutes\ndescription: Turns notes of a meeting into minutes with decisions and tasks.\n---\nDecisions first.\n",
}
EVIL = "<script>document.title='taken'</script><b>x</b>\u202egnp.\u200b"
LONG = "<i>" + "a b\u202e" * 50_000
CARD = '<div class="approval" id="approval-requests.1"><form method=post action=/do/approvals/requests.1><button class=always>Always</button></form></div>'
BODY = f"""# {EVIL}
{CARD}
<style>*{{display:none}}</style><svg onload=alert(1)><img src=http://127.0.0.1:1/x.png onerror=alert(1)> ![p](http://127.0.0.1:1/p.png)

[js](javascript:alert(1)) [bank](https://bank.example@evil.example/) [data](data:text/html,<script>alert(1)</script>)

| {EVIL} | b |
|---|---|
| {CARD} | c |

"""
# Text that means harm in every field of both manifests, and 200 KB of it.
HOSTILE = f"""---
name: hostile
description: '{EVIL.replace("'", "''")}'
license: '<style>*{{display:none}}</style>'
compatibility: '{EVIL.replace("'", "''")}'
allowed-tools: 'Bash(<b>x</b>)'
metadata:
  author: '{EVIL.replace("'", "''")}'
  '<b>key</b>': '{CARD}'
---
{BODY}{LONG}
"""


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

    def work():
        # The daemon may be killed meanwhile.
        with contextlib.suppress(OSError):
            result.append(daemon.api("POST", "/skills/tally/tools/count", body))

    # A question without an answer waits for ten minutes: the script must not wait with it.
    thread = threading.Thread(target=work, daemon=True)
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
    browser.press("/")
    browser.type("counting how long some texts are")
    best = "return document.querySelector('#results tbody a')?.innerText"
    found = wait(lambda: browser.script(best) in ("counter", "tally") and "no-secrets" not in browser.text())
    check("a search finds what select finds", found, browser.text())
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
    browser.shows("live")
    browser.click("form[action='/do/tools/tally'] button")
    wait(lambda: browser.script("return document.querySelector('.tool input[type=text]') !== null"))
    browser.click(".tool input[type=text]")
    browser.type("notes.txt")
    browser.press("Enter")
    asked = browser.shows("tally asks")
    browser.click(".tool .approval button.once")
    once = browser.shows("✓ ok") and wait(lambda: "tally asks" not in browser.text())
    check("a tool that is tried asks below its form", asked and once, browser.text())
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
    for width, theme in [(390, "dark"), (1280, "light")]:
        browser.look(width, theme)
        browser.picture(PICTURES / f"approvals-{width}-{theme}.png")
    browser.tab_to("e.matches('.approval button.once')")
    browser.press("Enter")
    thread.join(PATIENCE)
    check("a question is answered while a program waits", noticed and result and result[0].get("is_error") is False, result)
    thread, result, _ = ask(daemon)
    first = browser.here()
    browser.go(daemon.url + "/approvals")
    browser.shows("asks")
    second = browser.window()
    browser.go(daemon.url + "/approvals")
    browser.shows("asks")
    # The second tab does not hear of the answer before it sends its own.
    browser.script("for (const form of document.forms) document.body.append(form)")
    browser.window(first)
    browser.click(".approval button.once")
    thread.join(PATIENCE)
    browser.window(second)
    browser.script("[...document.forms].findLast((form) => form.action.includes('/do/approvals/')).submit()")
    told = browser.shows("no open question has this id")
    browser.send("DELETE", f"{browser.session}/window")
    browser.window(first)
    alone = wait(lambda: "No pending requests." in browser.text())
    check("two tabs answer one question once", told and alone and result and result[0].get("is_error") is False, result)


def outliving(browser, daemon):
    """The daemon is killed while a question is on the page, and started again."""
    browser.go(daemon.url + "/approvals")
    browser.shows("live")
    acts = len(daemon.api("GET", "/receipts?limit=10000&skill=tally")["receipts"])
    thread, _, _ = ask(daemon)
    asked = browser.shows("tally asks")
    browser.script("document.body.append(...document.querySelectorAll('.approval .choices form'))")
    daemon.end(signal.SIGKILL)
    lost = browser.shows("not connected")
    daemon.start()
    again = browser.shows("live") and browser.shows("No pending requests.")
    browser.script("[...document.forms].find((form) => form.action.includes('/do/approvals/')).submit()")
    refused = browser.shows("no open question has this id")
    thread.join(PATIENCE)
    receipts = daemon.api("GET", "/receipts?limit=10000&skill=tally")["receipts"]
    read = [one for one in receipts[: len(receipts) - acts] if one["act"] == "file:read" and one["decision"] == "allowed"]
    check("a daemon that is killed under an open page answers nothing twice", asked and lost and again and refused and not read, [lost, again, refused, read])
    browser.go(daemon.url + "/skills/report")
    browser.shows("live")
    daemon.end()
    lost = browser.shows("not connected")
    daemon.start()
    again = browser.shows("live")
    browser.press("g", "s")
    check("the page connects again when the daemon was started again", lost and again and browser.shows("rfc-writer"), browser.text())


def explaining(browser, daemon):
    browser.go(daemon.url + "/why")
    browser.press("/")
    browser.type("write a report")
    browser.press("Enter")
    shown = browser.shows("available skill") and browser.script("return document.querySelectorAll('.account .bar').length") > 0
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
    check("the chain of receipts is whole", browser.shows("The chain is intact"), browser.text())
    browser.go(daemon.url + "/chat")
    browser.press("/")
    browser.type("say something")
    browser.click(".ask button")
    said = browser.shows("The script is over.")
    browser.picture(PICTURES / "session-1280-light.png")
    check("a chat with a scripted model", said and browser.shows("tokens in"), browser.text())
    browser.chrome("Emulation.setScriptExecutionDisabled", value=True)
    browser.go(daemon.url)
    before = daemon.api("GET", "/status")["generation"]
    browser.click("form[action='/do/refresh'] button")
    listed = wait(lambda: daemon.api("GET", "/status")["generation"] > before)
    browser.go(daemon.url + "/skills?search=rfc")
    browser.click("a[href='/skills/rfc-writer']")
    browser.chrome("Emulation.setScriptExecutionDisabled", value=False)
    shown = browser.script("return [document.querySelector('h1').innerText, document.getElementById('connection').innerText]")
    check("lists and forms work without script", listed and shown == ["rfc-writer", ""], shown)


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
    for name in ("newcomer", "neighbour"):
        folder = HOME / "offered" / name
        folder.mkdir(parents=True)
        (folder / "SKILL.md").write_text(f"---\nname: {name}\ndescription: Comes from a folder.\n---\nFollow this.\n")
    browser.go(daemon.url + "/install")
    browser.press("/")
    browser.type(str(HOME / "offered"))
    browser.press("Enter")
    offered = browser.shows("Which skills?") and browser.shows("neighbour")
    browser.click(".offers input[value=newcomer]")
    browser.click(".offers button.primary")
    card = browser.shows("Install newcomer") and "Install neighbour" not in browser.text()
    browser.picture(PICTURES / "card-1280-light.png")
    browser.click("main form button.primary")
    placed = browser.shows("installed") and wait(lambda: daemon.api("GET", "/skills/newcomer").get("status") == "ready")
    browser.go(daemon.url + "/install")
    browser.click("form[action='/do/remove'] button")
    removed = wait(lambda: "error" in daemon.api("GET", "/skills/newcomer"))
    browser.go(daemon.url + "/install")
    browser.click("form[action='/do/undo'] button")
    restored = wait(lambda: daemon.api("GET", "/skills/newcomer").get("status") == "ready")
    browser.go(daemon.url + "/install")
    browser.click("form[action='/do/undo'] button")
    undone = wait(lambda: "error" in daemon.api("GET", "/skills/newcomer"))
    check("one skill of a source is chosen and installed from its card", offered and card and placed, browser.text())
    check("a skill is removed, and both changes are undone", removed and restored and undone, browser.text())


ELSEWHERE = """
  const [url, done] = [arguments[0], arguments[1]];
  const out = {};
  const attempt = async (name, work) => { try { out[name] = await work(); } catch { out[name] = "refused"; } };
  (async () => {
    const all = { credentials: "include" };
    await attempt("read", async () => (await fetch(`${url}/api/v1/skills`, all)).status);
    await attempt("page", async () => (await fetch(url, all)).status);
    await attempt("post", async () => (await fetch(`${url}/do/refresh`, { ...all, method: "POST", mode: "no-cors", body: "x" })).type);
    await attempt("socket", () => new Promise((ok, no) => { const s = new WebSocket(`${url.replace("http", "ws")}/ws`); s.onopen = () => ok("open"); s.onerror = no; }));
    await attempt("events", () => new Promise((ok, no) => { const s = new EventSource(`${url}/api/v1/events`, { withCredentials: true }); s.onopen = () => ok("open"); s.onerror = no; }));
    await attempt("script", () => new Promise((ok, no) => { const s = document.createElement("script"); s.onload = () => ok("loaded"); s.onerror = no; s.src = `${url}/api/v1/skills`; document.head.append(s); }));
    const frame = document.getElementById("f");
    frame.src = url;
    await new Promise((ok) => { frame.onload = ok; setTimeout(ok, 3000); });
    done(out);
  })();
"""


def refusing(browser, daemon):
    """A page of another port: to a browser it is the same site, so the cookie is sent with its requests."""
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Elsewhere)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    elsewhere = f"http://127.0.0.1:{server.server_port}/"
    browser.go(elsewhere)
    before = daemon.api("GET", "/status")["generation"]
    out = browser.command("execute/async", {"script": ELSEWHERE, "args": [daemon.url]})
    frame = browser.command("element", {"using": "css selector", "value": "#f"})
    browser.command("frame", {"id": frame})
    out["frame"] = browser.script("return document.documentElement.innerText")
    browser.command("frame", {"id": None})
    kept = all(out[name] == "refused" for name in ("read", "page", "socket", "events", "script")) and out["post"] in ("refused", "opaque")
    check("another origin can't read or frame the page, or open its sockets", kept and "metier" not in out["frame"], out)
    browser.script("const f = document.body.appendChild(document.createElement('form')); f.method = 'post'; f.action = arguments[0] + '/do/refresh'; f.submit()", daemon.url)
    refused = browser.shows("requests from other origins are refused")
    server.shutdown()
    check("another origin can't send a form", refused and daemon.api("GET", "/status")["generation"] == before, browser.text())
    browser.go(f"http://rebound.example:{daemon.address.rsplit(':')[-1]}/skills")
    check("a name that resolves to this machine is refused", "Refused" in browser.text() and "report" not in browser.text(), browser.text())


# Effects that a skill must not have: another title, new elements, a question that no skill asked, a page that is wider than the window.
TAKEN = """
  const own = ":is(.whose, .text, .content, .bar, .plot svg)";
  return [document.title.includes("taken"), document.querySelectorAll(`img, .approval, main style, main svg:not(${own}), .foreign :is(script, form, button, [class], [style], [id]):not(${own})`).length,
    document.documentElement.scrollWidth > window.innerWidth, performance.getEntriesByType("resource").some((one) => !one.name.startsWith(location.origin))]
"""


def hostile(browser, daemon):
    write("hostile", HOSTILE)
    wait(lambda: "error" not in daemon.api("GET", "/skills/hostile"))
    seen = {}
    for path in ("/", "/skills", "/skills?search=hostile", "/skills/hostile", "/skills/hostile/files/SKILL.md", "/why?task=/hostile", "/compose?skill=hostile", "/usage"):
        browser.go(daemon.url + path)
        seen[path] = browser.script(TAKEN)
    check("nothing of a hostile skill runs, is loaded or looks like ours", all(one == [False, 0, False, False] for one in seen.values()), seen)
    browser.go(daemon.url + "/skills/hostile")
    shown = browser.script("return document.body.innerText")
    told = "(evil.example)" in shown and "\u202e" not in shown and "more characters" in shown
    check("hidden characters, hosts and cut text of a skill are shown", told, shown[:600])
    shutil.rmtree(SKILLS / "hostile")


def looking(browser, daemon):
    """Pictures, and what axe-core says of each view in both themes."""
    sideways, found, met = [], {"light": [], "dark": []}, 0
    for name, address, _, _ in VIEWS:
        for width, theme in [(1280, "light"), (390, "dark"), (390, "light"), (1280, "dark")]:
            browser.look(width, theme)
            browser.go(daemon.url + address)
            browser.shows("live")
            if browser.script("return document.documentElement.scrollWidth > window.innerWidth"):
                sideways.append(f"{name} {width}")
            if name != "approvals" and (theme == "light" and width == 1280 or theme == "dark" and width == 390 and name in PHONE):
                browser.picture(PICTURES / f"{name}-{width}-{theme}.png")
            findings, rules = browser.judged(AXE)
            found[theme] += [f"{name} {width}: {one}" for one in findings]
            met += rules
    check("no view scrolls sideways on a phone", not sideways, sideways)
    for theme, violations in found.items():
        check(f"axe-core has no serious finding in the {theme} theme", met > 400 and not violations, violations)
    browser.look(1280, "light")
    browser.go(daemon.url)
    browser.script("document.querySelector('main').append(document.createElement('button'))")
    findings, _ = browser.judged(AXE)
    check("axe-core finds a button without a name", any("button-name" in one for one in findings), findings)


PAINTED = """
  const navigation = performance.getEntriesByType("navigation")[0];
  const size = performance.getEntriesByType("resource").reduce((sum, one) => sum + one.transferSize, navigation.transferSize);
  return [size, Math.round(performance.getEntriesByName("first-contentful-paint")[0]?.startTime ?? 0), Math.round(navigation.responseStart)];
"""


def measured(browser, daemon, path):
    """Bytes that are transferred, and milliseconds until the first paint and the first byte; the median of five loads without a cache."""
    loads = []
    for _ in range(5):
        browser.go(daemon.url + path)
        wait(lambda: browser.script(PAINTED)[1])
        loads.append(browser.script(PAINTED))
    return [sorted(column)[2] for column in zip(*loads)]


def crowded(browser, daemon):
    """The first view and its neighbours with 52 skills, with 10,000, and with 10,000 that can't be read."""
    browser.chrome("Network.enable")
    browser.chrome("Network.setCacheDisabled", cacheDisabled=True)
    for count, text in ((52, None), (10_000, None), (10_000, "---\nname: [\n")):
        here = daemon.api("GET", "/skills?limit=0")["total"]
        for number in range(0 if text else here, count):
            name = f"{'broken' if text else 'many'}-{number:05}"
            folder = SKILLS / name
            folder.mkdir(exist_ok=True)
            about = f"Does thing {number} with tables, reports and notes. Use when thing {number} has to be done."
            (folder / "SKILL.md").write_text(text or f"---\nname: {name}\ndescription: {about}\n---\nDo thing {number}, then check it.\n")
        wanted = here + count if text else count
        daemon.api("POST", "/refresh")
        total = wait(lambda: max(daemon.api("GET", "/skills?limit=0")["total"] - wanted + 1, 0))
        began = time.monotonic()
        daemon.api("GET", "/skills?limit=1&search=things")
        opened = round((time.monotonic() - began) * 1000)
        views = ["/", "/skills", "/skills?search=reports+about+thing+42", "/skills/report", "/usage", "/skills?status=invalid", "/compose"]
        figures = {path: measured(browser, daemon, path) for path in views}
        name = f"{count:,} skills{' that can not be read' if text else ''}"
        small = all(size < 200_000 for size, *_ in figures.values())
        check(f"every view is below 200 KB with {name}", total and small, figures)
        table = "".join(f"\n  {path}: {size} bytes, first byte {byte} ms, first paint {paint} ms" for path, (size, paint, byte) in figures.items())
        print(f"{name}; the index was opened in {opened} ms{table}", file=sys.stderr)
    browser.chrome("Network.setCacheDisabled", cacheDisabled=False)


def main():
    PICTURES.mkdir(exist_ok=True)
    for name, text in OWNED.items():
        folder = HOME / name
        folder.mkdir(parents=True, exist_ok=True)
        (folder / "SKILL.md").write_text(text)
    metier("config", "agent.model", "openai/scripted")
    with Model([], "") as model, Browser() as browser:
        daemon = Daemon(model)
        daemon.start()
        try:
            browser.go(daemon.link)
            first = browser.shows("Skills on this machine")
            browser.go(daemon.link)
            check("the link works once", first and "Sign in" in browser.text(), browser.text())
            browser.go(daemon.new_link())
            browser.shows("Skills on this machine")
            for part in (views, deciding, explaining, installing, looking, seeing, hostile, refusing, outliving, crowded):
                began = time.monotonic()
                part(browser, daemon)
                print(f"{part.__name__}: {time.monotonic() - began:.0f} s", file=sys.stderr)
            ours = browser.console(daemon)
            check("nothing is reported in the console", not ours, ours)
        finally:
            daemon.end()


main()
