"""A WebSocket client that we didn't write talks to `metier serve`, and the official SDK to its `/mcp`."""

import asyncio
import contextlib
import json
import os
import pathlib
import re
import signal
import subprocess
import sys

import httpx2
import websockets
from mcp.client import Client
from mcp.client.streamable_http import streamable_http_client

from checks import METIER, SKILLS, TOOLS, check

PATIENCE = 20
TOKEN_FILE = pathlib.Path(os.environ["HOME"]) / ".local/share/metier/token"


class Daemon:
    """`metier serve` on a free port."""

    def __enter__(self):
        command = [METIER, "serve", "--listen", "127.0.0.1:0"]
        self.process = subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True)
        self.said = ""
        for line in self.process.stdout:
            self.said += line
            found = re.search(r"http://(127\.0\.0\.1:\d+)", line)
            if found:
                self.host = found.group(1)
                self.token = TOKEN_FILE.read_text().strip()
                return self
        raise RuntimeError(f"`metier serve` ended: {self.said}")

    def __exit__(self, *_):
        self.process.send_signal(signal.SIGTERM)
        try:
            self.process.wait(10)
        except subprocess.TimeoutExpired:
            self.process.kill()

    def connect(self, token=None, **options):
        headers = {"Authorization": f"Bearer {token}"} if token else {}
        return websockets.connect(f"ws://{self.host}/ws", additional_headers=headers, **options)


class Socket:
    """Requests and their answers by id; what has no id is news."""

    def __init__(self, socket):
        self.socket = socket
        self.number = 0
        self.news = []

    async def ask(self, kind, **fields):
        self.number += 1
        await self.socket.send(json.dumps({"id": self.number, "type": kind} | fields))
        return await self.hear(lambda message: message.get("id") == self.number)

    async def hear(self, fits):
        async with asyncio.timeout(PATIENCE):
            while True:
                message = json.loads(await self.socket.recv())
                if message.get("type") == "skills_changed":
                    self.news.append(message)
                if fits(message):
                    return message

    async def announced(self, field, name):
        """Whether a change of a skill is announced."""
        with contextlib.suppress(TimeoutError):
            return await self.hear(lambda message: has(message, field, name))
        return None


def has(message, field, name):
    if message.get("type") != "skills_changed":
        return False
    return name in json.dumps(message.get(field, []))


async def doors(daemon):
    async def refused(**options):
        """How a connection ends that asks for the skills."""
        try:
            async with daemon.connect(**options) as socket:
                answer = await Socket(socket).ask("list_skills")
                return answer.get("type") == "error", answer
        except (websockets.InvalidStatus, websockets.ConnectionClosed, TimeoutError) as error:
            return True, repr(error)

    check("without a token nothing is answered", *await refused())
    check("a wrong token is refused", *await refused(token="x" * len(daemon.token)))
    check("a foreign origin is refused", *await refused(token=daemon.token, origin="http://example.org"))
    async with daemon.connect(daemon.token) as socket:
        answer = await Socket(socket).ask("list_skills")
        check("a token in the header", answer["type"] == "skills_list", answer)
    async with daemon.connect() as socket:
        await socket.send(json.dumps({"type": "auth", "token": daemon.token}))
        answer = await Socket(socket).ask("list_skills")
        check("a token in the first frame", answer["type"] == "skills_list", answer)


async def messages(socket):
    answer = await socket.ask("list_skills")
    names = {skill["name"] for skill in answer["skills"]}
    check("list_skills", {"counter", "ddd-expert", "sync"} <= names, sorted(names))
    answer = await socket.ask("execute_skill", name="ddd-expert", arguments="the order service")
    fits = answer["type"] == "skill_result" and answer["mode"] == "inline" and "Collect the words" in answer["content"]
    check("execute_skill", fits, answer)
    answer = await socket.ask("scan_skill", name="sync")
    fits = answer["type"] == "scan_result" and answer["skills"][0]["verdict"] == "critical"
    check("scan_skill by name", fits, answer)
    (SKILLS / "facts").mkdir()
    (SKILLS / "facts/SKILL.md").write_text("---\nname: facts\ndescription: Knows facts.\n---\nToday is !`date`.\n")
    answer = await socket.ask("execute_skill", name="facts")
    fits = answer["type"] == "error" and "metier permissions facts --approve" in json.dumps(answer)
    check("what is not approved is refused with what to type", fits, answer)
    answer = await socket.ask("execute_skill", name="sync")
    check("a dangerous skill is withheld", answer["type"] == "error" and answer["code"] == "blocked", answer)
    answer = await socket.ask("delete_everything")
    again = await socket.ask("list_skills")
    fits = answer["type"] == "error" and again["type"] == "skills_list"
    check("an unknown type is an error and the socket stays open", fits, answer)
    await socket.socket.send("{")
    answer = await socket.hear(lambda message: message.get("type") == "error")
    again = await socket.ask("list_skills")
    check("what is not JSON is an error and the socket stays open", again["type"] == "skills_list", answer)


async def changes(socket):
    """A skill that is written, broken, fixed and removed, as a subscriber sees it."""
    answer = await socket.ask("subscribe")
    file = SKILLS / "late/SKILL.md"
    good = "---\nname: late\ndescription: Comes later.\n---\nHere I am.\n"
    file.parent.mkdir()
    file.write_text(good)
    told = await socket.announced("added", "late")
    check("a skill that appears is announced", answer["type"] == "subscribed" and told, socket.news)
    # A version that was returned is kept.
    await socket.ask("execute_skill", name="late")
    file.write_text("---\nname: late\n---\n")
    told = await socket.announced("changed", "late")
    answer = await socket.ask("execute_skill", name="late")
    fits = told and answer["type"] == "skill_result" and "Here I am." in answer["content"]
    check("a skill that breaks is announced, and the last good version stays", fits, [socket.news[-1:], answer])
    file.write_text(good.replace("Here I am.", "Here I am again."))
    told = await socket.announced("changed", "late")
    answer = await socket.ask("execute_skill", name="late")
    check("a skill that is fixed is announced", told and "again" in answer.get("content", ""), [socket.news[-1:], answer])
    file.unlink()
    file.parent.rmdir()
    told = await socket.announced("removed", "late")
    check("a skill that is removed is announced", told, socket.news[-1:])


async def over_http(daemon):
    url = f"http://{daemon.host}/mcp"
    headers = {"Authorization": f"Bearer {daemon.token}"}
    try:
        async with httpx2.AsyncClient(headers=headers) as http:
            async with Client(streamable_http_client(url, http_client=http)) as talk:
                names = {tool.name for tool in (await talk.list_tools()).tools}
        check("MCP over HTTP with the token", names == TOOLS, sorted(names))
    except Exception as error:
        check("MCP over HTTP with the token", False, repr(error))
    async with httpx2.AsyncClient() as plain:
        answer = await plain.post(url, json={"jsonrpc": "2.0", "id": 1, "method": "tools/list"})
    check("MCP over HTTP without a token is refused", answer.status_code == 401, answer.status_code)


async def main():
    with Daemon() as daemon:
        steps = [lambda: doors(daemon), lambda: over_http(daemon)]
        for step in [messages, changes]:
            steps.append(lambda step=step: connected(daemon, step))
        for step in steps:
            # A step that can't go on leaves its checks out, which is reported; the others go on.
            try:
                await asyncio.wait_for(step(), 120)
            except Exception as error:
                print(f"{step}: {error!r}", file=sys.stderr)


async def connected(daemon, step):
    async with daemon.connect(daemon.token) as socket:
        await step(Socket(socket))


asyncio.run(main())
