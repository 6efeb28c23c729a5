"""Builds the labelled sets of docs/selection.md from bare git copies of public collections.

    sets.py MIRRORS OUT

MIRRORS holds one folder `owner+name/repo` per collection. Each set is a folder of OUT with `skills/NAME/SKILL.md` and
`queries.tsv`: a query, the names of the skills that are right, separated by commas, and where the query comes from.

quoted    trigger phrases that authors put in quotes into their descriptions, removed there and used as queries
metatool  questions of users, each for one of 199 tools
long      example requests of at least 15 words in the bodies of skills and in their examples/, removed there together with
          the section they are in: what follows an example answers it in its own words
all       every skill, without queries, for measurements of speed
fresh-quoted, fresh-long
          the same two from repositories that no constant was chosen with, among the skills of all; measured once a table

No file whose path has a part named like eval, trigger, queries, prompts or tests is read, and no README. No script of any
skill is run. What this writes is other people's work: keep OUT outside every work tree.
"""

import collections
import csv
import hashlib
import io
import json
import os
import random
import re
import subprocess
import sys

COLLECTIONS = ["anthropics/skills", "trailofbits/skills", "obra/superpowers", "vercel-labs/agent-skills", "openai/skills",
               "openclaw/skills", "gabrielmoreira/agent-skills-mirror", "tomevault-io/skills-registry"]
FRESH = ["alirezarezvani/claude-skills", "AmnadTaowsoam/cerebratechai-claude-skills", "camoa/claude-skills",
         "dkpapadopoulos/auto-claude-skills", "doublej/claude-skills", "gohypergiant/agent-skills", "grahama1970/agent-skills",
         "HoangNguyen0403/agent-skills-standard", "j4flmao/agent-skills", "jamditis/claude-skills-journalism", "jayteealao/agent-skills",
         "jeremylongshore/claude-code-plugins-plus-skills", "joeblackwaslike/agent-skills", "jscraik/Agent-Skills",
         "levifig/agent-skills", "magnus919/agent-skills", "mblode/agent-skills", "mohitagw15856/pm-claude-skills",
         "MOlechowski/claude-skills", "npow/claude-skills", "oaustegard/claude-skills", "product-on-purpose/agent-skills-toolkit",
         "radesjardins/RAD-Claude-Skills", "ryzhakar/claude-skills", "secondsky/claude-skills", "simota/agent-skills",
         "sumrae412/claude-skills", "takusaotome/claude-skills-library", "tech-leads-club/agent-skills",
         "theflysurfer/claude-skills-marketplace", "tonykoop/claude-skills", "vinnie357/claude-skills"]
NAME = re.compile(r"^[a-z0-9]+(-[a-z0-9]+)*$")
JUDGED_ELSEWHERE = re.compile(r"(?i)eval|trigger|queries|prompts|tests|readme")
QUOTED_POOL, LONG_POOL = 10_000, 20_000
WORDS = range(15, 151)


def git(mirrors, repo, *args):
    folder = os.path.join(mirrors, repo.replace("/", "+"), "repo")
    return subprocess.run(["git", f"--git-dir={folder}", *args], capture_output=True).stdout


def files(mirrors, repo, wanted):
    """(path, bytes) of the files of the newest commit that are wanted."""
    listing = git(mirrors, repo, "ls-tree", "-r", "-z", "HEAD").split(b"\0")
    records = [record.split(b"\t", 1) for record in listing if record]
    rows = [(path.decode("utf-8", "replace"), meta.split()) for meta, path in records]
    rows = [(path, meta[2]) for path, meta in rows if meta[1] == b"blob" and meta[0] != b"120000" and wanted(path)]
    folder = os.path.join(mirrors, repo.replace("/", "+"), "repo")
    batch = subprocess.Popen(["git", f"--git-dir={folder}", "cat-file", "--batch"], stdin=subprocess.PIPE,
                             stdout=subprocess.PIPE, stderr=subprocess.DEVNULL)
    for path, sha in rows:
        batch.stdin.write(sha + b"\n")
        batch.stdin.flush()
        head = batch.stdout.readline().split()
        if len(head) < 3:
            continue
        data = batch.stdout.read(int(head[2]))
        batch.stdout.read(1)
        yield path, data
    batch.stdin.close()
    batch.wait()


def field(text, key):
    """A scalar of the frontmatter with its continuation lines; good enough to name a folder, not a parser."""
    if not text.startswith("---"):
        return ""
    lines = text.split("\n")
    for number, line in enumerate(lines[1:], 1):
        if line.rstrip() == "---":
            return ""
        if line.startswith(key + ":"):
            value = [line[len(key) + 1:].strip()]
            for more in lines[number + 1:]:
                if more.rstrip() == "---" or more[:1] not in (" ", "\t"):
                    break
                value.append(more.strip())
            return " ".join(v for v in value if v not in (">", "|", ">-", "|-", ">+", "|+")).strip().strip("\"'").strip()
    return ""


def origin(repo, path):
    """The repository that a skill was written in, if a collection gathers those of others."""
    parts = path.split("/")
    if parts[:2] == ["mirrors", "repos"]:
        return parts[2]
    if repo == "tomevault-io/skills-registry":
        return "--".join(parts[0].split("--")[:2])
    return f"{repo}/{parts[1]}" if repo == "openclaw/skills" and len(parts) > 2 else repo


def collect(mirrors, repositories):
    seen, skills = set(), []
    for repo in repositories:
        examples = collections.defaultdict(list)
        is_skill = lambda path: path.lower().endswith("skill.md") and "/" in path
        is_example = lambda path: "/examples/" in path and path.endswith(".md") and not is_skill(path)
        found = []
        for path, data in files(mirrors, repo, lambda path: is_skill(path) or is_example(path)):
            if is_skill(path):
                found.append((path, data))
            elif not JUDGED_ELSEWHERE.search(path):
                examples[path.split("/examples/")[0]].append(data.decode("utf-8", "replace"))
        for path, data in found:
            digest = hashlib.sha256(data).digest()
            if digest in seen:
                continue
            seen.add(digest)
            text = data.decode("utf-8", "replace").replace("\r\n", "\n").lstrip("\ufeff")
            skills.append({"repo": origin(repo, path), "path": path, "text": text, "name": field(text, "name"),
                           "description": field(text, "description"), "examples": examples[os.path.dirname(path)]})
    return skills


def usable(skill):
    return NAME.match(skill["name"]) and len(skill["name"]) <= 58 and 0 < len(skill["description"]) <= 1024


def write(out, skills, queries):
    """Writes a set; the name of a further skill of the same name gets a number. Returns the names by position."""
    used, names = collections.Counter(), {}
    os.makedirs(out, exist_ok=True)
    for position, skill in skills:
        used[skill["name"]] += 1
        count = used[skill["name"]]
        name = skill["name"] if count == 1 else f"{skill['name']}-v{count}"
        names[position] = name
        text = skill["text"]
        if count > 1:
            text = re.sub(r"(?m)^name:.*$", lambda _: f"name: {name}", text, count=1)
        folder = os.path.join(out, "skills", name)
        os.makedirs(folder, exist_ok=True)
        with open(os.path.join(folder, "SKILL.md"), "w", encoding="utf-8", errors="replace") as file:
            file.write(text)
    with open(os.path.join(out, "queries.tsv"), "w", encoding="utf-8", errors="replace") as file:
        for query, right, source in queries:
            right = right if isinstance(right, str) else ",".join(names[position] for position in right)
            file.write(f"{query}\t{right}\t{source}\n")
    print(f"{out}: {len(names)} skills, {len(queries)} queries")


def quoted(out, skills, is_asked=lambda skill: True):
    phrase, rng = re.compile(r'["“]([^"”\n]{12,90})["”]'), random.Random(3)
    counts = collections.Counter(skill["name"] for skill in skills)
    rows = [skill for skill in skills if NAME.match(skill["name"]) and counts[skill["name"]] == 1 and skill["description"]]
    queries, gold, others = [], [], []
    for skill in map(dict, rows):
        found = [text.strip(" .,;") for text in phrase.findall(skill["description"])]
        found = [text for text in found if len(text.split()) >= 3 and re.match(r"^[\w\s'’,.\-/?!#@+]+$", text)]
        if len(found) < 2 or not is_asked(skill):
            others.append(skill)
            continue
        text = skill["text"]
        end = text.find("\n---", 3)
        for chosen in rng.sample(found, min(2, max(1, len(found) // 2))):
            if chosen in text[:end]:
                head = text[:end].replace(chosen, " ")
                text, end = head + text[end:], len(head)
                queries.append((chosen, skill["name"], skill["repo"]))
        skill["text"] = text
        gold.append(skill)
    rng.shuffle(others)
    pool = [skill for skill in gold + others[:max(0, QUOTED_POOL - len(gold))] if usable(skill)]
    # A few phrases belong to skills that are too odd for the pool. They stay, as queries that nothing answers.
    write(out, list(enumerate(pool)), queries)


def metatool(out, mirrors):
    tools = json.loads(git(mirrors, "HowieHwong/MetaTool", "show", "HEAD:dataset/plugin_des.json"))
    rows = git(mirrors, "HowieHwong/MetaTool", "show", "HEAD:dataset/data/all_clean_data.csv").decode()
    slug = lambda tool: re.sub(r"[^a-z0-9]+", "-", re.sub(r"(?<=[a-z])(?=[A-Z])", "-", tool).lower()).strip("-")
    skills = [{"name": slug(tool), "text": f"---\nname: {slug(tool)}\ndescription: {json.dumps(text[:1024])}\n---\n"}
              for tool, text in tools.items()]
    where = {tool: position for position, tool in enumerate(tools)}
    queries = []
    for row in csv.DictReader(io.StringIO(rows)):
        query, tool = row.get("Query") or row.get("query"), row.get("Tool") or row.get("tool")
        if query and tool in where:
            queries.append((" ".join(query.split()), [where[tool]], skills[where[tool]]["name"]))
    write(out, list(enumerate(skills)), queries)


SECTION = re.compile(r"(?i)\b(examples?|samples?|usage|how to ask|try (it|this|asking|saying)|requests?|invocations?|"
                     r"what (you|users?) can (ask|say)|use cases?|scenarios?)\b")
ROLE = re.compile(r"""(?ix)^[\s>*\-\d.]*\**_*["“]?(?:user|human|customer|client)(?:'s)?
                      (?:\s+(?:request|asks?|says?|prompt|input|query|message|task|question))?\s*[:：]?\**_*\s*[:：]\**\s*(.+)$""")
LABEL = re.compile(r"""(?ix)^[\s>*\-\d.]*\**_*(?:example\s+)?(?:user\s+)?
                       (?:request|prompt|task|input|query|instruction|example|scenario)\s*\d*\s*[:：]?\**_*\s*[:：]\**\s*(.+)$""")
BULLET = re.compile(r"^\s*[>*\-\d.]*\s*[\"“](.+)[\"”]\s*\.?$")
BEGIN = re.compile(r"(?i)^(please|can|could|i|i'm|i’m|i've|i’ve|i'd|we|we're|we’re|our|my|help|create|build|write|make|find|analy[sz]e|"
                   r"generate|review|design|set|add|fix|update|convert|refactor|implement|explain|show|what|how|why|is|are|should|compare|"
                   r"search|run|plan|draft|summari[sz]e|check|deploy|configure|turn|take|use|prepare|develop|research|test|optimi[sz]e|"
                   r"migrate|extract|translate|identify|investigate|give|tell|there|there's|the|a|an|given|look|perform|calculate|do|"
                   r"evaluate|audit|scan|debug|get|list|read|send|start|transform|screen|model|simulate|predict|discover|download|query|"
                   r"train|apply|initialize|initiali[sz]e|mount|schedule|rewrite|this|when|after|before|for|in|on|which|who|where|just|walk|"
                   r"produce|propose|suggest|recommend|integrate|connect|monitor|track|process|merge|split|import|export|publish|post|"
                   r"edit|improve|simplify|validate|verify|assess|estimate|forecast|visuali[sz]e|plot|map|render|animate|record)\b")
NOT_A_REQUEST = re.compile(r"(?i)[<{\[|]|\.\.\.|…|https?://|\$[A-Z]|→|^\w+\": |let me |i'll |i will |i can |users? (wants?|asks?|needs?|is|has)\b|"
                           r"\be\.g\.|this skill|^use (when|this|for)\b|^when (the )?user")


def requests(text):
    """Example requests in a body: (the whole section that it is in, as it is in the file; the request as a query)."""
    fenced, sections, found = False, [("", [])], []
    for line in text.split("\n"):
        fenced ^= bool(re.match(r"\s*(```|~~~)", line))
        if not fenced and (match := re.match(r"#{1,6}\s+(.*)", line)):
            sections.append((match.group(1), []))
        sections[-1][1].append(line)
    for heading, lines in sections:
        for line in lines:
            match = ROLE.match(line) or (SECTION.search(heading) and (LABEL.match(line) or BULLET.match(line)))
            query = re.sub(r"[*_`]+", "", match.group(1)).strip().strip("\"“”'") if match else ""
            query = re.sub(r"\s+", " ", query.strip())
            letters = sum(char.isalpha() or char.isspace() for char in query)
            if len(query.split()) in WORDS and letters >= 0.85 * len(query) and BEGIN.match(query) and not NOT_A_REQUEST.search(query):
                found.append(("\n".join(lines), query))
    return found


def key(text):
    return re.sub(r"\W+", " ", text).strip().lower()


def marks_of(skill):
    """What a copy shares: name and description, or a body that begins alike."""
    body = key(skill["text"][skill["text"].find("\n---", 3):][:1500])[:600]
    marks = [(skill["name"], key(skill["description"]))]
    return marks + [body] if len(body) > 200 else marks


def long(out, skills, is_asked=lambda skill: True):
    rng = random.Random(5)
    rows = [dict(skill) for skill in skills if usable(skill)]
    asked = collections.defaultdict(list)
    for position, skill in enumerate(rows):
        if JUDGED_ELSEWHERE.search(os.path.dirname(skill["path"])) or not is_asked(skill):
            continue
        end = skill["text"].find("\n---", 3)
        for text in [skill["text"][end:], *skill["examples"]]:
            for section, query in requests(text):
                asked[key(query)].append((position, section, query))
    copies, marks = collections.defaultdict(set), []
    for position, skill in enumerate(rows):
        marks.append(marks_of(skill))
        for mark in marks[position]:
            copies[mark].add(position)
    by_repository, queries = collections.Counter(), []
    for found in asked.values():
        right = {position for position, _, _ in found}
        if len({rows[position]["name"] for position in right}) > 3:
            continue  # a request that belongs to many skills belongs to none
        repo = rows[min(right)]["repo"]
        if by_repository[repo] >= 40:
            continue  # no repository decides alone
        by_repository[repo] += 1
        for position, section, query in found:
            rows[position]["text"] = rows[position]["text"].replace(section, " ").replace(query, " ")
        right |= {copy for position in right for mark in marks[position] for copy in copies[mark]}
        queries.append((found[0][2], sorted(right), repo))
    gold = {position for _, right, _ in queries for position in right}
    others = [position for position in range(len(rows)) if position not in gold]
    rng.shuffle(others)
    pool = sorted(gold | set(others[:max(0, LONG_POOL - len(gold))]))
    write(out, [(position, rows[position]) for position in pool], queries)
    print(f"{len({min(r) for _, r, _ in queries})} skills of {len(by_repository)} repositories are asked for")


def fresh(out, mirrors, skills):
    known = {mark for skill in skills for mark in marks_of(skill)}
    new = [skill for skill in collect(mirrors, FRESH) if not known.intersection(marks_of(skill))]
    repositories = {skill["repo"] for skill in new}
    print(f"{len(new)} skills of {len(repositories)} fresh repositories")
    is_asked = lambda skill: skill["repo"] in repositories
    quoted(os.path.join(out, "fresh-quoted"), new + skills, is_asked)
    long(os.path.join(out, "fresh-long"), new + skills, is_asked)


def main():
    mirrors, out = sys.argv[1:3]
    skills = collect(mirrors, COLLECTIONS)
    write(os.path.join(out, "all"), [row for row in enumerate(skills) if usable(row[1])], [])
    quoted(os.path.join(out, "quoted"), skills)
    metatool(os.path.join(out, "metatool"), mirrors)
    long(os.path.join(out, "long"), skills)
    fresh(out, mirrors, skills)


if __name__ == "__main__":
    main()
