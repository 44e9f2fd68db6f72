"""Runs a function before and after a repair under the real Dynamo, and compares."""

from __future__ import annotations

import ast
import contextlib
import copy
import io
import itertools
import tempfile
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import libcst as cst
import torch

from pt2lint.finding import Fix
from pt2lint.fixes.edit import apply_edits, check_source
from pt2lint.fixes.repaired import Refusal
from pt2lint.rule import FunctionCode
from tests.files import loaded

_number = itertools.count()
_folder = tempfile.TemporaryDirectory(prefix="pt2lint-lab-")  # gone when the tests end
NO_PROJECT = "/nowhere/m.py"  # of no project, which might say on which torch it runs


def function_code(source: str, name: str = "f", path: str = "m.py") -> FunctionCode:
    """The function of that name as a rule gets it, without the interpreter's knowledge."""
    tree = ast.parse(source)
    imports: dict[str, str] = {}
    last = 0
    for node in tree.body:
        if isinstance(node, ast.Import | ast.ImportFrom):
            last = node.end_lineno or 0
            for alias in node.names:
                base = f"{node.module}." if isinstance(node, ast.ImportFrom) else ""
                local = alias.asname or (alias.name if base else alias.name.split(".")[0])
                imports[local] = base + (alias.name if alias.asname or base else alias.name.split(".")[0])
    found = next(node for node in ast.walk(tree) if isinstance(node, ast.FunctionDef) and node.name == name)
    first = min([found.lineno, *(decorator.lineno for decorator in found.decorator_list)])
    lines = source.splitlines(keepends=True)[first - 1 : found.end_lineno]
    return FunctionCode(path, "".join(lines), first, (), (2, 13), imports, last + 1, source=source)


def nodes(code: FunctionCode, kind: type[cst.CSTNode]) -> list[Any]:
    found: list[cst.CSTNode] = []

    class Find(cst.CSTVisitor):
        def on_visit(self, node: cst.CSTNode) -> bool:
            if isinstance(node, kind) and not (node is code.module.body[0] and code.text[:1] == " "):
                found.append(node)
            return True

    code.module.visit(Find())
    return found


def calls(code: FunctionCode, text: str) -> cst.Call:
    """The first call whose function is spelled so."""
    return next(node for node in nodes(code, cst.Call) if code.module.code_for_node(node.func) == text)


def load(source: str) -> Any:
    """The source as a module of its own."""
    folder = Path(tempfile.mkdtemp(dir=_folder.name))
    path = folder / f"lab_{next(_number)}.py"
    path.write_text(source)
    return loaded(path)


@dataclass
class Outcome:
    """What a call did, as one can see from outside."""

    value: Any
    gradients: list[Any]
    inputs: list[Any]
    buffers: dict[str, Any]
    error: str | None
    printed: str


def run(
    make: Callable[[], Callable[..., Any]], arguments: Sequence[Any], how: Callable[[Any], Any] = lambda f: f
) -> Outcome:
    torch.manual_seed(0)
    target = make()
    given = [copy.deepcopy(argument) for argument in arguments]
    leaves = [one for one in given if isinstance(one, torch.Tensor) and one.requires_grad]
    # What the function gets are not leaves, so that it may change them in place.
    passed = [one * 1 if isinstance(one, torch.Tensor) and one.requires_grad else one for one in given]
    parameters = list(target.parameters()) if isinstance(target, torch.nn.Module) else []
    out, error, value = io.StringIO(), None, None
    gradients: list[Any] = []
    with contextlib.redirect_stdout(out):
        try:
            value = how(target)(*passed)
        except Exception as problem:
            error = type(problem).__name__
    if error is None:
        floats = [one for one in flat(value) if isinstance(one, torch.Tensor) and one.requires_grad]
        if floats:
            total = sum((one * torch.linspace(1, 2, one.numel()).reshape(one.shape)).sum() for one in floats)
            gradients = list(torch.autograd.grad(total, [*leaves, *parameters], allow_unused=True))
    buffers = dict(target.named_buffers()) if isinstance(target, torch.nn.Module) else {}
    return Outcome(value, gradients, passed, buffers, error, out.getvalue())


def flat(value: Any) -> list[Any]:
    if isinstance(value, tuple | list):
        return [leaf for one in value for leaf in flat(one)]
    return [leaf for one in value.values() for leaf in flat(one)] if isinstance(value, dict) else [value]


def same(one: Outcome, other: Outcome, exact: bool = False) -> str | None:
    """The first difference, or None."""
    if one.error or other.error:
        return None if one.error == other.error else f"raised {one.error} before, {other.error} after"
    for what in ("value", "inputs", "buffers", "gradients"):
        before, after = flat(getattr(one, what)), flat(getattr(other, what))
        if len(before) != len(after):
            return f"{what}: {len(before)} before, {len(after)} after"
        for old, new in zip(before, after, strict=True):
            if what == "gradients" and old is None and new is not None and not new.any():
                continue  # a side not taken has a gradient of zero where it had none; the descriptions say so
            difference = differ(old, new, exact)
            if difference:
                return f"{what}: {difference}"
    return (
        None if one.printed == other.printed else f"printed {one.printed!r} before, {other.printed!r} after"
    )


def differ(old: Any, new: Any, exact: bool) -> str | None:
    if not isinstance(old, torch.Tensor) or not isinstance(new, torch.Tensor):
        alike = type(old) is type(new) and (old == new or old != old)
        return None if alike else f"{old!r} before, {new!r} after"
    if old.dtype != new.dtype or old.shape != new.shape:
        return f"{old.dtype} {tuple(old.shape)} before, {new.dtype} {tuple(new.shape)} after"
    if exact:
        fits = torch.equal(torch.isnan(old), torch.isnan(new)) and torch.equal(
            torch.nan_to_num(old), torch.nan_to_num(new)
        )
    else:
        fits = torch.allclose(old, new, rtol=1e-5, atol=1e-6, equal_nan=True)
    return None if fits else f"{old} before, {new} after"


def compiled(target: Any) -> Any:
    """Compiled whole: an error where the graph breaks. What was compiled before serves where its guards hold."""
    return torch.compile(target, backend="aot_eager", fullgraph=True)


def breaks(make: Callable[[], Any], arguments: Sequence[Any]) -> bool:
    """Whether Dynamo breaks the graph in default mode."""
    torch._dynamo.reset()
    with torch._dynamo.error_on_graph_break(True):
        target = torch.compile(make(), backend="eager")
        try:
            target(*copy.deepcopy(list(arguments)))
        except torch._dynamo.exc.TorchDynamoException:
            return True
        except Exception:
            return False
    return False


def applied(source: str, fix: Fix | Refusal) -> str:
    assert isinstance(fix, Fix), fix
    after = apply_edits(source, fix.edits)
    check_source("m.py", after)
    return after


def prove(
    source: str,
    fix: Fix | Refusal,
    samples: Sequence[Sequence[Any]],
    name: str = "f",
    exact: bool = False,
    errors_alike: bool = True,
) -> str:
    """Before, the function breaks on the first sample; after, it does on each the same as before in eager mode,
    compiled whole and not. Returns the text after."""
    after = applied(source, fix)
    old, new = load(source), load(after)

    def maker(module: Any) -> Callable[[], Any]:
        def make() -> Any:
            torch.manual_seed(1)
            target = getattr(module, name)
            return target() if isinstance(target, type) else target

        return make

    outcomes = [run(maker(old), arguments) for arguments in samples]
    assert breaks(maker(old), samples[0]), "it did not break before"
    torch._dynamo.reset()
    for arguments, before in zip(samples, outcomes, strict=True):
        for how in (lambda f: f, compiled):
            then = run(maker(new), arguments, how)
            if not errors_alike and before.error:
                assert then.error, after
                continue
            difference = same(before, then, exact)
            assert difference is None, f"{difference}\non {arguments}\n{after}"
    return after
