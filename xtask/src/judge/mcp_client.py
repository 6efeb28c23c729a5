"""A client of MCP that we didn't write talks to `metier mcp`.

usage: mcp_client.py CLIENT ERA

CLIENT is `mcp` (the official SDK) or `fastmcp`; ERA is `legacy` (begins with `initialize`) or `auto` (the newest revision).
"""

import asyncio
import base64
import hashlib
import json
import os
import sys

import mcp_types as types
from mcp.client import Client
from mcp.client.stdio import StdioServerParameters
from mcp.shared.exceptions import MCPError

from checks import METIER, READ_ONLY, SKILLS, TOOLS, check, count, listed, metier

VERSIONS = {"legacy": "2025-11-25", "auto": "2026-07-28"}
PATIENCE = 20


class Answers:
    """A user who is asked, and gives this answer; `None` refuses."""

    def __init__(self, word):
        self.word = word
        self.questions = []

    def answer(self, message, schema):
        """The content of the form, or `None`."""
        self.questions.append({"message": message, "schema": schema})
        if self.word is None:
            return None
        for name, field in (schema.get("properties") or {}).items():
            options = field.get("enum") or [option["const"] for option in field.get("oneOf", [])]
            fitting = [option for option in options if self.word in option]
            if fitting:
                return {name: fitting[0]}
        return {}


def official(era, answers=None, on_message=None):
    async def elicit(context, params):
        content = answers.answer(params.message, params.requested_schema)
        if content is None:
            return types.ElicitResult(action="decline")
        return types.ElicitResult(action="accept", content=content)

    server = StdioServerParameters(command=METIER, args=["mcp"], env=dict(os.environ), cwd=os.getcwd())
    return Client(
        server,
        mode=era,
        elicitation_callback=elicit if answers else None,
        message_handler=on_message,
        cache=None,
    )


def fast(era, answers=None, on_message=None):
    from fastmcp import Client as FastClient
    from fastmcp.client.elicitation import ElicitResult
    from fastmcp.client.transports import StdioTransport

    async def elicit(message, response_type, params, context):
        content = answers.answer(message, params.requested_schema)
        if content is None:
            return ElicitResult(action="decline")
        return ElicitResult(action="accept", content=content)

    async def heard(message):
        await on_message(message)

    # Each conversation has a process of its own.
    server = StdioTransport(command=METIER, args=["mcp"], env=dict(os.environ), cwd=os.getcwd(), keep_alive=False)
    return FastClient(
        server,
        mode=era,
        elicitation_handler=elicit if answers else None,
        message_handler=heard if on_message else None,
        cache=False,
    )


class Talk:
    """The two clients as one: results have `is_error`, `content` and `structured_content` in both."""

    def __init__(self, client):
        self.client = client
        self.is_fast = hasattr(client, "call_tool_mcp")

    async def call(self, name, arguments):
        call = self.client.call_tool_mcp if self.is_fast else self.client.call_tool
        try:
            result = await call(name, arguments)
        except MCPError as error:
            return Seen(True, repr(error), None)
        text = "".join(getattr(block, "text", "") for block in result.content)
        return Seen(bool(result.is_error), text, result.structured_content)

    async def tools(self):
        tools = await self.client.list_tools()
        return tools if self.is_fast else tools.tools

    async def prompts(self):
        prompts = await self.client.list_prompts()
        return prompts if self.is_fast else prompts.prompts

    async def resources(self):
        """All pages."""
        if self.is_fast:
            return await self.client.list_resources()
        found, cursor = [], None
        while True:
            page = await self.client.list_resources(cursor=cursor)
            found += page.resources
            cursor = page.next_cursor
            if cursor is None:
                return found

    async def read(self, uri):
        result = await self.client.read_resource(uri)
        return result if self.is_fast else result.contents

    async def complete(self, prompt, name, value):
        result = await self.client.complete(
            types.PromptReference(name=prompt), {"name": name, "value": value}
        )
        return result.values if self.is_fast else result.completion.values

    @property
    def session(self):
        return self.client.session


class Seen:
    def __init__(self, is_error, text, document):
        self.is_error, self.text, self.document = is_error, text, document or {}

    @property
    def code(self):
        return self.document.get("error", {}).get("code")

    def __str__(self):
        return f"is_error={self.is_error} {self.text} {json.dumps(self.document)}"


async def tools(talk, era):
    client = talk.client
    check(
        "the server introduces itself",
        client.protocol_version == VERSIONS[era] and client.server_info.name == "metier",
        f"{client.protocol_version} {client.server_info}",
    )
    instructions = client.instructions or ""
    check("the instructions name skills", "counter" in instructions and "ddd-expert" in instructions, instructions)
    found = await talk.tools()
    whole = all(
        tool.input_schema
        and tool.output_schema
        and tool.annotations
        and tool.annotations.read_only_hint == (tool.name in READ_ONLY)
        for tool in found
    )
    check(
        "the list of tools",
        whole and {tool.name for tool in found} == TOOLS,
        [(tool.name, bool(tool.output_schema), str(tool.annotations)) for tool in found],
    )


async def skills(talk):
    seen = await talk.call("search_skills", {"query": "how long is a text"})
    check("search finds a skill", "counter" in seen.text and "counter" in json.dumps(seen.document), seen)
    await pages(talk)
    seen = await talk.call("activate_skill", {"name": "ddd-expert"})
    check("activate", "Collect the words" in seen.text and not seen.is_error, seen)
    seen = await talk.call("read_skill_resource", {"name": "ddd-expert", "path": "references/smells.md"})
    smells = (SKILLS / "ddd-expert/references/smells.md").read_text()
    check("read a file of a skill", seen.text.strip() == smells.strip(), seen)
    denied = []
    for path in ["../counter/SKILL.md", "../../../../../etc/passwd", "/etc/passwd", "references/../../counter/SKILL.md"]:
        seen = await talk.call("read_skill_resource", {"name": "ddd-expert", "path": path})
        denied.append(seen.is_error and seen.code == "path-refused")
    check("a traversal is denied", all(denied), denied)
    seen = await talk.call("skill-execute", {"name": "ddd-expert", "arguments": "the order service"})
    check("execute", not seen.is_error and "Collect the words" in str(seen), seen)
    seen = await talk.call("activate_skill", {"name": "sync"})
    check("a dangerous skill is withheld", seen.code == "blocked" and "curl" not in seen.text, seen)


async def pages(talk):
    """Every skill once, two at a time."""
    names, cursor = [], None
    for _ in range(1000):
        arguments = {"limit": 2} | ({"cursor": cursor} if cursor else {})
        seen = await talk.call("list_skills", arguments)
        page = [skill["name"] for skill in seen.document.get("skills", [])]
        if seen.is_error or len(page) > 2:
            return check("a list has pages", False, seen)
        names += page
        cursor = seen.document.get("next_cursor")
        if not cursor:
            break
    known = {name for name, skill in listed().items() if skill["model_invocable"] and skill["status"] == "ready"}
    whole = len(names) == len(set(names)) and known <= set(names)
    check("a list has pages", whole, sorted(known ^ set(names)))


async def skill_tools(talk):
    seen = await talk.call("list_skill_tools", {"skill": "counter"})
    check("the tools of a skill", "The file, from the project's folder" in json.dumps(seen.document), seen)
    seen = await talk.call(*count("counter"))
    check("call a tool of a skill", not seen.is_error and '"words":3' in str(seen).replace(" ", ""), seen)
    seen = await talk.call(*count("counter", file="notes.txt"))
    check("arguments that do not fit the tool's schema", seen.is_error and "path" in seen.text, seen)
    seen = await talk.call(*count("tally"))
    fits = seen.code == "not-approved" and "metier permissions tally --approve" in seen.text
    check("a client that can't ask gets what to type", fits, seen)
    results = await asyncio.gather(*(talk.call(*count("counter")) for _ in range(200)))
    wrong = [str(seen) for seen in results if seen.is_error]
    check("200 calls at once", not wrong, wrong[:1])


async def approvals(connect, era):
    once = Answers("once")
    async with connect(era, once) as client:
        talk = Talk(client)
        seen = await talk.call(*count("tally"))
        card = json.dumps(once.questions)
        fits = not seen.is_error and len(once.questions) == 1 and "tally" in card and "read files" in card
        check("an approval is asked for and given once", fits, f"{card} {seen}")
        check("always is not offered", once.questions and "always" not in card.lower(), card)
        once.word = None
        seen = await talk.call(*count("tally"))
        fits = seen.is_error and len(once.questions) == 2
        check("given once is not given twice", fits, f"{len(once.questions)} questions; {seen}")
    refusing = Answers(None)
    async with connect(era, refusing) as client:
        seen = await Talk(client).call(*count("tally"))
        fits = seen.is_error and len(refusing.questions) == 1
        check("an approval is asked for and refused", fits, f"{seen} {refusing.questions}")
    session = Answers("session")
    async with connect(era, session) as client:
        talk = Talk(client)
        first, second = await talk.call(*count("tally")), await talk.call(*count("tally"))
        fits = not first.is_error and not second.is_error and len(session.questions) == 1
        check("an approval for this session holds", fits, f"{first} {second} {session.questions}")


async def prompts(talk):
    names = [prompt.name for prompt in await talk.prompts()]
    check("the prompts", "ddd-expert" in names and "sync" not in names, names)
    result = await talk.client.get_prompt("ddd-expert", {})
    text = "".join(getattr(message.content, "text", "") for message in result.messages)
    check("a prompt", "Collect the words" in text, text)
    try:
        values = await talk.complete("ddd-expert", "arguments", "")
        check("completion of an argument", isinstance(values, list), values)
    except Exception as error:
        check("completion of an argument", False, repr(error))


async def resources(talk):
    found = {str(resource.uri): resource for resource in await talk.resources()}
    wanted = [uri for uri in found if uri.endswith("report/SKILL.md")]
    leaked = [uri for uri in found if "/sync/" in uri]
    check("the resources", wanted and not leaked, f"{wanted} {leaked} {len(found)}")
    uri = wanted[0] if wanted else "skill://report/SKILL.md"
    contents = await talk.read(uri)
    text = (SKILLS / "report/SKILL.md").read_text()
    check("a resource", contents[0].text == text and contents[0].mime_type == "text/markdown", contents[0].text)
    outside = []
    base = uri.removesuffix("SKILL.md")
    for path in ["../counter/SKILL.md", "..%2Fcounter%2FSKILL.md", "%2e%2e/%2e%2e/%2e%2e/etc/passwd", "no-such-file"]:
        try:
            outside.append((await talk.read(base + path))[0].text)
        except Exception as error:
            outside.append(type(error).__name__)
    check("a resource outside is denied", set(outside) <= {"MCPError", "McpError", "ResourceError"}, outside)


def data(content):
    return content.text.encode() if getattr(content, "text", None) is not None else base64.b64decode(content.blob)


async def extension(talk):
    """The Skills extension: each file of each skill has the digest and the size that the list says."""
    skills, cursor = [], None
    while True:
        params = {"cursor": cursor} if cursor else {}
        page = await request(talk, "skills/list", params)
        skills += page["skills"]
        cursor = page.get("nextCursor")
        if cursor is None:
            break
    wrong, files = [], 0
    for skill in skills:
        for resource in skill["resources"]:
            files += 1
            content = data((await talk.read(resource["uri"]))[0])
            digest = "sha256:" + hashlib.sha256(content).hexdigest()
            if digest != resource["digest"] or len(content) != resource["size"]:
                wrong.append(resource["uri"])
    names = {skill["frontmatter"]["name"] for skill in skills}
    ready = {name for name, skill in listed().items() if skill["status"] == "ready" and skill["model_invocable"]}
    fits = not wrong and files and "sync" not in names and {"report", "skill-author"} <= names
    check("every skill with digests that hold", fits, f"{wrong} {files} files; {sorted(names)}")
    fits = {"ddd-expert", "counter"} <= names
    check("a skill with a SKILL.yaml is published", fits, f"not published: {sorted(ready - names)}")


async def request(talk, method, params):
    """A method that the client has no function for."""

    class Anything(types.Result):
        model_config = {"extra": "allow"}

    class Asked(types.Request):
        method: str
        params: dict | None = None

    result = await talk.session.send_request(Asked(method=method, params=params), Anything)
    return result.model_dump(by_alias=True)


async def change(connect, era):
    """A skill that appears is announced; the words differ by era."""
    heard = asyncio.Event()
    seen = []

    async def on_message(message):
        seen.append(type(getattr(message, "root", message)).__name__)
        if "ListChanged" in seen[-1]:
            heard.set()

    skill = SKILLS / f"late-{era}"
    async with connect(era, None, on_message) as client:
        talk = Talk(client)
        await talk.prompts()
        if era == "legacy":
            write(skill)
            arrived = await waited(heard.wait())
        else:
            from mcp.client.subscriptions import listen

            async with listen(talk.session, prompts_list_changed=True, resources_list_changed=True) as events:
                write(skill)
                arrived = await waited(anext(aiter(events)))
                seen.append(str(arrived))
        names = [prompt.name for prompt in await talk.prompts()]
        check("a change on disk is announced", arrived and skill.name in names, f"{seen} {names}")


async def waited(what):
    try:
        return (await asyncio.wait_for(what, PATIENCE)) or True
    except TimeoutError:
        return False


def write(skill):
    skill.mkdir()
    (skill / "SKILL.md").write_text(f"---\nname: {skill.name}\ndescription: Comes later.\n---\nHere I am.\n")


async def main(connect, era):
    steps = [
        lambda talk: tools(talk, era),
        skills,
        skill_tools,
        prompts,
        resources,
        extension,
    ]
    for step in steps:
        # A step that can't go on leaves its checks out, which is reported; the others go on.
        try:
            async with connect(era) as client:
                await asyncio.wait_for(step(Talk(client)), 250)
        except Exception as error:
            print(f"{step}: {error!r}", file=sys.stderr)
    for step in [approvals, change]:
        try:
            await asyncio.wait_for(step(connect, era), 100)
        except Exception as error:
            print(f"{step}: {error!r}", file=sys.stderr)
    # The next conversation begins without what this one approved.
    metier("permissions", "tally", "--revoke")


asyncio.run(main({"mcp": official, "fastmcp": fast}[sys.argv[1]], sys.argv[2]))
