"""OpenCode with metier as its MCP server and a scripted model as its model."""

import json
import os
import pathlib
import subprocess
import sys

from agents import Model, judge, steps
from checks import METIER

OPENCODE = os.environ["OPENCODE"]
PREFIX = "metier_"


def configure(model):
    config = {
        "$schema": "https://opencode.ai/config.json",
        "autoupdate": False,
        "share": "disabled",
        "model": "scripted/scripted",
        "small_model": "scripted/scripted",
        "enabled_providers": ["scripted"],
        "provider": {
            "scripted": {
                "npm": "@ai-sdk/openai-compatible",
                "options": {"baseURL": model.url + "/v1", "apiKey": "none"},
                "models": {"scripted": {"tool_call": True}},
            }
        },
        "agent": {"title": {"disable": True}},
        "mcp": {"metier": {"type": "local", "command": [METIER, "mcp"], "enabled": True}},
    }
    folder = pathlib.Path(os.environ["HOME"]) / ".config/opencode"
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "opencode.json").write_text(json.dumps(config))


def main():
    with Model(steps(), PREFIX) as model:
        configure(model)
        quiet = {
            "OPENCODE_DISABLE_AUTOUPDATE": "1",
            "OPENCODE_DISABLE_MODELS_FETCH": "1",
            "OPENCODE_DISABLE_LSP_DOWNLOAD": "1",
            "OPENCODE_DISABLE_DEFAULT_PLUGINS": "1",
        }
        command = [OPENCODE, "run", "--title", "judge", "How long is notes.txt?"]
        ended = subprocess.run(
            command, stdin=subprocess.DEVNULL, capture_output=True, text=True, timeout=200, env=os.environ | quiet
        )
        print(ended.stderr, file=sys.stderr)
    first, last = model.bodies[0], model.bodies[-1]
    names = {tool["function"]["name"].removeprefix(PREFIX) for tool in first["tools"]}
    told = json.dumps(first["messages"]) + json.dumps(first["tools"])
    results = [message["content"] for message in last["messages"] if message["role"] == "tool"]
    results = [one if isinstance(one, str) else json.dumps(one) for one in results]
    judge(model, names, told, results, ended.stdout)


main()
