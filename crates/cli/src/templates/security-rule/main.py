# The code of this skill: what a pattern in SKILL.yaml can't express.

from metier import Skill, cancel

skill = Skill()


@skill.scanner("goes-on")
def continues(host, files):
    """A shell script that continues after an error: a pattern finds what is there, this finds what is missing."""
    for file in files:
        if file["path"].endswith(".sh") and "set -e" not in file["content"]:
            yield {
                "rule": "goes-on-after-errors",
                "severity": "warning",
                "file": file["path"],
                "line": 1,
                "message": "continues after an error; start with `set -eu`",
            }


# fail_closed: if this function fails, the call is cancelled too.
@skill.hook("before_tool_call", fail_closed=True)
def stop(host, event):
    # The event is {tool, skill, input, session}; a call that is cancelled here never runs.
    words = str(event["input"].get("command", "")).split()
    if "chmod" in words and "777" in words:
        return cancel("world-writable files are not allowed here")


skill.serve()
