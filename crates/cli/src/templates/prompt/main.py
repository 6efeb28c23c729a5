# The code of this skill: it adds a line to the prompt that depends on the project. What never changes is in prompt.md.

from metier import Skill

skill = Skill()


@skill.hook("before_prompt_build")
def add(host, event):
    style = (host.config or {}).get("style", "short")
    # A hook of this phase can only add; it keeps the existing fragments.
    event["fragments"].append(f"Write release notes in the style: {style}.")
    return event


skill.serve()
