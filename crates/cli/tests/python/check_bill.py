"""Checks a bill of materials against the official schema of CycloneDX 1.6: python check_bill.py FILE"""

import sys

from cyclonedx.schema import SchemaVersion
from cyclonedx.validation.json import JsonStrictValidator

with open(sys.argv[1], encoding="utf-8") as file:
    problem = JsonStrictValidator(SchemaVersion.V1_6).validate_str(file.read())
if problem:
    print(problem)
    sys.exit(1)
