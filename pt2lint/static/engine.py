"""The static pass: files in, findings out. It interprets, then lets each rule read the functions that hold an
operation it listens to. It knows no rule by name."""

from __future__ import annotations

import importlib
import importlib.util
import os
import pkgutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from pt2lint.finding import Finding, Problem, RulePage

if TYPE_CHECKING:
    from pt2lint.rule import Rule
    from pt2lint.static.interpret import Interpreter
    from pt2lint.static.modules import Module

NEWEST_TORCH = (2, 15)


@dataclass
class LintResult:
    """`looked_at`: the files beyond those asked for that the answer depends on, there or not."""

    findings: list[Finding] = field(default_factory=list)
    problems: list[Problem] = field(default_factory=list)
    looked_at: list[str] = field(default_factory=list)


def load_rules(rule_paths: Sequence[str] = ()) -> list[type[Rule]]:
    """Every rule of the pack, and of the user's own folders, by code.

    Raises ValueError where two rules claim one code or a rule file does not load.
    """
    pack = importlib.import_module("pt2lint.rules")
    from pt2lint.rule import Rule

    modules = [
        importlib.import_module(m.name)
        for m in pkgutil.walk_packages(pack.__path__, pack.__name__ + ".")
        if not m.ispkg
    ]
    for folder in rule_paths:
        modules += list(_load_folder(folder))
    rules: dict[str, type[Rule]] = {}
    for module in modules:
        for value in vars(module).values():
            if isinstance(value, type) and issubclass(value, Rule) and value.__module__ == module.__name__:
                code = getattr(value, "code", None)
                if code is None:
                    continue
                if code in rules and rules[code] is not value:
                    raise ValueError(
                        f"two rules claim the code {code}: {rules[code].__module__} and {module.__name__}"
                    )
                rules[code] = value
    return [rules[code] for code in sorted(rules)]


def _load_folder(folder: str) -> Iterator[Any]:
    """The rule files of a user's folder. Raises ValueError where one cannot be loaded."""
    if not os.path.isdir(folder):
        raise ValueError(f"rule path {folder}: no such folder")
    for root, _, files in os.walk(folder):
        for file in sorted(files):
            if file.endswith(".py") and file != "__init__.py":
                path = os.path.join(root, file)
                name = "pt2lint_user_rules_" + os.path.relpath(path, folder)[:-3].replace(os.sep, "_")
                spec = importlib.util.spec_from_file_location(name, path)
                assert spec is not None
                assert spec.loader is not None
                module = importlib.util.module_from_spec(spec)
                try:
                    spec.loader.exec_module(module)
                except Exception as e:
                    raise ValueError(f"rule file {path} does not load: {type(e).__name__}: {e}") from e
                yield module


def rule_pages(settings: Any = None) -> list[RulePage]:
    return [rule.page() for rule in load_rules(getattr(settings, "rule_paths", ()))]


def target_torch(settings: Any) -> tuple[int, int]:
    """The torch version to speak of: as set, else the installed one (from its metadata), else the newest known."""
    target = getattr(settings, "target_torch", None)
    if target is not None:
        return (int(target[0]), int(target[1]))
    from importlib.metadata import PackageNotFoundError, version

    try:
        major, minor = version("torch").split(".")[:2]
        return (int(major), int(minor))
    except (PackageNotFoundError, ValueError):
        return NEWEST_TORCH


def lint(files: Sequence[str], settings: Any = None, texts: Mapping[str, str] | None = None) -> LintResult:
    """Lint the files: findings sorted by place, and what could not be read.

    Reads the files and first-party files that they import; never imports or runs them, never imports torch.
    `texts` holds what is to be read in place of a file: an editor's buffer, a notebook's code, a fixed text.
    """
    from pt2lint.static.interpret import Interpreter
    from pt2lint.static.modules import Project

    result = LintResult()
    try:
        rules = load_rules(getattr(settings, "rule_paths", ()))
    except ValueError as e:
        result.problems.append(Problem(None, str(e)))
        rules = load_rules()
    project = Project(texts)
    traced = frozenset(op for rule in rules for op in rule.ops)
    anywhere = frozenset(op for rule in rules if rule.anywhere for op in rule.ops)
    interpreter = Interpreter(project, traced, anywhere)
    modules: list[Module] = []
    for path in files:
        module = _load(project, path, result)
        if module is not None:
            module.linted = True
            modules.append(module)
    roots = getattr(settings, "roots", "modules")
    for module in modules:
        if "torch" not in module.source:
            continue
        try:
            interpreter.run(module, roots)
        except RecursionError:
            result.problems.append(
                Problem(module.path, "nested too deeply to follow; some findings may be missing")
            )
        except Exception as e:  # an error of ours: the other files are still linted
            result.problems.append(Problem(module.path, f"pt2lint failed to follow this file ({_where(e)})"))
    target = target_torch(settings)
    for module in modules:
        result.findings += findings_in(module, interpreter, rules, target, result.problems)
    if not getattr(settings, "pedantic", False):
        result.findings = [f for f in result.findings if f.confidence == "high"]
    result.findings.sort(key=lambda f: f.sort_key)
    result.looked_at = sorted(project.looked_at)
    return result


def _load(project: Any, path: str, result: LintResult) -> Module | None:
    try:
        return project.load(path)
    except SyntaxError as e:
        result.problems.append(
            Problem(path, f"does not parse: {e.msg}; fix it, or exclude the file", e.lineno)
        )
    except UnicodeDecodeError as e:
        result.problems.append(
            Problem(path, f"is not valid {e.encoding}: declare its encoding in the first line, or exclude it")
        )
    except OSError as e:
        result.problems.append(Problem(path, f"cannot be read: {e.strerror or e}"))
    except ValueError as e:
        result.problems.append(Problem(path, f"is not Python source ({e}); exclude it"))
    except (RecursionError, MemoryError):
        result.problems.append(Problem(path, "is nested too deeply to read; exclude it"))
    return None


def findings_in(
    module: Module,
    interpreter: Interpreter,
    rules: Sequence[type[Rule]],
    target: tuple[int, int],
    problems: list[Problem],
) -> Iterator[Finding]:
    """Run the rules over each function of the module that holds an operation they accept.

    A rule that raises loses its own finding and nothing else; `problems` gets a line that says so.
    """
    from pt2lint.rule import FunctionCode

    lines: list[str] | None = None
    for (first, last), noted in interpreter.notes.get(module.path, {}).items():
        ops = [interpreter.finished(op, module.path) for op in noted.values()]
        wanted = [
            (rule, op)
            for op in ops
            for rule in rules
            if op.name in rule.ops and (op.region or rule.anywhere) and rule.accepts(op)
        ]
        if not wanted:
            continue
        if lines is None:
            lines = module.text_lines
        text = "\n".join(lines[first - 1 : last]) + "\n"
        code = FunctionCode(module.path, text, first, tuple(ops), target, module.imports, module.import_line)
        for rule, op in wanted:
            node = code.node_at(op.range)
            if node is not None:
                instance = rule(code)
                try:
                    instance.check(node, op)
                except Exception as e:
                    problems.append(
                        Problem(module.path, f"rule {rule.code} failed here ({_where(e)})", op.line)
                    )
                yield from instance.findings


def _where(error: Exception) -> str:
    """An unexpected error in one line, with the place in pt2lint that a report of it needs."""
    import traceback

    last = traceback.extract_tb(error.__traceback__)[-1]
    text = str(error).split("\n", 1)[0]
    return f"{type(error).__name__}: {text}, at {os.path.basename(last.filename)}:{last.lineno}; please report it"


def selected(code: str, select: Sequence[str], ignore: Sequence[str]) -> bool:
    """Whether a code is reported: the longest prefix that matches it decides, `ignore` at equal length."""
    best, chosen = -1, not select
    for prefixes, verdict in ((select, True), (ignore, False)):
        for prefix in prefixes:
            if (code.startswith(prefix) or prefix == "ALL") and len(prefix) >= best:
                best, chosen = len(prefix), verdict
    return chosen
