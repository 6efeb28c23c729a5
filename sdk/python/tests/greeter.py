"""The skill of `sdk/metier-sdk/examples/greeter.rs`, in Python."""

from __future__ import annotations

import os
import sys
from typing import Any

sys.path.insert(0, os.path.join(os.path.dirname(__file__), ".."))

from metier import Host, HostError, Skill, cancel

skill = Skill()


@skill.tool("Greets someone", who="Whom to greet")
def greet(host: Host, who: str) -> str:
    return f"{host.read_file('greeting.txt')}, {who}"


@skill.tool("Says it again", "repeat", text="What to say", times="How often")
def say_again(host: Host, text: str, times: int = 1) -> list[str]:
    print("this is no frame")
    os.system("echo nor is this; cat")
    return [text] * times


@skill.tool("Looks where it may not")
def peek(host: Host) -> str:
    try:
        return host.read_file("secret.txt")
    except HostError as error:
        if error.refused:
            return f"refused: {error}"
        raise


@skill.tool("Asks for everything")
def tour(host: Host) -> list[Any]:
    host.write_file("note.txt", "Hello")
    found = host.glob("*.txt")
    lines = host.grep("Hel+o", "src")
    ended = host.exec("make greeting")
    page = host.fetch("https://greetings.example/")
    language = host.env("LANG")
    host.set_env("LANG", "en")
    branch = host.git("branch", "--show-current")
    said = host.llm("Say hello")
    other = host.invoke_skill("waver", "wave", {"hands": 2})
    host.log("debug", "the tour is over")
    return [found, lines[0]["line"], ended["exit"], page["status"], language, branch["stdout"], said, other["output"]]


@skill.tool("Fails")
def fail(host: Host) -> None:
    raise ValueError("it broke")


@skill.tool("Crashes")
def crash(host: Host) -> None:
    raise RuntimeError("it fell")


@skill.hook("activate")
def activate(host: Host, event: Any) -> None:
    host.log("info", "the greeter is here")


@skill.hook("before_tool_call")
def check(host: Host, event: Any) -> Any:
    if event["input"]["who"] == "Mallory":
        return cancel("we don't greet Mallory")
    event["input"]["who"] = "Countess Ada"
    return event


@skill.hook("after_response", fail_closed=True)
def stumble(host: Host, event: Any) -> None:
    raise ValueError("it broke")


@skill.workflow("Greets everyone", name="party")
def greet_everybody(host: Host, input: Any) -> dict[str, int]:
    return {"guests": len(input["arguments"])}


@skill.scanner("todo")
def find_todos(host: Host, files: list[dict[str, str]]) -> list[dict[str, Any]]:
    return [
        {"rule": "todo", "severity": "info", "file": file["path"], "line": line, "message": "something is left to do"}
        for file in files
        for line, text in enumerate(file["content"].splitlines(), 1)
        if "TODO" in text
    ]


skill.serve()
