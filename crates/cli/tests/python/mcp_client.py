"""A client that we didn't write: the official Python SDK talks to `metier mcp`.

usage: mcp_client.py MODE PROGRAM [ARGUMENTS…]

MODE is `legacy` (begins with `initialize`) or `auto` (the newest revision, in which each request stands alone). Prints what it saw
as one JSON document; the Rust test beside it judges that.
"""

import asyncio
import json
import os
import sys

from mcp.client import Client
from mcp.client.stdio import StdioServerParameters, stdio_client


def seen(result):
    return {
        "is_error": bool(result.is_error),
        "text": "".join(block.text for block in result.content),
        "document": result.structured_content,
    }


async def main(mode, program, arguments):
    server = StdioServerParameters(
        command=program, args=arguments, env=dict(os.environ), cwd=os.getcwd()
    )
    async with Client(stdio_client(server), mode=mode) as client:
        tools = await client.list_tools()
        report = {
            "version": client.protocol_version,
            "instructions": client.instructions,
            "tools": [tool.name for tool in tools.tools],
        }
        calls = {
            "list": ("list_skills", {}),
            "activate": ("activate_skill", {"name": "report", "arguments": "monthly"}),
            "read": ("read_skill_resource", {"name": "report", "path": "references/outline.md"}),
            "scan": ("scan_skill", {"name": "report"}),
            "outside": ("read_skill_resource", {"name": "report", "path": "../secret.txt"}),
        }
        # All at once: answers belong to their questions, whatever order they come in.
        results = await asyncio.gather(*(client.call_tool(*call) for call in calls.values()))
        report |= {key: seen(result) for key, result in zip(calls, results)}
        print(json.dumps(report))


asyncio.run(main(sys.argv[1], sys.argv[2], sys.argv[3:]))
