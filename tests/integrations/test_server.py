"""`pt2lint server`, as an editor sees it: JSON-RPC over the process's stdin and stdout."""

from __future__ import annotations

import asyncio
import gc
import json
import os
import queue
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

pytest.importorskip("pygls")

from lsprotocol import types as lsp

from pt2lint.integrations.server import Lines, linted, make

SECONDS = 60  # until an answer is missing; a server that works answers at once
CODE = """\
import torch


@torch.compile
def f(x: torch.Tensor):
    y = x * len("é😀") * x.max().item()
    return y
"""
BEFORE = '    y = x * len("é😀") * '
COLUMN = len(BEFORE) + 1  # in UTF-16 units, of which the face takes two


class Editor:
    """A client: it sends what an editor sends and keeps what it is told."""

    def __init__(
        self, folder: Path, python: str, encodings: list[str] | None = None, versions: bool = False
    ) -> None:
        command = [python, "-m", "pt2lint", "server"]
        pipe = subprocess.PIPE
        self.log = folder / "log"
        with open(self.log, "wb") as log:
            self.process = subprocess.Popen(command, cwd=folder, stdin=pipe, stdout=pipe, stderr=log)
        self.folder = folder
        self.inbox: queue.Queue[dict[str, Any]] = queue.Queue()
        self.diagnostics: dict[str, list[dict[str, Any]]] = {}
        self.versions: dict[str, int | None] = {}
        self.messages: list[str] = []
        self.number = 0
        threading.Thread(target=self._read, daemon=True).start()
        able = {
            "general": {"positionEncodings": encodings} if encodings else {},
            "workspace": {"workspaceEdit": {"documentChanges": versions}},
        }
        self.server = self.ask("initialize", processId=None, rootUri=folder.as_uri(), capabilities=able)
        self.tell("initialized")

    def _read(self) -> None:
        assert self.process.stdout is not None
        while header := self.process.stdout.readline():
            length = 0
            while header.strip():
                name, _, value = header.decode().partition(":")
                length = int(value) if name.lower() == "content-length" else length
                header = self.process.stdout.readline()
            self.inbox.put(json.loads(self.process.stdout.read(length)))

    def send(self, **message: Any) -> None:
        assert self.process.stdin is not None
        data = json.dumps({"jsonrpc": "2.0", **message}).encode()
        self.process.stdin.write(b"Content-Length: %d\r\n\r\n%s" % (len(data), data))
        self.process.stdin.flush()

    def tell(self, method: str, **params: Any) -> None:
        self.send(method=method, params=params)

    def ask(self, method: str, **params: Any) -> Any:
        self.number += 1
        self.send(id=self.number, method=method, params=params or None)
        while (message := self._next()).get("id") != self.number or "method" in message:
            pass
        assert "error" not in message, message
        return message.get("result")

    def _next(self) -> dict[str, Any]:
        message = self.inbox.get(timeout=SECONDS)
        if message.get("method") == "textDocument/publishDiagnostics":
            params = message["params"]
            self.diagnostics[params["uri"]] = params["diagnostics"]
            self.versions[params["uri"]] = params.get("version")
        elif message.get("method") == "window/showMessage":
            self.messages.append(message["params"]["message"])
        return message

    # Documents

    def uri(self, name: str) -> str:
        return (self.folder / name).as_uri() if ":" not in name else name

    def open(self, name: str, text: str) -> None:
        document = {"uri": self.uri(name), "languageId": "python", "version": 1, "text": text}
        self.tell("textDocument/didOpen", textDocument=document)

    def change(self, name: str, text: str, version: int) -> None:
        changes = [{"text": text}]
        self.tell(
            "textDocument/didChange",
            textDocument={"uri": self.uri(name), "version": version},
            contentChanges=changes,
        )

    def found(self, name: str, version: int | None = 1) -> list[dict[str, Any]]:
        """The diagnostics of that version of a document, once they are there."""
        uri = self.uri(name)
        while uri not in self.diagnostics or self.versions[uri] != version:
            self._next()
        return self.diagnostics[uri]

    def hover(self, name: str, line: int, character: int) -> str | None:
        place = {"textDocument": {"uri": self.uri(name)}, "position": {"line": line, "character": character}}
        answer = self.ask("textDocument/hover", **place)
        return answer and answer["contents"]["value"]

    def actions(self, name: str, line: int, character: int, **context: Any) -> dict[str, Any]:
        position = {"line": line, "character": character}
        given = self.ask(
            "textDocument/codeAction",
            textDocument={"uri": self.uri(name)},
            range={"start": position, "end": position},
            context={"diagnostics": self.diagnostics.get(self.uri(name), []), **context},
        )
        return {action["title"]: action for action in given or []}

    def applied(self, action: dict[str, Any], name: str, text: str) -> str:
        """The text after an action, whose positions are in UTF-16 units, as an editor applies it."""
        [edits] = action["edit"]["changes"].values()
        assert [*action["edit"]["changes"]] == [self.uri(name)]
        lines = text.split("\n")
        starts = [
            sum(len(line.encode("utf-16-le")) + 2 for line in lines[:number]) for number in range(len(lines))
        ]
        data = text.encode("utf-16-le")
        for edit in sorted(edits, key=lambda edit: -starts[edit["range"]["start"]["line"]]):
            start, end = (starts[at["line"]] + 2 * at["character"] for at in edit["range"].values())
            data = data[:start] + edit["newText"].encode("utf-16-le") + data[end:]
        return data.decode("utf-16-le")

    def close(self) -> int:
        self.ask("shutdown")
        self.tell("exit")
        return self.process.wait(SECONDS)


@pytest.fixture
def editor(tmp_path: Path, installed: str) -> Iterator[Editor]:
    here = Editor(tmp_path, installed)
    yield here
    here.process.kill()
    here.process.wait()


def codes(found: list[dict[str, Any]]) -> list[tuple[str, int]]:
    return [(each["code"], each["range"]["start"]["line"] + 1) for each in found]


def test_a_session(editor: Editor) -> None:
    editor.open("m.py", CODE)
    [found] = editor.found("m.py")
    assert (found["code"], found["source"], found["severity"]) == ("PTB103", "pt2lint", 2)
    start = {"line": 5, "character": COLUMN}
    assert found["range"] == {"start": start, "end": {"line": 5, "character": COLUMN + len("x.max().item()")}}
    assert found["codeDescription"]["href"].endswith("gb0124.html")
    [related] = found["relatedInformation"]
    assert related["message"] == "`f` is compiled"
    assert related["location"]["uri"] == editor.uri("m.py")

    page = editor.hover("m.py", 5, COLUMN + 1)
    assert page is not None
    assert page.startswith("# tensor-item (PTB103)")
    assert "## Use instead" in page
    assert editor.hover("m.py", 0, 0) is None

    actions = editor.actions("m.py", 5, COLUMN)
    assert [*actions][-1] == "Ignore PTB103 on this line"
    silent = editor.applied(actions["Ignore PTB103 on this line"], "m.py", CODE)
    assert silent == CODE.replace(".item()", ".item()  # noqa: PTB103")
    kept = next(
        action for title, action in actions.items() if title.startswith("PTB103: Keep the value as a tensor")
    )
    assert editor.applied(kept, "m.py", CODE).replace(".detach()", "") == CODE.replace(".item()", "")
    assert [d["code"] for d in kept["diagnostics"]] == ["PTB103"]

    editor.change("m.py", silent, 2)
    assert editor.found("m.py", 2) == []
    assert (editor.hover("m.py", 5, COLUMN + 28) or "").startswith("# tensor-item (PTB103)")
    editor.change("m.py", silent.replace(".item()", ""), 3)
    assert codes(editor.found("m.py", 3)) == [("PTX001", 6)]
    [(title, action)] = editor.actions("m.py", 0, 0, only=["source.fixAll"]).items()
    assert title == "Fix all that pt2lint can safely fix"
    assert "noqa" not in editor.applied(action, "m.py", silent.replace(".item()", ""))

    editor.tell("textDocument/didClose", textDocument={"uri": editor.uri("m.py")})
    assert editor.found("m.py", None) == []
    assert editor.messages == []
    assert editor.close() == 0


def test_text_that_does_not_parse_keeps_what_was_found(editor: Editor) -> None:
    editor.open("m.py", CODE)
    editor.found("m.py")
    for version, text in enumerate(
        ["def f(:\n", "\0", "(" * 5000, "x = '\udc80'".encode("utf-8", "replace").decode()], 2
    ):
        editor.change("m.py", text, version)
        assert editor.hover("m.py", 0, 0) is None
        editor.actions("m.py", 0, 0)
    editor.change("m.py", "\n" + CODE, 9)
    assert codes(editor.found("m.py", 9)) == [("PTB103", 7)]
    assert editor.close() == 0


def test_settings_excludes_and_other_buffers(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text(
        "[tool.pt2lint]\nselect = ['PTB']\nignore = ['PTB101']\nexclude = ['old/']\nrule-paths = ['lint']\n"
    )
    (editor.folder / "lint").mkdir()
    (editor.folder / "lint" / "mine.py").write_text("print('a rule that prints')\n")
    (editor.folder / "old").mkdir()
    (editor.folder / "old" / "m.py").write_text(CODE)
    (editor.folder / "helper.py").write_text("def peak(x):\n    return x.max()\n")
    caller = (
        "import torch\nfrom helper import peak\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    print(x)\n"
    )
    caller += "    if peak(x):\n        return x\n    return -x\n"
    editor.open("old/m.py", CODE)
    assert editor.found("old/m.py") == []
    editor.open("m.py", caller)
    assert codes(editor.found("m.py")) == [("PTB110", 8)]
    editor.open("helper.py", "def peak(x):\n    return x.ndim\n")  # what the editor has, not what is on disk
    editor.found("helper.py")
    editor.change("m.py", caller + "\n", 2)
    assert editor.found("m.py", 2) == []
    (editor.folder / "pyproject.toml").write_text("[tool.pt2lint]\nselct = ['PTB']\n")
    editor.change("m.py", caller, 3)
    assert codes(editor.found("m.py", 3)) == [("PTB101", 7)]
    [told] = editor.messages
    assert told.endswith("has no key `selct`; did you mean `select`?")
    del editor.diagnostics[editor.uri("m.py")]
    editor.tell("textDocument/didClose", textDocument={"uri": editor.uri("helper.py")})  # without saving
    assert codes(editor.found("m.py", 3)) == [("PTB101", 7), ("PTB110", 8)]
    editor.open("untitled:Untitled-1", CODE)
    assert codes(editor.found("untitled:Untitled-1")) == [("PTB103", 6)]
    assert editor.close() == 0


def test_positions_in_the_units_that_were_agreed_on(tmp_path: Path, installed: str) -> None:
    editor = Editor(tmp_path, installed, ["utf-8"])
    try:
        agreed = editor.server["capabilities"]["positionEncoding"]
        editor.open("m.py", CODE)
        [found] = editor.found("m.py")
        units = {"utf-8": len(BEFORE.encode()), "utf-16": COLUMN, "utf-32": len(BEFORE)}
        assert found["range"]["start"]["character"] == units[agreed]
    finally:
        editor.process.kill()
        editor.process.wait()


def test_without_pygls_it_says_what_to_install(tmp_path: Path, installed: str) -> None:
    (tmp_path / "pygls.py").write_text("raise ImportError")
    there = {**os.environ, "PYTHONPATH": str(tmp_path)}
    done = subprocess.run(
        [installed, "-m", "pt2lint", "server"], env=there, capture_output=True, text=True, check=False
    )
    assert done.returncode == 2
    assert done.stderr == "pt2lint: the server needs pygls: pip install 'pt2lint[server]'\n"


NAMES = ["a b.py", "é/ñ 😀.py", "100%.py", "a%20b.py", "a#b?c;d.py", "[x].py"]


def test_names_that_need_escapes(tmp_path: Path, installed: str) -> None:
    folder = tmp_path / "with space, é"
    (folder / "é").mkdir(parents=True)
    editor = Editor(folder, installed)
    for name in NAMES:
        editor.open(name, CODE)
        assert codes(editor.found(name)) == [("PTB103", 6)], name
        assert editor.uri(name) in editor.diagnostics, name  # as the editor writes it
        assert "tensor-item" in (editor.hover(name, 5, COLUMN) or ""), name
        action = next(a for title, a in editor.actions(name, 5, COLUMN).items() if title.startswith("Ignore"))
        assert "# noqa: PTB103" in editor.applied(action, name, CODE), name
        editor.change(name, CODE.replace(".item()", ""), 2)
        assert editor.found(name, 2) == [], name
    assert editor.close() == 0


@pytest.mark.parametrize(
    ("uri", "path"),
    [
        ("file:///a%20b/%C3%A9.py", "/a b/é.py"),
        ("file:///c%3A/Users/x%20y.py", "c:/Users/x y.py"),
        ("file:///C:/x.py", "C:/x.py"),
        ("file://server/share/x%20y.py", "//server/share/x y.py"),
        ("file://localhost/x.py", "/x.py"),
        ("file:///a%FFb.py", "/a\udcffb.py"),
        ("file:///a%3Fb%23c;d.py", "/a?b#c;d.py"),
        ("git:/x.py", None),
    ],
)
def test_paths_of_uris(uri: str, path: str | None) -> None:
    from pt2lint.integrations.server import path_of

    found = path_of(uri)
    assert (found and found.replace(os.sep, "/")) == path


def test_an_editor_that_writes_drives_with_an_escape(editor: Editor) -> None:
    """`c%3A` is how VS Code writes them, on whatever system the server runs."""
    uri = "file:///c%3A/Users/x%20y/m.py"
    editor.open(uri, CODE)
    assert codes(editor.found(uri)) == [("PTB103", 6)]


def test_what_was_never_opened_is_no_error(editor: Editor) -> None:
    editor.change("m.py", CODE, 2)
    document = {"uri": editor.uri("m.py")}
    editor.tell("textDocument/didSave", textDocument=document)
    editor.tell("textDocument/didClose", textDocument=document)
    assert editor.hover("m.py", 0, 0) is None
    assert editor.actions("m.py", 0, 0) == {}
    editor.open("m.py", CODE)
    assert codes(editor.found("m.py")) == [("PTB103", 6)]
    assert editor.close() == 0
    assert "Error" not in editor.log.read_text()
    assert editor.messages == []


def test_a_cancelled_request_is_answered_at_once(editor: Editor) -> None:
    long = CODE + "".join(
        f"\n\n@torch.compile\ndef f{i}(x):\n    return x.max().item()\n" for i in range(150)
    )
    editor.open("m.py", long)
    editor.number += 1
    place = {"textDocument": {"uri": editor.uri("m.py")}, "position": {"line": 5, "character": COLUMN}}
    editor.send(id=editor.number, method="textDocument/hover", params=place)
    editor.tell("$/cancelRequest", id=editor.number)
    while (message := editor._next()).get("id") != editor.number:
        assert message.get("method") != "textDocument/publishDiagnostics"
    assert message["error"]["code"] == -32800  # RequestCancelled
    assert len(editor.found("m.py")) == 151


def test_edits_name_the_version_that_they_were_computed_for(tmp_path: Path, installed: str) -> None:
    editor = Editor(tmp_path, installed, versions=True)
    try:
        editor.open("m.py", CODE)
        editor.found("m.py")
        editor.change("m.py", "\n" + CODE, 7)
        actions = editor.actions("m.py", 6, COLUMN)
        assert len(actions) >= 2
        for action in actions.values():
            [change] = action["edit"]["documentChanges"]
            assert change["textDocument"] == {"uri": editor.uri("m.py"), "version": 7}
            assert "changes" not in action["edit"]
            places = {edit["range"]["start"]["line"] for edit in change["edits"]}
            assert 6 in places or places == {2}  # a setting stands below the imports
        assert editor.close() == 0
    finally:
        editor.process.kill()
        editor.process.wait()


GOOD_AND_BAD = """\
from pt2lint.finding import Edit, Fix
from pt2lint.rule import Rule


class Mine(Rule):
    '''It.'''

    code, name, ops = "MINE001", "mine", ("call torch.Tensor.item",)

    def check(self, node, op):
        lines = {"Good": 1, "Bad": 2, "Doubtful": 1}
        fixes = [
            Fix(name, "safe", (Edit(self.function.path, op.line, 1, op.line + count, 1, "    return x.max()\\n"),),
                traits=("once proven",) if name == "Doubtful" else ())
            for name, count in lines.items()
        ]
        self.report(node, op, "it", fixes=fixes)
"""


def test_a_fix_that_would_lose_a_comment_or_waits_for_its_proof_is_not_offered(editor: Editor) -> None:
    (editor.folder / "pyproject.toml").write_text(
        "[tool.pt2lint]\nselect = ['MINE']\nrule-paths = ['lint']\n"
    )
    (editor.folder / "lint").mkdir()
    (editor.folder / "lint" / "mine.py").write_text(GOOD_AND_BAD)
    text = "import torch\n\n\n@torch.compile\ndef f(x):\n    return x.max().item()\n    # why\n\n\ny = 1\n"
    editor.open("m.py", text)
    assert codes(editor.found("m.py")) == [("MINE001", 6)], editor.messages
    titles = [*editor.actions("m.py", 5, 12)]
    assert "MINE001: Good" in titles
    assert "MINE001: Bad" not in titles
    assert "MINE001: Doubtful" not in titles  # it waits for its proof, which the title alone would not say
    assert editor.close() == 0


def test_a_newer_text_ends_the_lint_of_the_older_one() -> None:
    """It ends in the middle of a file, where it is asked whether to go on."""
    text = "import torch\n" + "".join(
        f"\n\n@torch.compile\ndef f{i}(x):\n    return x.max().item()\n" for i in range(50)
    )
    looks = 0

    def stop() -> bool:
        nonlocal looks
        looks += 1
        return looks == 100

    assert linted("m.py", text, {}, stop) is None
    assert looks == 100
    found = linted("m.py", text, {}, lambda: False)
    assert found is not None
    assert len([each for each in found.findings if each.code == "PTB103"]) == 50


def test_what_is_asked_while_a_lint_is_at_work_waits_for_it() -> None:
    """A hover does not begin a second lint of the same version; a change ends the first."""
    begun: list[threading.Event] = []

    async def session(server: Any) -> None:
        stops = [asyncio.Event() for _ in range(2)]

        async def work(uri: str, wait: float, stop: threading.Event) -> None:
            begun.append(stop)
            server.waiting[uri].at_work = True
            await stops[len(begun) - 1].wait()

        server._lint = work
        server.document = lambda uri: SimpleNamespace(version=1)
        server.later("m", 0)
        await asyncio.sleep(0)
        asked = asyncio.ensure_future(server.current("m"))
        await asyncio.sleep(0)
        assert len(begun) == 1
        asked.cancel()
        await asyncio.sleep(0)
        assert not begun[0].is_set()  # its findings are shown all the same
        server.later("m", 0)
        await asyncio.sleep(0)
        assert [stop.is_set() for stop in begun] == [True, False]
        server.forget("m")

    server = make()
    asyncio.run(session(server))
    server.worker.shutdown()


@pytest.mark.parametrize("by_itself", [True, False])
def test_garbage_is_collected_once_the_answer_is_told(
    by_itself: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Where it is not collected by itself, which would be while an answer is made."""
    told: list[str] = []
    monkeypatch.setattr(gc, "isenabled", lambda: by_itself)
    monkeypatch.setattr(gc, "collect", lambda: told.append("garbage"))

    async def session(server: Any) -> None:
        async def answer(uri: str, stop: threading.Event) -> None:
            told.append(uri)

        server._lint_now = answer
        server.document = lambda uri: SimpleNamespace(version=1)
        await server.later("m", 0)

    server = make()
    asyncio.run(session(server))
    server.worker.shutdown()
    assert told == (["m"] if by_itself else ["m", "garbage"])


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "utf-32"])
@pytest.mark.parametrize("text", ["", "abc", "aé😀b", "\ud800x"])
def test_places_and_positions_are_each_others_inverse(text: str, encoding: str) -> None:
    lines = Lines(text, encoding)
    for column in range(1, len(text) + 2):
        assert lines.place(lines.position(1, column)) == (1, column)
    assert lines.place(lsp.Position(0, 10**6)) == (1, len(text) + 1)
    assert lines.place(lsp.Position(5, 3)) == (6, 1)


def test_a_place_at_the_end_of_a_long_line_takes_no_time() -> None:
    lines = Lines("x" * 500_000 + "é" * 500_000)
    started = time.process_time()
    assert lines.place(lsp.Position(0, 10**6)) == (1, 10**6 + 1)
    assert time.process_time() - started < 5
