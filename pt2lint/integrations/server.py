"""`pt2lint server`: findings in the editor, by the Language Server Protocol on stdin and stdout (pygls has the
protocol).

What is linted is the editor's text, not the file, a moment after the last change; a file that does not parse keeps
the findings that it had. Linting runs in a thread of its own, so that the editor never waits for it.
"""

from __future__ import annotations

import asyncio
import gc
import importlib
import os
import re
import sys
import threading
import warnings
from collections.abc import Callable, Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any
from urllib.parse import unquote, urlsplit

from lsprotocol import types as lsp

try:
    from pygls.lsp.server import LanguageServer  # 2.x
except ImportError:
    LanguageServer = importlib.import_module("pygls.server").LanguageServer  # type: ignore[misc]

from pt2lint import __version__
from pt2lint.check import Checked, check
from pt2lint.finding import Edit, Finding, Fix, Stopped
from pt2lint.fixes.edit import EditError, checked
from pt2lint.fixes.rounds import fix_findings
from pt2lint.project.config import Configs
from pt2lint.project.discover import Discovery
from pt2lint.project.suppress import add_noqa
from pt2lint.report.page import markdown, registry_link
from pt2lint.static.change import tree_of
from pt2lint.static.memory import Memory

WAIT = 0.25  # seconds after the last change
STACK = 256 * 2**20  # bytes: code may be nested deeply, and a thread's own stack is small
SEVERITIES = {
    "error": lsp.DiagnosticSeverity.Error,
    "warning": lsp.DiagnosticSeverity.Warning,
    "note": lsp.DiagnosticSeverity.Hint,
}
FIX_ALL = "source.fixAll.pt2lint"
_CODE = re.compile(r"\b[A-Z]{3,}[0-9]{3}\b")


class Lines:
    """The lines of a text, and positions in it as pt2lint and as the editor count them.

    Editors count in units of `encoding` ("utf-16" unless they agree on another), pt2lint in code points.
    """

    def __init__(self, text: str, encoding: str = "utf-16") -> None:
        self.lines = re.split(r"\r\n|\r|\n", text)
        self.encoding = encoding

    def _width(self, text: str) -> int:
        if self.encoding == "utf-32" or text.isascii():
            return len(text)
        if self.encoding == "utf-8":
            return len(text.encode("utf-8", "surrogatepass"))
        return len(text.encode("utf-16-le", "surrogatepass")) // 2

    def position(self, line: int, column: int) -> lsp.Position:
        """A place counted from 1 in code points, as the editor has it; the nearest where there is none."""
        if line > len(self.lines):
            return lsp.Position(len(self.lines) - 1, self._width(self.lines[-1]))
        return lsp.Position(line - 1, self._width(self.lines[line - 1][: column - 1]))

    def range(self, line: int, column: int, end_line: int, end_column: int) -> lsp.Range:
        return lsp.Range(self.position(line, column), self.position(end_line, end_column))

    def place(self, position: lsp.Position) -> tuple[int, int]:
        """The editor's position as (line, column), counted from 1 in code points."""
        text = self.lines[position.line] if position.line < len(self.lines) else ""
        if text.isascii():
            return position.line + 1, min(position.character, len(text)) + 1
        left, column = position.character, 1
        for character in text:
            left -= self._width(character)
            if left < 0:
                break
            column += 1
        return position.line + 1, column


@dataclass
class Lint:
    """A document's lint that is waiting or at work, of which version it is, and whether its result is still wanted."""

    version: int | None
    task: asyncio.Task[None]
    stop: threading.Event
    at_work: bool = False


@dataclass
class Seen:
    """What was found in one version of a document."""

    version: int | None
    text: str
    lines: Lines
    findings: list[Finding] = field(default_factory=list)
    pages: Mapping[str, Any] = field(default_factory=dict)
    watched: frozenset[str] = frozenset()

    def depends_on(self, path: str) -> bool:
        """Whether the findings may change with a file: one that was looked for, or no Python, or a rule of the user's;
        the others of the folder may follow calls into it, which then was looked for."""
        if not path.endswith(".py") or path in self.watched:
            return True
        return any(
            path.startswith(folder + os.sep) for folder in Configs().of(os.path.dirname(path)).rule_paths
        )

    def at(self, range: lsp.Range) -> list[Finding]:
        """The findings that a range of the editor touches."""
        start, end = self.lines.place(range.start), self.lines.place(range.end)
        return [f for f in self.findings if (f.line, f.column) <= end and start <= (f.end_line, f.end_column)]


class Server(LanguageServer):
    """The documents that are open, what was found in each, and one thread that lints."""

    def __init__(self) -> None:
        super().__init__("pt2lint", __version__)
        self.seen: dict[str, Seen] = {}
        self.waiting: dict[str, Lint] = {}
        self.told: set[str] = set()
        self.memory = Memory()
        before = threading.stack_size(STACK)
        self.worker = ThreadPoolExecutor(1)
        self.worker.submit(int).result()  # starts the thread, while the size of stacks is ours
        threading.stack_size(before)

    def document(self, uri: str) -> Any | None:
        """The open document of that name, however its escapes are written; pygls 2 keeps it without them."""
        open = self.workspace.text_documents
        return open.get(unquote(uri)) or open.get(uri)

    def heed_only_open_documents(self) -> None:
        """A change of a document that was never opened is the editor's mistake, and no error of ours."""
        workspace = self.workspace
        update = workspace.update_text_document

        def update_if_open(document: lsp.VersionedTextDocumentIdentifier, change: Any) -> None:
            if self.document(document.uri) is not None:
                update(document, change)

        workspace.update_text_document = update_if_open  # type: ignore[assignment, method-assign]

    # Linting

    def later(self, uri: str, wait: float = WAIT) -> asyncio.Task[None]:
        """Lint a document after a moment, unless it changes once more; what is at work on it ends."""
        self.forget(uri)
        document, stop = self.document(uri), threading.Event()
        task = asyncio.get_running_loop().create_task(self._lint(uri, wait, stop))
        self.waiting[uri] = Lint(None if document is None else document.version, task, stop)
        return task

    def forget(self, uri: str) -> None:
        waiting = self.waiting.pop(uri, None)
        if waiting is not None:
            waiting.stop.set()
            waiting.task.cancel()

    def being_linted(self, uri: str, version: int | None) -> asyncio.Task[None] | None:
        """The lint of this very version that the thread was given, if it is not through."""
        waiting = self.waiting.get(uri)
        at_work = waiting is not None and waiting.at_work and not waiting.task.done()
        return waiting.task if waiting is not None and at_work and waiting.version == version else None

    async def _lint(self, uri: str, wait: float, stop: threading.Event) -> None:
        await asyncio.sleep(wait)
        try:
            await self._lint_now(uri, stop)
        finally:
            if not gc.isenabled():  # by itself it would come while somebody waits for an answer
                self.worker.submit(gc.collect)

    async def _lint_now(self, uri: str, stop: threading.Event) -> None:
        document = self.document(uri)
        path = path_of(uri)
        if document is None or path is None:
            return
        text, version = document.source, document.version
        beside = {
            other: each.source
            for each in self.workspace.text_documents.values()
            if each is not document and (other := path_of(each.uri)) is not None
        }
        loop = asyncio.get_running_loop()
        waiting = self.waiting.get(uri)
        if waiting is not None and waiting.stop is stop:
            waiting.version, waiting.at_work = version, True
        try:
            checked = await loop.run_in_executor(
                self.worker, linted, path, text, beside, stop.is_set, self.memory
            )
        except Exception as error:  # a defect of ours must not end the editor's session
            self.say(f"pt2lint failed on {path}: {type(error).__name__}: {error}; please report it")
            return
        document = self.document(uri)
        if document is None or document.version != version:
            return  # it has changed meanwhile, and is linted again
        if checked is None:
            return
        for problem in checked.problems:
            self.say(str(problem))
        lines = Lines(text, self.encoding)
        self.seen[uri] = Seen(
            version,
            text,
            lines,
            checked.findings,
            checked.pages,
            frozenset(map(os.path.abspath, checked.watched)),
        )
        self.publish(uri, version, [self.diagnostic(f, lines, checked) for f in checked.findings])

    @property
    def encoding(self) -> str:
        given = self.workspace.position_encoding
        return str(getattr(given, "value", None) or given or "utf-16")

    async def current(self, uri: str) -> Seen | None:
        """What was found in the document as it now stands."""
        seen, document = self.seen.get(uri), self.document(uri)
        if document is not None and (seen is None or seen.version != document.version):
            await asyncio.wait([self.being_linted(uri, document.version) or self.later(uri, 0)])
            seen = self.seen.get(uri)
            if seen is not None and seen.version != document.version:
                return None  # positions are those of another text
        return seen

    # What is sent

    def uri_of(self, path: str) -> str:
        """The file's URI, as the editor writes it where it has the file open."""
        documents = self.workspace.text_documents.values()
        return next((each.uri for each in documents if path_of(each.uri) == path), uri_of(path))

    def publish(self, uri: str, version: int | None, diagnostics: list[lsp.Diagnostic]) -> None:
        if hasattr(self, "publish_diagnostics"):  # pygls 1.x
            self.publish_diagnostics(uri, diagnostics, version)
        else:
            self.text_document_publish_diagnostics(lsp.PublishDiagnosticsParams(uri, diagnostics, version))

    def say(self, text: str) -> None:
        """Tell the user something, once."""
        if text in self.told:
            return
        self.told.add(text)
        if hasattr(self, "show_message"):  # pygls 1.x
            self.show_message(text, lsp.MessageType.Warning)
        else:
            self.window_show_message(lsp.ShowMessageParams(lsp.MessageType.Warning, text))

    def diagnostic(self, finding: Finding, lines: Lines, checked: Checked) -> lsp.Diagnostic:
        page = checked.pages.get(finding.code)
        link = registry_link(page.graph_breaks[0]) if page is not None and page.graph_breaks else None
        related = []
        for step in finding.flow[:20]:
            there = (
                lines
                if step.path == finding.path
                else Lines(checked.sources.get(step.path, ""), self.encoding)
            )
            end = len(there.lines[step.line - 1]) + 1 if step.line <= len(there.lines) else 1
            location = lsp.Location(self.uri_of(step.path), there.range(step.line, 1, step.line, end))
            related.append(lsp.DiagnosticRelatedInformation(location, step.message))
        return lsp.Diagnostic(
            range=lines.range(finding.line, finding.column, finding.end_line, finding.end_column),
            severity=SEVERITIES[finding.severity],
            code=finding.code,
            code_description=lsp.CodeDescription(link) if link else None,
            source="pt2lint",
            message=finding.told,
            related_information=related or None,
        )

    def edits(self, uri: str, seen: Seen, edits: Iterable[Edit]) -> lsp.WorkspaceEdit:
        """The edits as the editor takes them: of the version that they were computed for, which tells it to refuse
        them once the text is another; without it where the editor knows no versions."""
        changes: dict[str, list[lsp.TextEdit]] = {}
        for edit in edits:
            lines, there = seen.lines, uri
            if edit.path != path_of(uri):
                there = self.uri_of(edit.path)
                lines = Lines(self.workspace.get_text_document(there).source, self.encoding)
            at = lines.range(edit.line, edit.column, edit.end_line, edit.end_column)
            text = edit.text
            if edit.line > len(lines.lines):  # after a last line that has no end
                text = "\n" + text
            changes.setdefault(there, []).append(lsp.TextEdit(at, text))
        if not self.heeds_versions:
            return lsp.WorkspaceEdit(changes=changes)
        versions = {uri: seen.version}
        for other in changes.keys() - {uri}:
            document = self.document(other)
            versions[other] = None if document is None else document.version
        return lsp.WorkspaceEdit(
            document_changes=[
                lsp.TextDocumentEdit(
                    lsp.OptionalVersionedTextDocumentIdentifier(uri=there, version=versions[there]), [*given]
                )
                for there, given in changes.items()
            ]
        )

    @property
    def heeds_versions(self) -> bool:
        """Whether the editor takes edits of a version: what creates and renames files comes in no other way."""
        workspace = self.client_capabilities.workspace
        able = workspace.workspace_edit if workspace is not None else None
        return able is not None and bool(able.document_changes or able.resource_operations)

    def texts(self, uri: str, seen: Seen, fix: Fix) -> dict[str, str]:
        """The texts of the files that a fix changes, as the editor has them."""
        others = {edit.path for edit in fix.edits} - {path_of(uri)}
        found = {path: self.workspace.get_text_document(uri_of(path)).source for path in others}
        return {**found, path_of(uri) or "": seen.text}

    def all_safe(self, path: str, seen: Seen) -> list[Edit]:
        """The edits of all safe fixes in the document that go together."""
        own = [f for f in seen.findings if all(edit.path == path for fix in f.fixes for edit in fix.edits)]
        fixed = fix_findings(own, texts={path: seen.text})
        return list(dict.fromkeys(edit for _, fix in fixed.taken for edit in fix.edits))

    def actions(
        self, uri: str, seen: Seen, range: lsp.Range, given: Sequence[lsp.Diagnostic]
    ) -> list[lsp.CodeAction]:
        """Each fix of the findings in the range, a comment that silences each, and all safe fixes of the file."""
        made = []
        for finding in seen.at(range):
            about = [d for d in given if d.code == finding.code and d.range.start.line == finding.line - 1]
            for number, fix in enumerate(
                fix
                for fix in finding.fixes
                # One that waits for its proof may not work at all: `--fix` leaves it, too.
                if fix.is_usable and not fix.waits_for_proof and applies(fix, self.texts(uri, seen, fix))
            ):
                action = lsp.CodeAction(f"{finding.code}: {title(fix)}", lsp.CodeActionKind.QuickFix, about)
                action.edit = self.edits(uri, seen, fix.edits)
                action.is_preferred = number == 0 and fix.applicability == "safe"
                made.append(action)
            if finding.code != "PTX001":
                silence = silenced(seen.text, finding)
                if silence:
                    told = f"Ignore {finding.code} on this line"
                    action = lsp.CodeAction(told, lsp.CodeActionKind.QuickFix, about)
                    action.edit = self.edits(uri, seen, silence)
                    made.append(action)
        path = path_of(uri) or ""
        every = self.all_safe(path, seen)
        if every:
            action = lsp.CodeAction("Fix all that pt2lint can safely fix", FIX_ALL)
            action.edit = self.edits(uri, seen, every)
            made.append(action)
        return made


def linted(
    path: str,
    text: str,
    beside: Mapping[str, str],
    stop: Callable[[], bool] | None = None,
    memory: Memory | None = None,
) -> Checked | None:
    """What the command line would say of the file with this text, with the settings of its folder; None where it
    does not parse, which is the editor's to show, and where `stop` said meanwhile that nobody waits for it."""
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            tree_of(text.removeprefix("\ufeff"))
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    configs = Configs()
    if os.path.exists(path) and not Discovery([path], configs, force_exclude=True).files:
        return Checked()
    try:
        return check([path], configs, texts={path: text}, beside=beside, stop=stop, memory=memory)
    except Stopped:
        return None


def applies(fix: Fix, texts: Mapping[str, str]) -> bool:
    """Whether the fix leaves files that compile and loses nothing but what it says; `texts` are those of its files."""
    edits: dict[str, list[Edit]] = {}
    for edit in fix.edits:
        edits.setdefault(edit.path, []).append(edit)
    try:
        for path, given in edits.items():
            checked(path, texts[path], given)
        return bool(edits)
    except (EditError, KeyError):
        return False


def title(fix: Fix) -> str:
    """The first sentence of what a fix does."""
    said = re.split(r"[.;] ", fix.description)[0].rstrip(".")
    return said + (" (may change behaviour)" if fix.applicability == "unsafe" else "")


def silenced(text: str, finding: Finding) -> list[Edit]:
    """The edits that add a comment which silences the finding."""
    try:
        new = add_noqa(text, [finding])
    except (SyntaxError, ValueError):
        return []
    pairs = zip(Lines(text).lines, Lines(new).lines, strict=True)
    return [
        Edit(finding.path, number, 1, number, len(old) + 1, line)
        for number, (old, line) in enumerate(pairs, 1)
        if old != line
    ]


def path_of(uri: str) -> str | None:
    """The file of a document; a made-up one for a new document without a file, None for what is no document."""
    parts = urlsplit(uri)
    if parts.scheme == "file":
        path = unquote(parts.path, errors="surrogateescape")
        if parts.netloc not in ("", "localhost"):  # a share
            path = f"//{unquote(parts.netloc)}{path}"
        elif re.match(r"/[A-Za-z]:", path):
            path = path[1:]
        else:
            return path
        return path.replace("/", os.sep)
    if parts.scheme == "untitled":
        return os.path.abspath(os.path.basename(unquote(parts.path)) or "untitled") + ".py"
    return None


def uri_of(path: str) -> str:
    from pathlib import Path

    return Path(os.path.abspath(path)).as_uri()


def make() -> Server:
    """A server with all that it can do registered."""
    server = Server()

    def is_python(uri: str, language: str = "") -> bool:
        return language == "python" or uri.endswith((".py", ".pyi"))

    @server.feature(lsp.INITIALIZE)
    def initialize(params: lsp.InitializeParams) -> None:
        server.heed_only_open_documents()

    @server.feature(lsp.TEXT_DOCUMENT_DID_OPEN)
    async def did_open(params: lsp.DidOpenTextDocumentParams) -> None:
        if is_python(params.text_document.uri, params.text_document.language_id):
            server.later(params.text_document.uri, 0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CHANGE)
    async def did_change(params: lsp.DidChangeTextDocumentParams) -> None:
        uri = params.text_document.uri
        if uri in server.seen or uri in server.waiting or is_python(uri):
            server.later(uri)

    @server.feature(lsp.TEXT_DOCUMENT_DID_SAVE)
    async def did_save(params: lsp.DidSaveTextDocumentParams) -> None:
        saved = path_of(params.text_document.uri) or ""
        for uri, seen in [*server.seen.items()]:
            if seen.depends_on(saved) or uri == params.text_document.uri:
                server.later(uri, 0)

    @server.feature(lsp.TEXT_DOCUMENT_DID_CLOSE)
    async def did_close(params: lsp.DidCloseTextDocumentParams) -> None:
        closed = path_of(params.text_document.uri) or ""
        server.forget(params.text_document.uri)
        if server.seen.pop(params.text_document.uri, None) is not None:
            server.publish(params.text_document.uri, None, [])
        for uri, seen in [*server.seen.items()]:
            if closed in seen.watched:  # what was not saved is gone
                server.later(uri, 0)

    @server.feature(lsp.TEXT_DOCUMENT_HOVER)
    async def hover(params: lsp.HoverParams) -> lsp.Hover | None:
        seen = await server.current(params.text_document.uri)
        if seen is None:
            return None
        found = seen.at(lsp.Range(params.position, params.position))
        codes = [finding.code for finding in found]
        line, column = seen.lines.place(params.position)
        for word in _CODE.finditer(seen.lines.lines[line - 1] if line <= len(seen.lines.lines) else ""):
            if word.start() < column <= word.end():
                codes.append(word.group())  # in a comment that silences
        pages = [seen.pages[code] for code in dict.fromkeys(codes) if code in seen.pages]
        if not pages:
            return None
        text = "\n\n---\n\n".join(f"# {page.name} ({page.code})\n\n{markdown(page)}" for page in pages)
        return lsp.Hover(lsp.MarkupContent(lsp.MarkupKind.Markdown, text))

    kinds = [lsp.CodeActionKind.QuickFix, FIX_ALL]

    @server.feature(lsp.TEXT_DOCUMENT_CODE_ACTION, lsp.CodeActionOptions(code_action_kinds=kinds))
    async def code_action(params: lsp.CodeActionParams) -> list[lsp.CodeAction]:
        uri = params.text_document.uri
        seen = await server.current(uri)
        if seen is None:
            return []
        actions = server.actions(uri, seen, params.range, params.context.diagnostics)
        only = params.context.only
        return [
            action
            for action in actions
            if only is None or any(f"{action.kind}.".startswith(f"{wanted}.") for wanted in only)
        ]

    return server


def run() -> int:
    """Serve until the editor ends it."""
    out = os.fdopen(os.dup(sys.stdout.fileno()), "wb")
    os.dup2(
        sys.stderr.fileno(), sys.stdout.fileno()
    )  # what a user's rule prints must not get into the protocol
    if sys.stdin.isatty():
        print("pt2lint server: an editor starts this and speaks LSP with it", file=sys.stderr)
    gc.disable()
    make().start_io(sys.stdin.buffer, out)
    return 0
