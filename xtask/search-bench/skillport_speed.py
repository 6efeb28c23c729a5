"""What SkillPort's index of skills costs, in the figures of `speed`: skillport_speed.py SKILLS NUMBER FOLDER.

SKILLS is a folder of skills, of which NUMBER are linked into FOLDER, the place of the index too. A name and a number per
line. SkillPort indexes nothing if one skill has a value that it can't store, so such skills are left out; `skills` says how many are left.
"""

import json
import os
import pathlib
import resource
import sys
import time

import yaml
from skillport.modules.indexing import build_index, search
from skillport.shared.config import Config

QUERIES = 50


def usable(text):
    """Whether a skill has the types that SkillPort stores."""
    try:
        about = yaml.safe_load(text.split("\n---", 1)[0].removeprefix("---"))
        json.dumps(about)
        return all(isinstance(about[key], str) for key in ("name", "description"))
    except (yaml.YAMLError, TypeError, KeyError, ValueError):
        return False


def main():
    skills, number, folder = pathlib.Path(sys.argv[1]), int(sys.argv[2]), pathlib.Path(sys.argv[3])
    names = sorted(os.listdir(skills))[:number]
    own = folder / "skills"
    own.mkdir(parents=True, exist_ok=True)
    queries, step = [], max(1, len(names) // QUERIES)
    for position, name in enumerate(names):
        text = (skills / name / "SKILL.md").read_text(encoding="utf-8", errors="replace")
        if not usable(text):
            continue
        (own / name).symlink_to(skills / name)
        if position % step == 0:
            about = yaml.safe_load(text.split("\n---", 1)[0].removeprefix("---"))["description"]
            queries.append(" ".join(about.split()[:8]))
    config = Config(skills_dir=own, db_path=folder / "db" / "skills.lancedb", embedding_provider="none")
    started = time.perf_counter()
    built = build_index(config=config, force=True)
    print("build_ms", round((time.perf_counter() - started) * 1e3, 1))
    print("skills", built.skill_count)
    if not built.success or not built.skill_count:
        sys.exit(f"SkillPort indexed nothing: {built.message}")
    print("peak_bytes", resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024)
    stored = sum(path.stat().st_size for path in (folder / "db").rglob("*") if path.is_file())
    print("disk_bytes", stored)
    times = []
    for _ in range(2):
        times = []
        for query in queries:
            started = time.perf_counter()
            search(query, limit=10, config=config)
            times.append((time.perf_counter() - started) * 1e3)
    times.sort()
    print("short_p50_ms", round(times[len(times) // 2], 3))


if __name__ == "__main__":
    main()
