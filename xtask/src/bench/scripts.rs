//! Programs for the skills of a corpus, so that a scan has something to read: shell, Python and JavaScript of the usual lengths,
//! made of pieces that do what such scripts do (arguments, files, requests, other programs). Seeded like the rest.

use std::fmt::Write as _;
use std::fs;
use std::path::Path;

use super::random::Random;
use crate::Result;

/// Changes whenever the bytes change.
pub(super) const VERSION: &str = "1";

/// The share of skills in a hundred with programs; the number of programs, and their lengths.
const WITH_PROGRAMS: f64 = 30.0;
const PROGRAMS: &[(f64, f64)] = &[(0.0, 1.0), (0.5, 2.0), (0.9, 6.0), (1.0, 15.0)];
const PROGRAM_BYTES: &[(f64, f64)] = &[
    (0.0, 400.0),
    (0.5, 4_000.0),
    (0.9, 14_000.0),
    (0.99, 32_000.0),
    (1.0, 60_000.0),
];

/// A language: the extension of its files, how a file begins, and pieces in which `NAME` is replaced.
type Language = (&'static str, &'static str, &'static [&'static str]);

const LANGUAGES: &[Language] = &[
    (
        "py",
        "#!/usr/bin/env python3\nimport argparse\nimport json\nimport os\nimport subprocess\nimport urllib.request\nfrom pathlib import Path\n\n",
        &[
            "def NAME(path):\n    \"\"\"Reads a file and counts its words.\"\"\"\n    text = Path(path).read_text(encoding=\"utf-8\")\n    counts = {}\n    for word in text.split():\n        counts[word] = counts.get(word, 0) + 1\n    return sorted(counts.items(), key=lambda pair: -pair[1])\n\n",
            "def NAME(items, limit=20):\n    result = []\n    for index, item in enumerate(items):\n        if index >= limit:\n            break\n        result.append({\"index\": index, \"title\": str(item).strip(), \"size\": len(item)})\n    return result\n\n",
            "def NAME(repository):\n    url = f\"https://api.github.com/repos/{repository}/issues\"\n    headers = {\"Authorization\": \"Bearer \" + os.environ[\"GITHUB_TOKEN\"]}\n    request = urllib.request.Request(url, headers=headers)\n    with urllib.request.urlopen(request) as response:\n        return json.load(response)\n\n",
            "def NAME(folder):\n    output = subprocess.run([\"git\", \"log\", \"--oneline\", \"-20\"], cwd=folder, capture_output=True, text=True)\n    return [line.split(\" \", 1) for line in output.stdout.splitlines()]\n\n",
            "class NAME:\n    def __init__(self, name, values):\n        self.name = name\n        self.values = list(values)\n\n    def mean(self):\n        return sum(self.values) / len(self.values) if self.values else 0.0\n\n    def write(self, path):\n        with open(path, \"w\") as out:\n            json.dump({\"name\": self.name, \"values\": self.values}, out)\n\n",
        ],
    ),
    (
        "sh",
        "#!/usr/bin/env bash\nset -euo pipefail\n\n",
        &[
            "NAME() {\n  local file=\"$1\"\n  if [ ! -f \"$file\" ]; then\n    echo \"no such file: $file\" >&2\n    return 1\n  fi\n  grep -c '^#' \"$file\" | sort -n | tail -5\n}\n\n",
            "for NAME in src/*.ts tests/*.ts; do\n  echo \"checking $NAME\"\n  npx tsc --noEmit \"$NAME\" || exit 1\ndone\n\n",
            "NAME=\"$(git rev-parse --abbrev-ref HEAD)\"\ngit fetch origin \"$NAME\"\ngit diff --stat \"origin/$NAME\" | tail -1\n\n",
            "curl -fsS \"https://api.github.com/repos/$1/releases/latest\" | jq -r .tag_name > NAME.txt\n\n",
        ],
    ),
    (
        "js",
        "import fs from \"node:fs\";\nimport path from \"node:path\";\n\n",
        &[
            "export function NAME(folder) {\n  const files = fs.readdirSync(folder).filter((name) => name.endsWith(\".md\"));\n  return files.map((name) => {\n    const text = fs.readFileSync(path.join(folder, name), \"utf8\");\n    return { name, lines: text.split(\"\\n\").length };\n  });\n}\n\n",
            "export async function NAME(query) {\n  const url = new URL(\"https://registry.npmjs.org/-/v1/search\");\n  url.searchParams.set(\"text\", query);\n  const response = await fetch(url);\n  if (!response.ok) {\n    throw new Error(`search failed: ${response.status}`);\n  }\n  const { objects } = await response.json();\n  return objects.map((object) => object.package.name);\n}\n\n",
            "class NAME {\n  #items = new Map();\n\n  add(key, value) {\n    this.#items.set(key, value);\n    return this;\n  }\n\n  toJSON() {\n    return Object.fromEntries([...this.#items].sort(([a], [b]) => a.localeCompare(b)));\n  }\n}\n\n",
        ],
    ),
];

/// Adds programs to the skills below `root`.
pub(super) fn write(root: &Path) -> Result<()> {
    let mut folders: Vec<_> = fs::read_dir(root)?
        .map(|entry| Ok(entry?.path()))
        .collect::<Result<_>>()?;
    folders.sort();
    let mut random = Random::new(0x7363_616e);
    for folder in folders {
        if !random.chance(WITH_PROGRAMS) {
            continue;
        }
        let scripts = folder.join("scripts");
        fs::create_dir_all(&scripts)?;
        for number in 0..random.quantile(PROGRAMS) {
            let (ending, text) = program(&mut random);
            fs::write(scripts.join(format!("step{number}.{ending}")), text)?;
        }
    }
    Ok(())
}

fn program(random: &mut Random) -> (&'static str, String) {
    let (ending, head, pieces) = LANGUAGES[random.below(LANGUAGES.len())];
    let length = random.quantile(PROGRAM_BYTES);
    let mut text = head.to_owned();
    let mut number = 0;
    while text.len() < length {
        let mut name = String::new();
        let _ = write!(name, "step_{number}");
        text.push_str(&random.pick(pieces).replace("NAME", &name));
        number += 1;
    }
    (ending, text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn some_skills_get_programs_and_always_the_same() {
        let make = || {
            let folder = tempfile::tempdir().unwrap();
            for number in 0..60 {
                fs::create_dir(folder.path().join(format!("skill-{number}"))).unwrap();
            }
            write(folder.path()).unwrap();
            let with = |number: &usize| {
                let scripts = folder.path().join(format!("skill-{number}/scripts"));
                scripts.is_dir()
            };
            (0..60).filter(with).collect::<Vec<_>>()
        };
        let first = make();
        assert!((8..30).contains(&first.len()), "{first:?}");
        assert_eq!(first, make());
    }
}
