# The code of this skill: a workflow, which a person or another skill runs by its name.

from metier import Skill

skill = Skill()


@skill.workflow("Writes checklist.md with a box for each step.")
def checklist(host, input):
    # From the command line: {"arguments": ["First step", "Second step"], "text": "First step Second step"}
    steps = input.get("arguments", [])
    if not steps:
        raise ValueError('name at least one step: metier run {{name}} "First step" "Second step"')
    host.write_file("checklist.md", "".join(f"- [ ] {step}\n" for step in steps))
    return f"wrote {len(steps)} steps to checklist.md"


skill.serve()
