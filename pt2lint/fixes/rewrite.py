"""Rewriting of a function's tree: what every repair needs to read names, and to turn new nodes into edits."""

from __future__ import annotations

import ast
import dataclasses
import difflib
import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import lru_cache, wraps
from typing import Any, ParamSpec, TypeAlias, TypeVar

import libcst as cst

from pt2lint.finding import Applicability, Edit, Fix, Trait
from pt2lint.fixes.comments import carry, comments, speak_of_gone
from pt2lint.fixes.edit import apply_edits
from pt2lint.fixes.file import file_of
from pt2lint.fixes.layout import broken
from pt2lint.rule import FunctionCode, one_line
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import children, parameters_in, spend, walk

_P = ParamSpec("_P")
_Made = TypeVar("_Made")
LONGEST = 60  # characters of code in a sentence


@dataclass(frozen=True, slots=True)
class Refusal:
    """Why a repair does not fit here, in a reader's words."""

    reason: str

    def __bool__(self) -> bool:
        return False


class Refused(Exception):
    """Raised somewhere inside a repair that does not fit: the reason, in a reader's words."""


def refusing(repair: Callable[_P, _Made]) -> Callable[_P, _Made | Refusal]:
    """The repair, which gives a `Refusal` where it raises `Refused`."""

    @wraps(repair)
    def attempt(*args: _P.args, **kwargs: _P.kwargs) -> _Made | Refusal:
        try:
            return repair(*args, **kwargs)
        except Refused as no:
            return Refusal(str(no))

    return attempt


Repaired: TypeAlias = Fix | Refusal
Statement: TypeAlias = "cst.SimpleStatementLine | cst.BaseCompoundStatement"
New: TypeAlias = "cst.CSTNode | Sequence[cst.CSTNode] | None"


def accepted(*attempts: Repaired) -> tuple[Fix, ...]:
    """The fixes among the attempts, in order: `report(..., fixes=accepted(to_where(...), to_cond(...)))`."""
    return tuple(attempt for attempt in attempts if isinstance(attempt, Fix))


# In place of the assignment of a name that nothing reads any more, whose value may have an effect.
_DEAD_NAME = Edit("", 0, 0, 0, 0, "dead")
# In place of the import of a name that the file must not import: the fix that needs it is none (`fix`).
_NO_IMPORT = Edit("", 0, 0, 0, 0, "")
# In place of the import of a name that the oldest torch on which the project says it runs does not have.
_TOO_NEW = Edit("", 0, 0, 0, 0, "new")
# In place of what would leave a comment that speaks to a tool about its line without that line.
_NO_LINE = Edit("", 0, 0, 0, 0, "line")
# In place of what would leave a comment that speaks of a call which is gone: `.item()` keeps it in float32, say.
_SAID = Edit("", 0, 0, 0, 0, "said")
_SINCE = {
    "torch._higher_order_ops.print": (2, 13),
    "torch.compiler.is_compiling": (2, 1),
    "torch.compiler.assume_constant_result": (2, 1),
    "torch.cond": (2, 2),
    "torch.library.custom_op": (2, 4),
    "torch.get_autocast_dtype": (2, 4),
}


# How the description of a fix begins and ends that has one of these traits.
_BEGINS: dict[str, str] = {
    "setting": "Workaround, a setting for the whole process: ",
    "workaround": "Workaround: ",
}
ENDS: dict[str, str] = {
    "once proven": "Only `--verify --fix` writes it, where it is proven.",
    "whole numbers": "It is tried with other whole numbers, too.",
}


def fix(
    description: str, edits: Iterable[Edit], *traits: Trait, safe: bool = False, by_hand: bool = False
) -> Repaired:
    """The fix; a refusal where its edits hold the import of a name that the file must not import (`torch_name`)."""
    applicability: Applicability = "safe" if safe else "unsafe"
    found = tuple(edits)
    if _NO_IMPORT in found:
        return Refusal("the file imports torch under a condition only")
    if _TOO_NEW in found:
        return Refusal("the project says that it runs on a torch that does not have it")
    if _NO_LINE in found:
        return Refusal("a comment speaks to a tool about a line that would go")
    if _SAID in found:
        return Refusal("a comment speaks of what would go")
    if _DEAD_NAME in found:
        return Refusal("what made a name that nothing would read any more may have an effect")
    begins = next((text for trait, text in _BEGINS.items() if trait in traits), "")
    # A description that is made of others' has what ends them.
    ends = [text for trait, text in ENDS.items() if trait in traits and text not in description]
    return Fix(begins + " ".join([description, *ends]), applicability, found, by_hand=by_hand, traits=traits)


# --- from trees to edits


def replaced(node: cst.CSTNode, new: Mapping[cst.CSTNode, New]) -> cst.CSTNode:
    """The tree with nodes (found by identity) replaced, by several for a sequence, removed for None."""
    from pt2lint.fixes.replace import Replace

    return node.visit(Replace(node, new))  # type: ignore[return-value]


def rewrite(function: FunctionCode, new: Mapping[cst.CSTNode, New]) -> tuple[Edit, ...]:
    """The edits that replace nodes of the function: only what changed, so that the rest keeps its format.

    Comments of what is replaced go with what takes its place (`pt2lint.fixes.comments`), but for those of a statement
    that goes which say how it is compiled.
    New lines that are too long are broken. An assignment whose name nothing reads any more goes too; where its value
    may have an effect, or a comment speaks to a tool about a line that goes, `fix` refuses what the edits are part of.
    """
    module, code = function.module, function.code
    spend(4 * len(code))
    header = code.count("\n") - function.text.count("\n")
    from pt2lint.fixes.replace import Replace

    replacing = Replace(module, new)
    made: cst.Module = module.visit(replacing)
    # A carriage return alone cannot be told from a line's content here; such files are of another age.
    dead = _dead(function, made)
    if dead is None:
        return (_DEAD_NAME,)
    if dead:
        return rewrite(function, {**new, **dict.fromkeys(dead)})
    old = code.removesuffix("\n").split("\n")[header:]
    # LibCST leaves out a form feed before indentation; the lines that hold one stay as they are.
    plain_code = module.code if "\f" in code else code
    plain = plain_code.removesuffix("\n").split("\n")[header:]
    stale = [comment for node, instead in new.items() if instead is None for comment in _of_compiling(node)]
    carried = carry(
        function.written, made, replacing.became, plain_code, [comment.value for comment in stale]
    )
    if carried is None:
        return (_NO_LINE,)
    after = _with_continued(carried.removesuffix("\n").split("\n"), plain)[header:]
    replaced_ = [function.range(node) for node in (*new, *stale)]
    file = file_of(function)
    edits = []
    for tag, i, j, k, m in difflib.SequenceMatcher(None, plain, after, autojunk=False).get_opcodes():
        if tag == "equal":
            continue
        before, text = old[i:j], after[k:m]
        if speak_of_gone(after, k, before, text):
            return (_SAID,)
        longest = max([file.line_length, *map(len, before)])
        long = {
            line.strip() for line in before if len(line) > file.line_length
        }  # nobody has broken them either
        pieces = (
            [one] if one.strip() in long else broken(one, longest, module.default_indent) for one in text
        )
        lines_ = [part for each in pieces for part in each]
        first = function.first_line + i
        if lines_ != text and before:  # parentheses around what stays
            indent = len(before[0]) - len(before[0].lstrip())
            replaced_.append((first, indent + 1, first + len(before) - 1, len(before[-1].rstrip()) + 1))
        text = lines_
        if len(before) == len(text) == 1 and before == plain[i:j]:
            edit = _within_line(function.path, first, before[0], text[0])
        else:
            lines = "".join(line.rstrip("\r") + "\n" for line in text)
            if first + len(before) > len(file.lines):
                lines = lines.removesuffix("\n")  # the file's last line has no end
            edit = Edit(function.path, first, 1, first + len(before), 1, lines)
        edits.append(edit)
    replaces = tuple(sorted(replaced_))
    return tuple(dataclasses.replace(edit, replaces=replaces) for edit in edits)


def _with_continued(after: list[str], before: Sequence[str]) -> list[str]:
    """The lines; those after a backslash go with theirs where that is indented further, unless they are in a text."""
    known = {line.lstrip(): len(line) - len(line.lstrip()) for line in before if line.endswith("\\")}
    made, shift = [*after], 0
    for at, line in enumerate(after[:-1]):
        if not line.endswith("\\"):
            shift = 0
            continue
        if not shift and line.lstrip() in known:
            shift = len(line) - len(line.lstrip()) - known[line.lstrip()]
        if shift > 0:
            made[at + 1] = " " * shift + after[at + 1]
    if made == after:
        return after
    try:
        same = ast.dump(ast.parse("\n".join(made))) == ast.dump(ast.parse("\n".join(after)))
    except SyntaxError:
        same = False
    return made if same else after


def laid_out(function: FunctionCode, edits: Sequence[Edit]) -> tuple[Edit, ...]:
    """The edits, those of a line as one where it gets too long by them, is a whole statement, and can be broken; so
    with what one of them puts in the place of several lines."""
    file = file_of(function)
    found: list[Edit] = []
    for at in dict.fromkeys(edit.line for edit in edits):
        here = [edit for edit in edits if edit.line == at]
        line = file.lines[at - 1] if 0 < at <= len(file.lines) else ""
        end = at if len(here) > 1 else min(here[0].end_line, len(file.lines))
        last, most = file.lines[end - 1] if end > 0 else "", file.line_length
        alone = all(edit.end_line == end and "\n" not in edit.text for edit in here)
        if alone and not any(edit.line < at <= edit.end_line for edit in edits):
            if end == at:
                after = apply_edits(line, [dataclasses.replace(edit, line=1, end_line=1) for edit in here])
                most = max(most, len(line))
            else:
                after = line[: here[0].column - 1] + here[0].text + last[here[0].end_column - 1 :]
            lines = broken(after, most, function.module.default_indent)
            if len(lines) > 1:
                indent = len(line) - len(line.lstrip())
                whole = (at, indent + 1, end, len(last) + 1)
                here = [Edit(function.path, *whole, "\n".join(lines)[indent:], (whole,))]
        found += here
    return tuple(found)


def aligned(function: FunctionCode, node: cst.Call, name: str) -> list[Edit]:
    """The edits that keep lines below the opening bracket there, where what is called gets another name."""
    first, _, last, _ = function.range(node)
    column = function.range(node.func)[3] + 1  # after the bracket
    shift = len(name) - len(source(function, node.func))
    lines = function.text.split("\n")
    below = [
        (at, text) for at in range(first + 1, last + 1) if (text := lines[at - function.first_line]).strip()
    ]
    starts = [len(text) - len(text.lstrip(" ")) + 1 for _, text in below]
    fits = all(len(text) + shift <= file_of(function).line_length or shift < 0 for _, text in below)
    if shift == 0 or not fits or any(start < column for start in starts):
        return []
    return [Edit(function.path, at, column + min(shift, 0), at, column, " " * shift) for at, _ in below]


_COMPILING = re.compile(r"torch\.compile|dynamo|graph[ -]?break|recompil", re.IGNORECASE)


def _of_compiling(node: cst.CSTNode) -> list[cst.Comment]:
    """The comments right above a statement, where they say how it is compiled."""
    found: list[cst.Comment] = []
    for empty in getattr(node, "leading_lines", ()):
        found = [*found, empty.comment] if empty.comment is not None else []
    return found if any(_COMPILING.search(comment.value) for comment in found) else []


def _dead(function: FunctionCode, after: cst.Module) -> list[cst.CSTNode] | None:
    """The assignments of names that were read before and are no longer; None where one of them must stay."""
    gone = reads(function.module) - reads(after)
    dead: list[cst.CSTNode] = []
    for line_ in walk(after) if gone else ():
        made = assigned(line_) if isinstance(line_, cst.SimpleStatementLine) else None
        if isinstance(line_, cst.SimpleStatementLine) and made is not None and made[0] in gone:
            if not _is_plain(made[1]) or line_.leading_lines or line_.trailing_whitespace.comment:
                return None
            if function.parent(line_) is None:  # not of the code as it was
                return None
            dead.append(line_)
    return dead


def _is_plain(value: cst.BaseExpression) -> bool:
    """Whether the value surely has no effect and raises nothing: names, attributes, literals."""
    if isinstance(value, cst.Attribute):
        return _is_plain(value.value)
    return isinstance(value, cst.Name | cst.SimpleString | cst.Integer | cst.Float)


def _within_line(path: str, line: int, old: str, new: str) -> Edit:
    """The edit of one line, cut down to whole words."""
    words = [re.findall(r"\w+|\s+|.", text) for text in (old, new)]
    shortest = min(map(len, words))
    start = next((n for n in range(shortest) if words[0][n] != words[1][n]), shortest)
    end = next((n for n in range(shortest - start) if words[0][-1 - n] != words[1][-1 - n]), shortest - start)
    column = len("".join(words[0][:start])) + 1
    cut = "".join(words[0][start : len(words[0]) - end])
    text = "".join(words[1][start : len(words[1]) - end])
    return Edit(path, line, column, line, column + len(cut), text.rstrip("\r"))


# --- names of imported things


def torch_name(
    function: FunctionCode, qualified: str, line: int | None = None
) -> tuple[str, tuple[Edit, ...]]:
    """How the file spells a name of torch, and the import to add where it cannot yet.

    `line`: the name is to be read when the file is loaded, at this line; else when the function runs. Where torch
    is not surely there by then, and the file has reasons not to import it, or where the project's oldest torch does not
    have the name, `fix` refuses what these edits are part of.
    """
    file = file_of(function)
    since = _SINCE.get(qualified)
    if since is not None and file.oldest_torch is not None and file.oldest_torch < since:
        return qualified, (_TOO_NEW,)
    own = _own_names(function)
    for local, target in function.imports.items():
        there = file.bound(local, line) in (("always",) if line is not None else ("always", "sometimes"))
        if local in own or local in file.rebound or not there:
            continue
        if target == qualified:
            return local, ()
        if qualified.startswith(target + ".") and target.split(".")[0] == "torch" and "." not in local:
            rest = qualified[len(target) :]
            # A submodule is an attribute of its package only once it was imported: torch itself does so for
            # all that repairs use.
            return local + rest, ()
    if line is None and "torch" in own:
        imported = any(isinstance(use.node, cst.ImportAlias) for use in own["torch"])
        return qualified, () if imported and len(own["torch"]) == 1 else (_NO_IMPORT,)
    free = file.bound("torch") == "no" and "torch" not in own and "torch" not in file.rebound
    if not free or not file.loads_torch:
        return qualified, (_NO_IMPORT,)
    return qualified, (import_edit(function, "import torch"),)


def _own_names(function: FunctionCode) -> dict[str, list[Use]]:
    """The names that the function binds itself, its parameters too, with the places."""
    known: dict[str, list[Use]] | None = function.memo.get("own names")
    if known is None:
        known = function.memo["own names"] = {}
        found = [
            Use(one.name.value, True, one) for one in walk(function.module) if isinstance(one, cst.Param)
        ]
        for one in walk(function.module):
            found += [use for use in uses(one.body) if use.binds] if isinstance(one, cst.FunctionDef) else []
        for use in found:
            known.setdefault(use.name, []).append(use)
    return known


def with_argument(function: FunctionCode, call: cst.Call, text: str) -> tuple[Edit, ...]:
    """An argument behind the others of a call, on a line of its own where the last one has one."""
    path, last = function.path, call.args[-1]
    line, column, _, _ = function.range(last)
    _, _, end_line, end = function.range(last.value)
    before = call.args[-2].value if len(call.args) > 1 else call.func
    margin = function.source.split("\n")[line - 1][: column - 1] or " " * (column - 1)
    if function.range(before)[2] == line or margin.strip():
        return laid_out(function, [Edit(path, end_line, end, end_line, end, f", {text}")])
    if function.range(call)[2] == end_line:
        return (Edit(path, end_line, end, end_line, end, f",\n{margin}{text}"),)
    # A comment behind the last one stays there.
    if isinstance(last.comma, cst.Comma):
        return (Edit(path, end_line + 1, 1, end_line + 1, 1, f"{margin}{text},\n"),)
    comma = Edit(path, end_line, end, end_line, end, ",")
    return (comma, Edit(path, end_line + 1, 1, end_line + 1, 1, f"{margin}{text}\n"))


def arguments(call: cst.Call) -> tuple[list[cst.BaseExpression], dict[str, cst.BaseExpression]] | None:
    """What a call is given by place, and by name; None where arguments are unpacked."""
    if any(one.star for one in call.args):
        return None
    placed = [one.value for one in call.args if one.keyword is None]
    return placed, {one.keyword.value: one.value for one in call.args if one.keyword is not None}


def named_argument(name: str, value: cst.BaseExpression) -> cst.Arg:
    """`name=value`"""
    equal = cst.AssignEqual(cst.SimpleWhitespace(""), cst.SimpleWhitespace(""))
    return cst.Arg(value, cst.Name(name), equal)


def imported_as(function: FunctionCode, module: str) -> str | None:
    """What the file calls a module that it imports."""
    return next((local for local, target in function.imports.items() if target == module), None)


def import_edit(function: FunctionCode, statement: str) -> Edit:
    """The edit that adds an import statement at its place among the file's others."""
    words = statement.split()
    line, above, below = file_of(function).place_of(words[1])
    return Edit(function.path, line, 1, line, 1, f"{above}{statement}\n{below}")


def math_function(function: FunctionCode, name: str) -> tuple[str, tuple[Edit, ...]]:
    """What a function of `math` is called in the file, and the import that this takes."""
    for local, target in function.imports.items():
        if target == "math":
            return f"{local}.{name}", ()
        if target == f"math.{name}":
            return local, ()
    if "math" in function.imports or re.search(r"\bmath\b", function.text):
        raise Refused("`math` means something else here")
    return f"math.{name}", (import_edit(function, "import math"),)


def qualified(function: FunctionCode, node: cst.BaseExpression) -> str | None:
    """What a dotted name means by the file's imports: `F.relu` is "torch.nn.functional.relu"."""
    head, dot, rest = dotted(node).partition(".")
    return function.imports[head] + dot + rest if head in function.imports else None


def meant(function: FunctionCode, node: cst.BaseExpression) -> str:
    """The same, or the name as it is written where the file's imports do not say: a function may import it itself."""
    return qualified(function, node) or dotted(node)


# --- reading and writing of names


@dataclass(frozen=True)
class Use:
    """One place where a name is read or bound."""

    name: str
    binds: bool
    node: cst.CSTNode


def _note_uses(node: cst.CSTNode, found: list[Use]) -> None:
    """Add the uses of names below the node, in order of evaluation."""
    parts: Iterable[cst.CSTNode | None] = ()
    targets: Iterable[cst.CSTNode] = ()
    if node.__class__.__name__ not in _OF_NAMES:
        parts = children(node)
    elif isinstance(node, cst.Name):
        found.append(Use(node.value, False, node))
    elif isinstance(node, cst.ImportAlias):
        found.append(Use(node.evaluated_alias or node.evaluated_name.split(".")[0], True, node))
    elif isinstance(node, cst.FunctionDef):
        found.append(Use(node.name.value, True, node))
        found += [use for use in uses(node.params, node.body) if not use.binds]
    elif isinstance(node, cst.AsName):
        targets = [node.name]
    elif isinstance(node, cst.Attribute | cst.Arg):
        parts = [node.value]
    elif isinstance(node, cst.Param):
        parts = [node.default]
    elif isinstance(node, cst.CompFor):  # its target lives in the comprehension alone
        parts = [node.iter, *node.ifs, node.inner_for_in]
    elif isinstance(node, cst.Assign):
        parts, targets = [node.value], [one.target for one in node.targets]
    elif isinstance(node, cst.AugAssign):
        parts, targets = [node.target, node.value], [node.target]
    elif isinstance(node, cst.AnnAssign | cst.NamedExpr) and node.value is not None:
        parts, targets = [node.value], [node.target]
    elif isinstance(node, cst.For):
        _note_uses(node.iter, found)
        _note_bound(node.target, found)
        parts = [node.body, node.orelse]
    for part in parts:
        if part is not None:
            _note_uses(part, found)
    for target in targets:
        _note_bound(target, found)


# By name: LibCST is imported once something is to be fixed.
_OF_NAMES = frozenset(
    "Name Attribute Arg Assign AugAssign AnnAssign NamedExpr For CompFor AsName ImportAlias Param FunctionDef".split()
)


def _note_bound(target: cst.CSTNode, found: list[Use]) -> None:
    """Add the names that an assignment to the target binds; those that it reads, as `x[0] =` and `x.a =` read x."""
    if isinstance(target, cst.Name):
        found.append(Use(target.value, True, target))
    elif isinstance(target, cst.Tuple | cst.List):
        for element in target.elements:
            _note_bound(element.value, found)
    elif isinstance(target, cst.StarredElement):
        _note_bound(target.value, found)
    else:
        _note_uses(target, found)


def uses(*nodes: cst.CSTNode) -> list[Use]:
    """Every use of a name below the nodes, in order of evaluation; attributes and keywords are not names."""
    return [use for node in nodes for use in _uses(node)]


@lru_cache(maxsize=256)  # repairs ask again and again about the function's body and the branch
def _uses(node: cst.CSTNode) -> tuple[Use, ...]:
    found: list[Use] = []
    _note_uses(node, found)
    return tuple(found)


def reads(*nodes: cst.CSTNode) -> set[str]:
    """The names that are read below the nodes."""
    return {use.name for use in uses(*nodes) if not use.binds}


def binds(*nodes: cst.CSTNode) -> list[str]:
    """The names bound below the nodes, each once, in order."""
    return list(dict.fromkeys(use.name for use in uses(*nodes) if use.binds))


def fresh(function: FunctionCode, wanted: str, owner: cst.CSTNode | None = None) -> str:
    """A name that the function does not use, from `wanted`; and that no repair of another node than `owner` was given,
    since both may be made."""
    given: dict[str, cst.CSTNode | None] = function.memo.setdefault("fresh names", {})
    taken = set(re.findall(r"(?<![\w.])\w+", function.text)) | set(function.imports)
    taken |= {name for name, other in given.items() if owner is not None and other is not owner}
    found = next(name for name in _numbered(wanted) if name not in taken)
    given.setdefault(found, owner)
    return found


def _numbered(name: str) -> Iterator[str]:
    yield name
    number = 2
    while True:
        yield f"{name}_{number}"
        number += 1


# --- where a statement stands


def ancestors(function: FunctionCode, node: cst.CSTNode) -> Iterator[cst.CSTNode]:
    """The nodes around the node, the innermost first."""
    here = function.parent(node)
    while here is not None:
        yield here
        here = function.parent(here)


def enclosing_function(function: FunctionCode, node: cst.CSTNode) -> cst.FunctionDef | None:
    """The innermost function around the node, not the node itself."""
    return next((n for n in ancestors(function, node) if isinstance(n, cst.FunctionDef)), None)


def statement_of(function: FunctionCode, node: cst.CSTNode) -> Statement | None:
    """The statement line or compound statement that holds the node."""
    here: cst.CSTNode | None = node
    while here is not None and not isinstance(here, cst.SimpleStatementLine | cst.BaseCompoundStatement):
        here = function.parent(here)
    return here


def small_of(statement: cst.CSTNode | None) -> cst.BaseSmallStatement | None:
    """The one statement of a line, or of what follows a colon."""
    if (
        not isinstance(statement, cst.SimpleStatementLine | cst.SimpleStatementSuite)
        or len(statement.body) != 1
    ):
        return None
    return statement.body[0]


def assigned(statement: cst.CSTNode | None) -> tuple[str, cst.BaseExpression] | None:
    """The name and the value of a line that is `name = value` and nothing else."""
    only = small_of(statement)
    name = name_in(only)
    return (name.value, only.value) if isinstance(only, cst.Assign) and name is not None else None


def name_in(assign: cst.CSTNode | None) -> cst.Name | None:
    """The name in `name = value`; None where that binds more, or anything else."""
    if not isinstance(assign, cst.Assign) or len(assign.targets) != 1:
        return None
    target = assign.targets[0].target
    return target if isinstance(target, cst.Name) else None


def only_of(body: cst.BaseSuite) -> cst.BaseSmallStatement | None:
    """The one simple statement that a body is, in a line of its own or behind the colon."""
    only: Any = body.body[0] if len(body.body) == 1 else None
    return only if isinstance(body, cst.SimpleStatementSuite) else small_of(only)


def block_of(function: FunctionCode, statement: cst.CSTNode) -> tuple[Sequence[cst.CSTNode], int] | None:
    """The statements of the block that holds the statement, and its place among them."""
    parent = function.parent(statement)
    if not isinstance(parent, cst.IndentedBlock | cst.Module):
        return None
    for index, one in enumerate(parent.body):
        if one is statement:
            return parent.body, index
    return None


def parameters(node: cst.FunctionDef) -> list[cst.Param]:
    """All parameters of the function, starred ones too."""
    given = node.params
    stars = [star for star in (given.star_arg, given.star_kwarg) if isinstance(star, cst.Param)]
    return [*parameters_in(given), *stars]


def bound_before(function: FunctionCode, name: str, statement: cst.CSTNode) -> bool:
    """Whether the name surely has a value when the statement is reached: a parameter, or bound earlier in a
    block that the statement is in."""
    here: cst.CSTNode = statement
    for parent in ancestors(function, statement):
        if isinstance(parent, cst.IndentedBlock):
            for sibling in parent.body:
                if sibling is here:
                    break
                if name in surely_binds(sibling):
                    return True
        if isinstance(parent, cst.For):
            bound: list[Use] = []
            _note_bound(parent.target, bound)
            if any(use.name == name and use.binds for use in bound):
                return True
        if isinstance(parent, cst.FunctionDef):
            return name in {param.name.value for param in parameters(parent)}
        here = parent
    return False


def surely_binds(statement: cst.CSTNode) -> set[str]:
    """The names that are bound once the statement is done, whatever way it went."""
    if isinstance(statement, cst.SimpleStatementLine | cst.FunctionDef | cst.ClassDef):
        return set(binds(statement)) if not isinstance(statement, cst.FunctionDef) else {statement.name.value}
    if isinstance(statement, cst.With):
        return set().union(*(surely_binds(inner) for inner in statement.body.body))
    if isinstance(statement, cst.If) and statement.orelse is not None:
        first = set().union(*(surely_binds(inner) for inner in statement.body.body), set())
        other = statement.orelse
        if isinstance(other, cst.If):
            return first & surely_binds(other)
        return first & set().union(*(surely_binds(inner) for inner in other.body.body), set())
    return set()


def live_after(function: FunctionCode, name: str, statements: Sequence[cst.CSTNode]) -> bool:
    """Whether the name may be read once the statements (neighbours in one block) are done."""
    owner = enclosing_function(function, statements[0])
    if owner is None:
        return True
    inside = {id(use.node) for use in uses(*statements)}
    loop = next(
        (
            node
            for node in ancestors(function, statements[0])
            if isinstance(node, cst.For | cst.While | cst.FunctionDef)
        ),
        None,
    )
    in_loop = {id(use.node) for use in uses(loop)} if isinstance(loop, cst.For | cst.While) else set()
    end = max(function.range(statement)[2:] for statement in statements)
    for use in uses(owner.body):
        if use.name != name or use.binds:
            continue
        if id(use.node) not in inside and (function.range(use.node)[:2] >= end or id(use.node) in in_loop):
            if not _bound_anew(function, use, statements[0]):
                return True
    # Within a loop, the next turn may read it first among the statements themselves.
    return bool(in_loop) and _read_first(name, statements) and isinstance(loop, cst.For | cst.While)


def _bound_anew(function: FunctionCode, use: Use, after: cst.CSTNode) -> bool:
    """Whether the name is assigned after `after` and before it is read, in the read's block or one around it."""
    above = {id(one) for one in (after, *ancestors(function, after))}
    here: cst.CSTNode = use.node
    for outer in ancestors(function, use.node):
        if isinstance(outer, cst.IndentedBlock):
            passed = [at for at, one in enumerate(outer.body) if id(one) in above]
            first, last = (
                max(passed, default=-1) + 1,
                next(at for at, one in enumerate(outer.body) if one is here),
            )
            if any((assigned(one) or ("",))[0] == use.name for one in outer.body[first:last]):
                return True
            if passed:
                return False
        here = outer
    return False


def _read_first(name: str, statements: Sequence[cst.CSTNode]) -> bool:
    first = next((use for use in uses(*statements) if use.name == name), None)
    return first is not None and not first.binds


def statements(function: FunctionCode, lines: Sequence[str]) -> list[Any]:
    """Statements from their source, blocks indented by the module's own indent."""
    config = cst.PartialParserConfig(default_indent=function.module.default_indent)
    made = cst.parse_module("\n".join(lines) + "\n", config).body
    # A blank line stays one where the statements stand deeper.
    return [
        one.with_changes(
            leading_lines=[
                empty if empty.comment else empty.with_changes(indent=False) for empty in one.leading_lines
            ]
        )
        for one in made
    ]


def line(text: str, like: cst.CSTNode | None = None) -> cst.SimpleStatementLine:
    """A simple statement from its source, with the comments that stood above `like`."""
    made = cst.parse_statement(text)
    assert isinstance(made, cst.SimpleStatementLine)
    above = like.leading_lines if isinstance(like, cst.SimpleStatementLine | cst.If | cst.For) else ()
    return made.with_changes(leading_lines=above) if above else made


def source(function: FunctionCode, node: cst.CSTNode) -> str:
    """The node's source, on one line where it is an expression that parentheses hold together."""
    text = function.module.code_for_node(node)
    spend(len(text))
    return _one_line(text) if "\n" in text and isinstance(node, cst.BaseExpression) else text


def breaking(function: FunctionCode, *nodes: cst.CSTNode) -> cst.BaseExpression | None:
    """The first expression at or below the nodes that breaks the graph."""
    parts = (part for node in nodes for part in walk(node) if isinstance(part, cst.BaseExpression))
    return next((part for part in parts if function.range(part) in function.breaks), None)


def sign_of(function: FunctionCode, operator: cst.CSTNode) -> str:
    """An operator without what stands around it, a line end among others."""
    return " ".join(re.sub(r"#.*|\\", "", function.module.code_for_node(operator)).split())


def flat(text: str) -> str:
    """A line of code that goes over several as one, without the comments in it: for a copy beside the original."""
    lines = text.split("\n")
    for comment in comments(text) if "#" in text else ():
        lines[comment.line - 1] = lines[comment.line - 1][: comment.column].rstrip()
    indent = text[: len(text) - len(text.lstrip())]
    return indent + _one_line("\n".join(lines).strip())


def _one_line(text: str) -> str:
    """An expression that stood on several lines, for the line that it comes to to be broken anew; as it is where it
    holds a comment in brackets of its own, or a text over several lines."""
    if "#" in text:
        if _holds_together(text):
            return text
        lines = f"({text}\n)".split("\n")
        for comment in comments("\n".join(lines)):
            lines[comment.line - 1] = lines[comment.line - 1][: comment.column]
        text = "\n".join(lines)[1:-2]
    flat = re.sub(r"(?<=[(\[{]) | (?=[)\]}]|\.[^\W\d])", "", re.sub(r"\s*\\?\n\s*", " ", text))
    for one in (re.sub(r",(?=[)\]}])", "", flat), flat):
        try:
            if ast.dump(ast.parse(one)) == ast.dump(ast.parse(f"({text})")):
                return one
        except SyntaxError:
            continue
    return text


def _holds_together(text: str) -> bool:
    """Whether the lines of an expression are one without what stands around it."""
    try:
        ast.parse(text, mode="eval")
    except SyntaxError:
        return False
    return True


def cut(text: str) -> str:
    """The text in one line, as long as code in a sentence may be."""
    text = one_line(text)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 3]}..."


def in_parentheses(text: str) -> str:
    """The expression in parentheses unless it binds tighter than any operator."""
    node = cst.parse_expression(text)
    plain = cst.Name | cst.Call | cst.Attribute | cst.Subscript | cst.Integer | cst.Float | cst.SimpleString
    return text if isinstance(node, plain) or getattr(node, "lpar", None) else f"({text})"
