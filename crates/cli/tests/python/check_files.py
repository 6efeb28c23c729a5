"""Checks files against a JSON Schema: python check_files.py SCHEMA FILE..."""

import json
import re
import sys
import tomllib

import jsonschema
import yaml


def content(name):
    with open(name, encoding="utf-8") as file:
        text = file.read()
    if name.endswith((".toml", ".lock")):
        return tomllib.loads(text)
    if name.endswith(".md"):
        text = re.match(r"---\n(.*?\n)---\n", text, re.DOTALL).group(1)
    return yaml.safe_load(text)


with open(sys.argv[1], encoding="utf-8") as file:
    schema = json.load(file)
jsonschema.Draft202012Validator.check_schema(schema)
validator = jsonschema.Draft202012Validator(schema)
wrong = 0
for name in sys.argv[2:]:
    for error in validator.iter_errors(content(name)):
        print(f"{name}: {error.json_path}: {error.message}")
        wrong += 1
sys.exit(1 if wrong else 0)
