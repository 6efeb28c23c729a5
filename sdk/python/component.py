"""A skill in Python as a WebAssembly component: copy this file and `metier.py` beside it, and let componentize-py build it.

In place of `skill.serve()` stands `WitWorld = exported(skill)`. Every call has an instance of its own; what a handler leaves in its
memory, the next call doesn't find.
"""

from __future__ import annotations
import json
from typing import Any

from componentize_py_types import Err
from wit_world import WitWorld
from wit_world.imports.host import Problem, ask

from metier import INTERNAL, Host, HostError, Json, Skill, _words, _Wrong

class _Import:
    """How a host is asked here: by the imported function."""
    def ask(self, method: str, params: Json) -> Any:
        try:
            return json.loads(ask(method, json.dumps(params, ensure_ascii=False, allow_nan=False)))
        except Err as error:
            data = error.value.data
            raise HostError(error.value.code, error.value.message, None if data is None else json.loads(data)) from None

    def send(self, message: Json) -> None:
        """Says something that needs no answer."""
        self.ask(message["method"], message["params"])

def exported(skill: Skill) -> type[WitWorld]:
    """What the world of a component exports: the answers of this skill."""
    class Component(WitWorld):
        def answer(self, about: str, method: str, params: str) -> str:
            try:
                host = Host(_Import())
                contributions = skill._answer(host, "initialize", json.loads(about))
                answer = contributions if method == "initialize" else skill._answer(host, method, json.loads(params))
                return json.dumps(answer, ensure_ascii=False, allow_nan=False)
            except (Exception, SystemExit) as error:
                code, message = error.args if isinstance(error, _Wrong) else (INTERNAL, _words(error))
                raise Err(Problem(code, message, None))
    return Component
