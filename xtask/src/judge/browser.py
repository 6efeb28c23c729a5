"""A daemon and a window of Chromium, as the judge of the page uses them. WebDriver is JSON over HTTP."""

import base64
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import tempfile
import time
import urllib.error
import urllib.request

from checks import METIER

PATIENCE = 30
# Nothing is fetched or sent but what the judge asks for. The last one is a name that an attacker made to resolve to this machine.
FLAGS = [
    *"--headless --no-sandbox --disable-gpu --disable-quic --no-first-run --disable-background-networking --disable-component-update".split(),
    *"--disable-sync --disable-dev-shm-usage --hide-scrollbars".split(),
    "--host-resolver-rules=MAP rebound.example 127.0.0.1",
]
KEYS = {"Tab": "\ue004", "Enter": "\ue007", "Escape": "\ue00c", "Space": " "}
# The folder of the judge has another name on each machine: pictures show the one of a user.
PLACE, SHOWN = str(pathlib.Path(os.environ["HOME"])), "/home/ada"
RENAMED = """
  const [[from, to], walk] = [arguments, document.createTreeWalker(document.body, NodeFilter.SHOW_TEXT)];
  const folder = from.slice(0, from.lastIndexOf("/"));
  while (walk.nextNode()) walk.currentNode.data = walk.currentNode.data.replaceAll(from, to).replaceAll(folder, to);
  return document.body.innerText.includes(folder);
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

    def end(self, how=signal.SIGTERM):
        self.process.send_signal(how)
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
        self.chrome("Emulation.setEmulatedMedia", features=[{"name": "prefers-color-scheme", "value": theme}, {"name": "prefers-reduced-motion", "value": "reduce"}])

    def go(self, url):
        self.command("url", {"url": url})

    def script(self, code, *arguments):
        return self.command("execute/sync", {"script": code, "args": list(arguments)})

    def text(self):
        return self.script("return document.body.innerText") or ""

    def shows(self, text):
        return wait(lambda: text in self.text())

    def window(self, handle=None):
        """Another tab, or one that is open already; its handle."""
        handle = handle or self.command("window/new", {"type": "tab"})["handle"]
        self.command("window", {"handle": handle})
        return handle

    def here(self):
        return self.send("GET", f"{self.session}/window")

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
        if self.script(RENAMED, PLACE, SHOWN):
            raise RuntimeError(f"{file.name}: a folder of this machine is in the picture")
        file.write_bytes(base64.b64decode(self.chrome("Page.captureScreenshot", format="png")["data"]))

    def judged(self, axe):
        """The serious findings of axe-core, and how many of its rules were met."""
        self.chrome("Runtime.evaluate", expression=axe.read_text())
        code = """
          const done = arguments[0];
          const told = (one) => `${one.id}: ${one.nodes[0].html}`;
          axe.run().then((r) => done([r.violations.filter((v) => ["serious", "critical"].includes(v.impact)).map(told), r.passes.length]));
        """
        return self.command("execute/async", {"script": code, "args": []})

    def console(self, daemon):
        """What was reported about pages of the daemon, without refusals that a check asked for."""
        log = [one["message"] for one in self.command("se/log", {"type": "browser"})]
        return [one for one in log if one.startswith(daemon.url) and "status of 4" not in one and "ERR_" not in one]


def wait(look):
    end = time.monotonic() + PATIENCE
    while time.monotonic() < end:
        with contextlib.suppress(RuntimeError):
            if value := look():
                return value
        time.sleep(0.05)
    return None
