"""The SDK for skills in Python: copy this file beside the skill. Requires Python 3.9 or newer, nothing else.

Handlers are called one at a time. What they print goes to the log (stderr). An exception fails its own call only.
"""

from __future__ import annotations
import inspect, io, json, os, sys, traceback, typing
from typing import Any, Callable, Iterator, Optional

PROTOCOL, MAX_FRAME = 1, 4 << 20
PARSE, INVALID, METHOD, PARAMS, INTERNAL, REFUSED = -32700, -32600, -32601, -32602, -32603, -32001
TYPES = {str: "string", int: "integer", float: "number", bool: "boolean", list: "array", dict: "object"}
Json = typing.Dict[str, Any]
Handler = typing.TypeVar("Handler", bound=Callable[..., Any])

class HostError(Exception):
    """A request to the host failed: `refused`, or another error."""
    def __init__(self, code: int, message: str, data: Any = None) -> None:
        super().__init__(message)
        self.code, self.message, self.data, self.refused = code, message, data, code == REFUSED

class _Wrong(Exception): """A request of the host that can't be answered: the code and the reason."""

class cancel(typing.NamedTuple):
    """What a hook returns to cancel the call; the caller gets the reason."""
    reason: str

class Host:
    """The host. Each request requires its permission; a refusal raises HostError."""
    def __init__(self, pipes: _Pipes) -> None:
        self._pipes = pipes
        self.skill, self.directory = "", ""
        self.config: Any = None
        self.permissions: list[str] = []

    def ask(self, method: str, /, **params: Any) -> Any:
        """Sends any request; the methods below are shorter."""
        return self._pipes.ask(method, {name: value for name, value in params.items() if value is not None})

    def read_file(self, path: str) -> str:
        return self.ask("host/read_file", path=path)["content"]
    def write_file(self, path: str, content: str) -> None:
        self.ask("host/write_file", path=path, content=content)
    def glob(self, pattern: str) -> list[str]:
        return self.ask("host/glob", pattern=pattern)["paths"]
    def grep(self, pattern: str, path: Optional[str] = None, glob: Optional[str] = None) -> list[Json]:
        return self.ask("host/grep", pattern=pattern, path=path, glob=glob)["matches"]
    def exec(self, command: str) -> Json:
        return self.ask("host/exec", command=command)
    def fetch(self, url: str, method: Optional[str] = None, headers: Optional[Json] = None, body: Optional[str] = None) -> Json:
        return self.ask("host/fetch", url=url, method=method, headers=headers, body=body)
    def env(self, name: str) -> Optional[str]:
        return self.ask("host/env", name=name)["value"]
    def set_env(self, name: str, value: str) -> None:
        self.ask("host/set_env", name=name, value=value)
    def git(self, *arguments: str) -> Json:
        return self.ask("host/git", arguments=list(arguments))
    def llm(self, prompt: str, system: Optional[str] = None, model: Optional[str] = None) -> str:
        return self.ask("host/llm", prompt=prompt, system=system, model=model)["text"]
    def invoke_skill(self, name: str, tool: Optional[str] = None, input: Any = None) -> Json:
        return self.ask("host/invoke_skill", name=name, tool=tool, input=input)
    def log(self, level: str, message: str) -> None:
        self._pipes.send({"method": "host/log", "params": {"level": level, "message": message}})

class Skill:
    """Everything that the skill contributes."""
    def __init__(self) -> None:
        self._tools: dict[str, tuple[Json, Callable[..., Any]]] = {}
        self._workflows: dict[str, tuple[Json, Callable[..., Any]]] = {}
        self._scanners: dict[str, tuple[Json, Callable[..., Any]]] = {}
        self._hooks: dict[str, tuple[Any, list[Callable[..., Any]]]] = {}

    def tool(self, description: str, name: Optional[str] = None, /, **arguments: str) -> Callable[[Handler], Handler]:
        """A tool: (host, its arguments) → output. The schema comes from the annotations; `arguments` describe them."""
        return lambda function: self._add(
            self._tools, name, function, description=description, input_schema=_schema(function, arguments))
    def workflow(self, description: str, name: Optional[str] = None) -> Callable[[Handler], Handler]:
        """A workflow: (host, input) → output. Like a tool it has the name of the function, or `name`."""
        return lambda function: self._add(self._workflows, name, function, description=description)
    def scanner(self, name: str) -> Callable[[Handler], Handler]:
        """A scanner: (host, files) → findings, each with `rule`, `severity`, `file`, `line` and `message`."""
        return lambda function: self._add(self._scanners, name, function)
    def hook(self, phase: str, fail_closed: bool = False) -> Callable[[Handler], Handler]:
        """A hook at a phase: (host, event) → the changed event, None, or cancel("why")."""
        def add(function: Handler) -> Handler:
            spec, functions = self._hooks.get(phase, (phase, []))
            self._hooks[phase] = ({"phase": phase, "fail_closed": True} if fail_closed else spec, [*functions, function])
            return function
        return add

    def _add(self, parts: dict[str, Any], name: Optional[str], function: Handler, **more: Any) -> Handler:
        name = name or function.__name__
        parts[name] = ({"name": name, **more}, function)
        return function

    def serve(self) -> None:
        """Serves on stdin and stdout until the host closes them."""
        pipes = _Pipes()
        host = Host(pipes)
        for id, method, params in pipes.requests():
            try:
                pipes.reply(id, result={} if method == "shutdown" else self._answer(host, method, params))
            except (Exception, SystemExit) as error:
                code, message = error.args if isinstance(error, _Wrong) else (INTERNAL, _words(error))
                pipes.reply(id, error={"code": code, "message": message})
            if method == "shutdown":
                break

    def _answer(self, host: Host, method: str, params: Any) -> Json:
        if method == "initialize":
            return self._initialize(host, params)
        if method == "tool/execute":
            spec, function = _find("tool", self._tools, _field(params, "name"))
            try:
                output = function(host, **_fit(spec["input_schema"], params.get("input")))
                json.dumps(output, allow_nan=False)
                return {"output": output}
            except (Exception, SystemExit) as error:
                return {"output": _words(error), "is_error": True}
        if method == "hook/handle":
            answer: Json = {}
            for function in _find("hook", self._hooks, _field(params, "phase"))[1]:
                changed = function(host, answer.get("event", params.get("event")))
                if isinstance(changed, cancel):
                    return {"cancel": {"reason": changed.reason}}
                answer = answer if changed is None else {"event": changed}
            return answer
        if method == "workflow/run":
            _, function = _find("workflow", self._workflows, _field(params, "name"))
            return {"output": function(host, {} if params.get("input") is None else params["input"])}
        if method == "scanner/run":
            files = _field(params, "files")
            return {"findings": list(_find("scanner", self._scanners, _field(params, "name"))[1](host, files) or [])}
        raise _Wrong(METHOD, f"there is no method `{method}`")

    def _initialize(self, host: Host, params: Any) -> Json:
        if _field(params, "protocol") != PROTOCOL:
            raise _Wrong(PARAMS, f"this skill uses protocol {PROTOCOL}, not {params['protocol']}")
        host.skill, host.directory = _field(params, "skill"), _field(params, "directory")
        host.config, host.permissions = params.get("config"), params.get("permissions", [])
        parts: tuple[dict[str, Any], ...] = (self._tools, self._hooks, self._workflows, self._scanners)
        specs = ([spec for spec, _ in part.values()] for part in parts)
        return dict(zip(("tools", "hooks", "workflows", "scanners"), specs))

class _Pipes:
    """The real stdin and stdout, out of reach of other code; one message per line."""
    def __init__(self) -> None:
        self._input, self._output = io.BufferedReader(io.FileIO(os.dup(0))), io.BufferedWriter(io.FileIO(os.dup(1), "w"))
        empty, end = os.pipe()
        os.close(end)
        os.dup2(empty, 0)  # a child that reads stdin gets end of file,
        os.dup2(2, 1)  # and what it prints goes to the log
        sys.stdout = sys.stderr
        self._asked, self._waiting = 0, typing.cast("list[Json]", [])  # requests that arrived while we waited for an answer

    def requests(self) -> Iterator[tuple[Any, str, Any]]:
        while (message := self._waiting.pop(0) if self._waiting else self._message()) is not None:
            if "method" in message and "id" in message:
                yield message["id"], message["method"], message.get("params")

    def ask(self, method: str, params: Json) -> Any:
        self._asked += 1
        if not self.send({"id": self._asked, "method": method, "params": params}):
            raise HostError(PARAMS, f"the request is longer than {MAX_FRAME} bytes")
        while (message := self._message()) is not None:
            if "method" in message:
                self._waiting.append(message)
            elif message["id"] == self._asked and "error" in message:
                raise HostError(*(message["error"].get(key) for key in ("code", "message", "data")))
            elif message["id"] == self._asked:
                return message["result"]
        raise HostError(INTERNAL, "the host closed the pipe")

    def reply(self, id: Any, **answer: Any) -> None:
        if not self.send({"id": id, **answer}):
            self.reply(id, error={"code": INTERNAL, "message": f"the answer is longer than {MAX_FRAME} bytes"})

    def send(self, message: Json) -> bool:
        """Sends a message unless it is too long; returns whether it was sent."""
        frame = json.dumps({"jsonrpc": "2.0", **message}, ensure_ascii=False, allow_nan=False).encode("utf-8", "replace")
        try:
            self._output.write(frame + b"\n" if len(frame) <= MAX_FRAME else b"")
            self._output.flush()
        except BrokenPipeError:  # the host closed the pipe during an answer
            os._exit(0)
        return len(frame) <= MAX_FRAME

    def _message(self) -> Optional[Json]:
        """The next message; a line that is not one is answered with an error. None at the end of the input."""
        while line := self._input.readline(MAX_FRAME + 1):
            long = len(line) > MAX_FRAME and not line.endswith(b"\n")
            while line and not line.endswith(b"\n"):
                line = self._input.readline(MAX_FRAME)
            if not line.strip() and not long:
                continue
            try:
                message = json.loads("" if long else line.decode())
            except (ValueError, RecursionError):
                why = f"a line is longer than {MAX_FRAME} bytes; each message is one line" if long else "this line is not JSON"
                self.reply(None, error={"code": PARSE, "message": why})
                continue
            known = message if isinstance(message, dict) else {}
            if isinstance(known.get("method"), str) or "id" in known and ("result" in known or "error" in known):
                return known
            self.reply(known.get("id"), error={"code": INVALID, "message": "this line is not a JSON-RPC message"})
        return None

def _schema(function: Callable[..., Any], notes: dict[str, str]) -> Json:
    hints, properties, required = typing.get_type_hints(function), {}, []
    for name, parameter in list(inspect.signature(function).parameters.items())[1:]:
        properties[name] = _type(hints.get(name)) | ({"description": notes[name]} if name in notes else {})
        if parameter.default is parameter.empty:
            required.append(name)
        elif parameter.default is not None:
            properties[name]["default"] = parameter.default
    return {"type": "object"} | ({"properties": properties} if properties else {}) | ({"required": required} if required else {})

def _type(hint: Any) -> Json:
    origin, inner = typing.get_origin(hint) or hint, [each for each in typing.get_args(hint) if each is not type(None)]
    if origin is typing.Literal or origin is list and inner:
        return {"type": "array", "items": _type(inner[0])} if origin is list else {"enum": inner}
    return {"type": TYPES[origin]} if origin in TYPES else _type(inner[0]) if len(inner) == 1 else {}

def _fit(schema: Json, given: Any) -> Json:
    given, required = {} if given is None else given, schema.get("required", [])
    wrong = [] if isinstance(given, dict) else ["expected an object"]
    wrong += [f"missing field `{name}`" for name in required if name not in given]
    known = {} if wrong else {name: given[name] for name in schema.get("properties", {}) if name in given}
    for name, value in known.items():
        wanted, got = schema["properties"][name].get("type"), TYPES.get(type(value))
        if wanted not in (None, got, "number" if got == "integer" else None) and (value is not None or name in required):
            wrong.append(f"`{name}` is not of type {wanted}")
    if wrong:
        raise ValueError(f"the input is invalid: {wrong[0]}")
    return known

def _find(what: str, parts: dict[str, Any], name: str) -> Any:
    if name not in parts:
        raise _Wrong(PARAMS, f"there is no {what} `{name}`")
    return parts[name]

def _field(params: Any, name: str) -> Any:
    if not isinstance(params, dict) or name not in params:
        raise _Wrong(PARAMS, f"missing field `{name}`")
    return params[name]

def _words(error: BaseException) -> str:
    traceback.print_exception(type(error), error, error.__traceback__)
    own = str(error) and not isinstance(error, (LookupError, SystemExit))  # the text of a KeyError is only the key
    return str(error) if own else f"{type(error).__name__}: {error}"
