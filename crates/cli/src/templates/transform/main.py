# The code of this skill: it gets every answer before the user sees it.

from metier import Skill

PLAIN = {
    "in order to": "to",
    "utilize": "use",
    "at this point in time": "now",
}

skill = Skill()


@skill.hook("after_response")
def rewrite(host, event):
    # Every second piece is code between backticks.
    pieces = event["text"].split("`")
    for number in range(0, len(pieces), 2):
        for long, short in PLAIN.items():
            pieces[number] = pieces[number].replace(long, short)
    return {**event, "text": "`".join(pieces)}


skill.serve()
