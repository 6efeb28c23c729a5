"""The Codex CLI with metier as its MCP server and a scripted model as its model.

`codex exec` works without a person, so it refuses what it would ask. The app server is what an editor talks to: there the questions of metier arrive
as questions of Codex, and this script answers them.
"""

import json
import os
import pathlib
import subprocess
import sys
import threading

from agents import Model, judge, steps
from checks import ACTING, METIER, READ_ONLY, TOOLS, check, count

CODEX = os.environ["CODEX"]
HOME = pathlib.Path(os.environ["HOME"]) / ".codex"
PREFIX = "mcp__metier__"

CONFIG = """
model = "scripted"
model_provider = "scripted"
check_for_update_on_startup = false

[analytics]
enabled = false

[feedback]
enabled = false

[model_providers.scripted]
name = "scripted"
base_url = "{url}/v1"
wire_api = "responses"
supports_websockets = false
request_max_retries = 0
stream_max_retries = 0

[mcp_servers.metier]
command = "{metier}"
args = ["mcp"]
"""


def configure(model, approved):
    """With the consent of the user for these tools."""
    text = CONFIG.format(url=model.url, metier=METIER)
    for tool in approved:
        text += f'\n[mcp_servers.metier.tools.{tool}]\napproval_mode = "approve"\n'
    HOME.mkdir(exist_ok=True)
    (HOME / "config.toml").write_text(text)


def execute():
    """One run without a person; its output, the events of the calls by tool included."""
    command = [CODEX, "exec", "--json", "--strict-config", "--skip-git-repo-check", "How long is notes.txt?"]
    ended = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=120)
    print(ended.stderr, file=sys.stderr)
    return ended.stdout


def called(events):
    """What Codex says of each call."""
    items = [json.loads(line).get("item", {}) for line in events.splitlines() if '"item.completed"' in line]
    return [item for item in items if item.get("type") == "mcp_tool_call"]


def outputs(body):
    """The results of calls as the model gets them."""
    found = [item["output"] for item in body["input"] if item["type"] == "function_call_output"]
    return [one if isinstance(one, str) else "".join(part.get("text", "") for part in one) for one in found]


def conversation():
    with Model(steps(), PREFIX) as model:
        configure(model, sorted(ACTING))
        said = execute()
    first, last = model.bodies[0], model.bodies[-1]
    spaces = [tool for tool in first["tools"] if tool["type"] == "namespace" and tool["name"] + "__" == PREFIX]
    # Codex writes `-` as `_`.
    plain = {tool.replace("-", "_"): tool for tool in TOOLS}
    names = {plain.get(tool["name"]) for space in spaces for tool in space["tools"]} - {None}
    judge(model, names, json.dumps(spaces), outputs(last), said)


def consent():
    """Without consent given before, what only reads runs and what acts is asked for."""
    calls = [
        ("list_skills", {}),
        ("search_skills", {"query": "text"}),
        ("read_skill_resource", {"name": "ddd-expert", "path": "SKILL.md"}),
        ("list_skill_tools", {"skill": "counter"}),
        ("scan_skill", {"name": "counter"}),
        ("activate_skill", {"name": "counter"}),
        count("counter"),
    ]
    with Model(calls, PREFIX) as model:
        configure(model, [])
        events = called(execute())
    ran = {item["tool"] for item in events if item["error"] is None}
    asked = {item["tool"] for item in events if "requires approval" in str(item["error"])}
    fits = ran == READ_ONLY | {"activate_skill"} and asked == {"call_skill_tool"}
    check("only the tools that act ask Codex for consent", fits, events)


class AppServer:
    """Codex as an editor runs it: JSON-RPC, a line each."""

    def __init__(self, action):
        self.action = action
        self.questions = []
        self.process = subprocess.Popen(
            [CODEX, "app-server"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL, text=True
        )
        self.alarm = threading.Timer(100, self.process.kill)
        self.alarm.start()

    def send(self, **message):
        self.process.stdin.write(json.dumps(message) + "\n")
        self.process.stdin.flush()

    def wait(self, fits):
        """Reads until a message fits, and answers what is asked meanwhile."""
        for line in self.process.stdout:
            message = json.loads(line)
            if "method" in message and "id" in message:
                self.questions.append(message)
                self.send(id=message["id"], result=self.answer(message))
            elif fits(message):
                return message
        raise EOFError("Codex ended")

    def answer(self, message):
        params = message.get("params", {})
        schema = params.get("requestedSchema") or {}
        content = {}
        for name, field in (schema.get("properties") or {}).items():
            options = field.get("enum") or [option["const"] for option in field.get("oneOf", [])]
            content |= {name: option for option in options if "once" in option}
        return {"action": self.action, "content": content if self.action == "accept" else None}

    def request(self, number, method, params):
        self.send(id=number, method=method, params=params)
        return self.wait(lambda message: message.get("id") == number)

    def turn(self):
        self.request(1, "initialize", {"clientInfo": {"name": "judge", "version": "1"}})
        self.send(method="initialized")
        options = {"cwd": os.getcwd(), "approvalPolicy": "on-request", "sandbox": "read-only"}
        thread = self.request(2, "thread/start", options)["result"]["thread"]["id"]
        text = [{"type": "text", "text": "How long is notes.txt?"}]
        self.request(3, "turn/start", {"threadId": thread, "input": text})
        self.wait(lambda message: message.get("method") == "turn/completed")

    def end(self):
        self.alarm.cancel()
        self.process.stdin.close()
        self.process.kill()
        self.process.wait()


def approval(action):
    with Model([count("tally")], PREFIX) as model:
        configure(model, sorted(ACTING))
        server = AppServer(action)
        try:
            server.turn()
        finally:
            server.end()
    asked = json.dumps(server.questions)
    result = "".join(outputs(model.bodies[-1]))
    is_card = "tally" in asked and "read files" in asked
    return is_card, result.replace("\\", "").replace(" ", ""), f"{asked} → {result}"


def main():
    conversation()
    consent()
    is_card, result, saw = approval("accept")
    check("an approval is asked for and given", is_card and '"words":3' in result, saw)
    is_card, result, saw = approval("decline")
    check("an approval is asked for and refused", is_card and '"words":3' not in result, saw)


main()
