"""Talks to the WebSocket of a daemon, with a library that is not ours: URL TOKEN FOLDER."""

import asyncio
import json
import pathlib
import sys

import websockets

SKILL = "---\nname: from-python\ndescription: Was added by a test.\n---\nBody.\n"


async def main(url, token, folder):
    seen = {}
    async with websockets.connect(url) as socket:

        async def ask(message):
            await socket.send(json.dumps(message))
            return json.loads(await socket.recv())

        # The token in the first frame, as a browser sends it.
        assert (await ask({"type": "auth", "token": token}))["type"] == "authenticated"
        skills = await ask({"id": 1, "type": "list_skills"})
        seen["list"] = [skill["name"] for skill in skills["skills"]]
        result = await ask({"id": 2, "type": "execute_skill", "name": "report", "arguments": "42"})
        seen["content"] = result["content"]
        seen["error"] = (await ask({"id": 3, "type": "execute_skill", "name": "none"}))["code"]
        assert (await ask({"id": 4, "type": "subscribe"}))["type"] == "subscribed"
        place = pathlib.Path(folder) / "from-python"
        place.mkdir()
        (place / "SKILL.md").write_text(SKILL)
        changes = json.loads(await asyncio.wait_for(socket.recv(), 120))
        seen["added"] = changes["added"]
    print(json.dumps(seen))


asyncio.run(main(*sys.argv[1:]))
