# The code of this skill. It runs in a sandbox and asks metier for everything: `host.read_file` works
# because SKILL.yaml requests `file:read` and the user approved it.

from metier import Skill

skill = Skill()


# The name, the schema and the descriptions that a model sees all come from here.
@skill.tool("Counts the lines and words of a text file.", path="The file, from the project's folder")
def count(host, path: str):
    text = host.read_file(path)
    return {"lines": len(text.splitlines()), "words": len(text.split())}


skill.serve()
