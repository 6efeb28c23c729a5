"""What the scripts of the judges share: a check is a line of JSON on the standard output, and `cargo xtask judge` reads it."""

import json
import os
import pathlib
import subprocess

METIER = os.environ["METIER"]
SKILLS = pathlib.Path(os.environ["SKILLS"])

# The tools of `metier mcp`. Those that only read say so.
READ_ONLY = {"search_skills", "list_skills", "read_skill_resource", "list_skill_tools", "scan_skill"}
ACTING = {"activate_skill", "skill-execute", "call_skill_tool"}
TOOLS = READ_ONLY | ACTING


def check(name, ok, saw=""):
    text = saw if isinstance(saw, str) else json.dumps(saw, default=str)
    print(json.dumps({"check": name, "ok": bool(ok), "saw": text[:600]}), flush=True)


def count(skill, **arguments):
    """The call of the tool that `metier new --type tool` writes."""
    return "call_skill_tool", {"skill": skill, "tool": "count", "input": arguments or {"path": "notes.txt"}}


def metier(*arguments):
    """Types a command."""
    return subprocess.run([METIER, *arguments], check=True, capture_output=True, text=True).stdout


def listed():
    """What `metier list` knows, by name."""
    return {skill["name"]: skill for skill in json.loads(metier("list", "--json"))["skills"]}
