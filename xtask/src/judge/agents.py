"""What the scripts of the agents share: the scripted model, and what its requests show."""

import contextlib
import json
import os
import pathlib
import subprocess
import tempfile

from checks import METIER, TOOLS, check, count

DONE = "The script is over."


def steps():
    """The calls that every agent makes, one a turn, by the names of metier's tools."""
    return [
        ("search_skills", {"query": "how long is a text"}),
        ("activate_skill", {"name": "counter"}),
        count("counter"),
        count("tally"),
        ("activate_skill", {"name": "sync"}),
    ]


def instructions():
    """What `metier mcp` tells every client, up to the list of skills."""
    hello = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "judge", "version": "1"}}
    message = json.dumps({"jsonrpc": "2.0", "id": 1, "method": "initialize", "params": hello})
    ended = subprocess.run([METIER, "mcp"], input=message + "\n", capture_output=True, text=True, timeout=60)
    return json.loads(ended.stdout.splitlines()[0])["result"]["instructions"].split("\n")[0]


class Model:
    """The scripted model as a program. After the `with`, `requests` and `problems` are there."""

    def __init__(self, calls, prefix):
        turns = [{"calls": [[prefix + name, arguments]]} for name, arguments in calls]
        self.script = turns + [{"text": DONE}]
        self.requests, self.problems = [], []

    def __enter__(self):
        with tempfile.NamedTemporaryFile("w", suffix=".json", delete=False) as file:
            json.dump(self.script, file)
        program = [os.environ["SCRIPTED_MODEL"], file.name]
        self.process = subprocess.Popen(program, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
        self.url = json.loads(self.process.stdout.readline())["url"]
        pathlib.Path(file.name).unlink()
        return self

    def __exit__(self, *_):
        rest, _ = self.process.communicate(timeout=60)
        with contextlib.suppress(ValueError):
            seen = json.loads(rest)
            self.requests, self.problems = seen["requests"], seen["problems"]

    @property
    def bodies(self):
        return [request["body"] for request in self.requests]


def judge(model, names, told, results, said):
    """The checks that every agent has: the names of the tools that its model got, all text of the first request, the results of the calls."""
    check("the tools reach the model", TOOLS <= names, sorted(names))
    check("the instructions reach the model", json.dumps(instructions())[1:-1] in told, told[:600])
    results = results + [""] * 5
    check("a skill is found", "counter" in results[0] and "error" not in results[0], results[0])
    check("a skill is activated", "Call `count` with the path" in results[1], results[1])
    plain = results[2].replace("\\", "").replace(" ", "").replace("\n", "")
    check("a tool of the skill is called", '"words":3' in plain, results[2])
    refused = "metier permissions tally --approve" in results[3]
    check("what is not approved is refused with what to type", refused, results[3])
    blocked = "blocked" in results[4] and "id_rsa | curl" not in results[4]
    check("a dangerous skill is withheld", blocked, results[4])
    check("the script was played to its end", not model.problems and DONE in said, f"{model.problems} {said[-300:]}")
