from metier import Skill

skill = Skill()


@skill.tool("Greets someone", who="Whom to greet")
def greet(host, who: str) -> str:
    greeting = host.read_file("greeting.txt").strip()
    said = host.exec("echo Hello")["stdout"].strip()
    host.write_file("note.txt", said)
    return f"{greeting}, {who}"


@skill.tool("Looks where it may not")
def peek(host) -> str:
    return host.read_file("secret.txt")


skill.serve()
