"""Groups of files: what is said does not depend on how the work is spread, and a crash costs one file."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import textwrap
from pathlib import Path

import pytest

from pt2lint.finding import Finding
from pt2lint.project.config import Settings
from pt2lint.rule import FunctionCode
from pt2lint.static import engine, parallel, workers
from pt2lint.static.analysis import Analysis
from pt2lint.static.cache import Cache
from pt2lint.static.engine import lint
from pt2lint.static.facts import from_plain, to_plain
from pt2lint.static.interpret import Interpreter
from pt2lint.static.parallel import Parallel
from pt2lint.static.source import project
from pt2lint.static.source.project import Project
from pt2lint.static.source.reads import calls
from tests.files import written
from tests.linting import findings

LAYER = """\
import torch
from torch import nn


class Layer(nn.Module):
    def forward(self, x):
        return helper(x, x.sum())


def helper(x, total):
    if total:
        return x.relu()
    return x
"""
CALLER = """\
import torch
from torch import nn

from layer import helper


class Caller(nn.Module):
    def forward(self, x: torch.Tensor):
        return helper(x, x.mean().item())
"""
ALONE = """\
import torch


@torch.compile
def alone(x: torch.Tensor):
    if x.sum() > 0:
        y = x + 1
    else:
        y = x - 1
    return y
"""


@pytest.fixture
def files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[str]:
    monkeypatch.chdir(tmp_path)
    Path("alone.py").write_text(ALONE)
    Path("caller.py").write_text(CALLER)
    Path("layer.py").write_text(LAYER)
    return ["alone.py", "caller.py", "layer.py"]


def said(files: list[str]) -> list[tuple[str, int, str, str]]:
    found = lint(files, Settings(target_torch=(2, 13))).findings
    return [(f.path, f.line, f.code, f.message) for f in found]


def test_groups_say_what_one_process_says(files: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    whole = said(files)
    assert {path for path, *_ in whole} == set(files)
    monkeypatch.setattr(engine, "GROUP", 1)
    assert said(files) == whole


WRAPS = """\
import functools


def keeping(func):
    @functools.wraps(func)
    def wrapper(self, *args):
        return func(self, *args)

    return wrapper


def recording(**options):
    def made(func):
        @functools.wraps(func)
        def wrapper(self, *args):
            return func(self, *args)

        return wrapper

    return made
"""
DECORATED = """\
import torch
from torch import nn

from wraps import keeping, recording


class Inner{n}(nn.Module):
    @keeping
    @recording(kept=True)
    def forward(self, x: torch.Tensor):
        for _ in range(2):
            if x.sum() > {n}:
                x = x + 1
        return x


class Outer{n}(nn.Module):
    def __init__(self):
        super().__init__()
        self.inner = Inner{n}()

    def forward(self, x: torch.Tensor):
        return self.inner(x).item()
"""


def test_what_is_told_of_a_file_is_the_same_whichever_share_its_process(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One decorator is used in more files than a function is run for, and wraps what another one has wrapped."""
    monkeypatch.chdir(tmp_path)
    Path("wraps.py").write_text(WRAPS)
    for n in range(12):
        Path(f"model{n:02}.py").write_text(DECORATED.replace("{n}", str(n)))
    files = [*sorted(str(path.name) for path in tmp_path.glob("model*.py")), "wraps.py"]

    def told() -> list[Finding]:
        return lint(files, Settings(target_torch=(2, 13), pedantic=True)).findings

    whole = told()
    assert {finding.path for finding in whole} == {*files} - {"wraps.py"}
    monkeypatch.setattr(workers, "can_fork", lambda: False)
    files.reverse()
    assert told() == whole
    monkeypatch.setattr(engine, "GROUP", 1)
    assert told() == whole
    files.reverse()
    assert told() == whole


def test_what_stands_too_deep_to_ask_its_helpers_is_not_sure(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    steps = "".join(f"def f{n}(x):\n    return f{n + 1}(x)\n\n\n" for n in range(1, 19))
    Path("deep.py").write_text(
        "import torch\n\n\n@torch.compile\ndef f0(x: torch.Tensor):\n    return f1(x)\n\n\n"
        + steps
        + "def f19(x):\n    return x + 1 if asks() and x.sum() > 0 else x\n\n\ndef asks():\n    return False\n"
    )
    (finding,) = lint(["deep.py"], Settings(target_torch=(2, 13), pedantic=True)).findings
    assert (finding.line, finding.confidence) == (82, "low")


@pytest.mark.parametrize("first", [15, 16, 17, 18, 19])
def test_what_a_call_too_deep_to_ask_answered_is_no_answer_further_up(
    first: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The same helpers are reached from there, from one call above and from two."""
    monkeypatch.chdir(tmp_path)
    steps = "".join(f"def f{n}(x, mask):\n    return f{n - 1}(x, mask)\n\n\n" for n in range(1, first + 1))
    Path("deep.py").write_text(
        "import torch\n\n\ndef is_proxy(x):\n    return type(x).__name__ == 'Proxy'\n\n\n"
        "def is_tracing(x):\n    traced = torch.compiler.is_compiling()\n    traced |= is_proxy(x)\n"
        "    return traced\n\n\n"
        "def skips(mask):\n    return not is_tracing(mask) and mask.all()\n\n\n"
        "def f0(x, mask):\n    return x if skips(mask) else x * mask\n\n\n"
        + steps
        + "@torch.compile\ndef top(x: torch.Tensor):\n"
        + f"    return f{first}(x, x > 0) + f{first - 1}(x, x > 0) + f{first - 2}(x, x > 0)\n"
    )
    found = lint(["deep.py"], Settings(target_torch=(2, 13), pedantic=True)).findings
    assert [finding.confidence for finding in found if finding.confidence != "low"] == []


KINDS = """\
import torch
from torch import nn


def pick(x, other):
    if x.sum() > 0:
        y = other
    else:
        y = x - 1
    return y


def shift(x, by):
    if x.mean() > 0:
        x = x + by.clip(0, 1)
    return x


def scale(x, by):
    if x.min() > 0:
        y = by
    else:
        y = x - 1
    return y


class Home(nn.Module):
    def forward(self, x: torch.Tensor):
        return shift(x, x.mean(0)) + pick(x, x + 1) + scale(x, x * 2)
"""
GIVING = """\
import numpy as np
import torch
from kinds import pick, scale, shift


class Giving(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        return {given}
"""


def test_fixes_do_not_hang_on_the_groups(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """What an argument is that other files give, repairs know whoever shares their group, kept or not."""
    monkeypatch.chdir(tmp_path)
    Path("kinds.py").write_text(KINDS)
    Path("array.py").write_text(GIVING.format(given="pick(shift(x, np.ones(3)), x.max(0).values)"))
    Path("number.py").write_text(GIVING.format(given="scale(shift(x, x), 1)"))
    files = ["array.py", "kinds.py", "number.py"]

    def fixes(cache: Cache | None = None) -> dict[int, list[str]]:
        found = lint(files, Settings(target_torch=(2, 13), pedantic=True), cache=cache).findings
        return {f.line: [str(fix) for fix in f.fixes] for f in found if f.path == "kinds.py"}

    whole = fixes()
    assert [*whole] == [6, 14, 20]
    monkeypatch.setattr(engine, "GROUP", 1)
    alone = engine._Run(["kinds.py"], Settings(target_torch=(2, 13)), {}).analysis.facts(["kinds.py"])
    at_home = {f.line: [str(fix) for fix in f.fixes] for f in alone.findings["kinds.py"]}
    assert at_home[20] != whole[20]  # by its own file, `by` is a tensor
    for order in files, files[::-1]:
        files = order
        assert fixes() == whole
        for name in "kept", "kept", "kept again":
            assert fixes(Cache(str(tmp_path / name))) == whole
            Path("kinds.py").write_text(f"# {name}\n{KINDS}")
            moved = fixes()
            assert fixes(Cache(str(tmp_path / name))) == moved
            Path("kinds.py").write_text(KINDS)


def test_groups_without_child_processes_say_the_same(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = said(files)
    monkeypatch.setattr(engine, "GROUP", 1)
    monkeypatch.setattr(workers, "can_fork", lambda: False)
    assert said(files) == whole


def test_a_function_that_only_another_group_calls_with_a_tensor(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """`helper` is reached with a tensor from another file only."""
    Path("layer.py").write_text(LAYER.replace("helper(x, x.sum())", "x"))
    Path("caller.py").write_text(CALLER.replace(".item()", ""))
    monkeypatch.setattr(engine, "GROUP", 1)
    (finding,) = [f for f in lint(files, Settings(target_torch=(2, 13))).findings if f.path == "layer.py"]
    assert finding.line == 11
    assert [step.path for step in finding.flow] == ["caller.py", "caller.py"]


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_a_file_that_kills_its_reader_costs_no_other(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    whole = [f for f in said(files) if f[0] != "alone.py"]
    analyse = Analysis._facts

    def dies(self: Analysis, group: list[str]) -> engine.Facts:
        if "alone.py" in group:
            os.kill(os.getpid(), signal.SIGKILL)
        return analyse(self, group)

    # Threads that other tests left would have it read here, and kill this process.
    monkeypatch.setattr(workers, "can_fork", lambda: True)
    monkeypatch.setattr(Analysis, "_facts", dies)
    monkeypatch.setattr(engine, "FEW", 0)
    monkeypatch.setattr(engine, "GROUP", len(ALONE) + len(CALLER))
    result = lint(files, Settings(target_torch=(2, 13)))
    assert [(f.path, f.line, f.code, f.message) for f in result.findings] == whole
    (problem,) = result.problems
    assert problem.path == "alone.py"
    assert "died" in problem.message


@pytest.mark.skipif(not hasattr(os, "fork"), reason="needs fork")
def test_what_many_groups_read_is_parsed_once_and_answers_as_if_each_had(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files += [f"caller{i}.py" for i in range(4)]
    for name in files[3:]:
        Path(name).write_text(CALLER)
    monkeypatch.setattr(workers, "can_fork", lambda: True)  # whatever threads other tests left
    monkeypatch.setattr(workers, "processors", lambda: 1)
    monkeypatch.setattr(parallel, "SHARE", 1)
    groups = [[path] for path in files]

    def facts() -> tuple[list[engine.Facts], engine._Run]:
        run = engine._Run(files, Settings(target_torch=(2, 13)), {})
        return list(run.parallel.groups(groups)), run

    shared, run = facts()
    assert run.analysis.parsed is not None
    assert list(run.analysis.parsed._by_path) == ["layer.py"]
    monkeypatch.setattr(Parallel, "_parse_what_others_read", lambda *_: None)
    assert facts()[0] == shared
    assert shared[-1].read["layer.py"]
    monkeypatch.setattr(parallel, "SHARE", len(files))
    assert facts()[0] == shared


NESTING = """\
import torch


class Base(torch.nn.Module):
    # A comment before a method,
    def outer(self, x):
        def inner(y):
            return y.mean().item()

        return inner(x)

    # and one after it.

    def unread(self):
        return 1


# And at the margin.
scale = lambda x: x * x.sum().item()
# Below it too.
"""
USING = """\
import torch
from nesting import Base, scale


class Model(Base):
    def forward(self, x: torch.Tensor):
        return scale(x) + self.outer(x)
"""


def test_what_a_file_is_parsed_of_where_others_import_it_makes_no_difference(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Only what they ask for; what is noted in it stands in the lines that its own group knows."""
    monkeypatch.chdir(tmp_path)
    Path("nesting.py").write_text(NESTING)
    Path("using.py").write_text(USING)
    files = ["nesting.py", "using.py"]
    whole = said(files)
    assert [line for path, line, *_ in whole if path == "nesting.py"] == [8, 19]
    run = engine._Run(files, Settings(target_torch=(2, 13)), {})
    alone, calling = run.parallel.groups([["nesting.py"], ["using.py"]])
    assert set(calling.notes["nesting.py"]) == {(6, 10), (19, 19)}
    assert not alone.notes
    for groups in (["using.py"], ["nesting.py"]), (["nesting.py"], ["using.py"]):
        monkeypatch.setattr(engine._Run, "groups", lambda _, groups=groups: groups)
        assert said(files) == whole


FAR = """\
class Near:
    def set_up(self):
        self.near = 1
        self.set_up_further()

    def set_up_further(self):
        self.far = 1


class Base(Near):
    def __init__(self):
        super().__init__()
        self.set_up()
"""
MADE = """\
import torch
from far import Base


class Model(torch.nn.Module, Base):
    def __init__(self):
        Base.__init__(self)
        self.here()

    def here(self):
        self.there()

    def there(self):
        self.own = 1

    def forward(self, x: torch.Tensor):
        return x
"""


def test_how_far_an_init_is_followed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A helper of another file's helper is too far off; what the class's own file holds is not, nor is `__init__` of
    the classes above."""
    monkeypatch.chdir(tmp_path)
    Path("far.py").write_text(FAR)
    Path("made.py").write_text(MADE)
    project = Project({}, ["made.py"])
    interpreter = Interpreter(project)
    cls = project.load("made.py").classes["Model"]
    state = interpreter.at.objects.state(interpreter.at.objects.instance(cls))
    assert set(state) == {"near", "own"}


def test_facts_survive_json(files: list[str]) -> None:
    import json

    run = engine._Run(files, Settings(target_torch=(2, 13)), {})
    facts = run.analysis.facts(files)
    assert facts.notes
    assert any(finding.fixes for found in facts.findings.values() for finding in found)
    again = from_plain(json.loads(json.dumps(to_plain(facts))))
    assert again == facts
    assert again.reads == facts.reads
    assert to_plain(again) == to_plain(facts)


def test_garbage_collection_is_left_as_it_was(files: list[str]) -> None:
    import gc

    for switch in (gc.disable, gc.enable):
        switch()
        before = gc.isenabled()
        lint(files[:1])
        assert gc.isenabled() is before


def test_linting_imports_neither_torch_nor_what_it_reads(files: list[str]) -> None:
    code = "import sys; from pt2lint.static.engine import lint; print(len(lint(sys.argv[1:]).findings)); "
    code += "print([m for m in ('torch', 'numpy', 'layer', 'caller', 'alone') if m in sys.modules])"
    done = subprocess.run([sys.executable, "-c", code, *files], capture_output=True, text=True, check=True)
    found, modules = done.stdout.splitlines()
    assert int(found) > 0
    assert modules == "[]"


def test_an_empty_file_comes_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    Path("__init__.py").touch()
    Path("m.py").write_text(ALONE)
    assert [f.path for f in lint(["__init__.py", "m.py"]).findings] == ["m.py"]
    assert lint(["__init__.py"]).problems == []


def test_a_fix_in_what_only_a_decorator_defines(tmp_path: Path) -> None:
    path = tmp_path / "m.py"
    path.write_text(
        textwrap.dedent(
            """
            import torch
            from functools import wraps

            def dynamic(f):
                def grown(x):
                    if x.max() > 3:
                        x = x + 1
                    return x

                @wraps(f)
                def wrapper(self, x):
                    return f(self, grown(x))
                return wrapper

            class M(torch.nn.Module):
                @dynamic
                def forward(self, x):
                    return x
            """
        )
    )
    result = lint([str(path)])
    assert result.problems == []
    assert [(f.code, f.line) for f in result.findings] == [("PTB110", 7)]


def test_a_setting_that_is_made_needs_no_finding(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code = "import torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n    return x[:, : x.max().item()]\n"
    setting = "torch._dynamo.config.capture_scalar_outputs = True\n"
    Path("m.py").write_text(code)
    [finding] = lint(["m.py"]).findings
    assert any(edit.text.strip() == setting.strip() for fix in finding.fixes for edit in fix.edits)
    Path("m.py").write_text(code.replace("\n\n\n", f"\n\n{setting}\n\n", 1))
    assert lint(["m.py"]).findings == []


def test_a_decorator_elsewhere_is_no_setting(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    off = "@torch.compiler.disable\ndef g(x):\n    return x\n\n\n"
    code = f"import gc\nimport torch\n\n\n{off}@torch.compile\ndef f(x):\n    gc.collect()\n    return x\n"
    Path("m.py").write_text(code)
    assert [finding.code for finding in lint(["m.py"]).findings] == ["PTB143"]


@pytest.mark.parametrize("marker", ["pack/__init__.py", "pack/README.md"])
def test_a_folder_of_a_package_that_is_called_as_torch_is(marker: str, tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            marker: "",
            "pack/checks/torch/__init__.py": "from .image import check\n",
            "pack/checks/torch/image.py": "def check(x): ...\n",
            "pack/net.py": ALONE,
        },
    )
    alone = [f.code for f in lint([str(tmp_path / "pack" / "net.py")]).findings]
    assert [f.code for f in lint([str(p) for p in tmp_path.rglob("*.py")]).findings] == alone != []


def test_a_package_that_is_installed_beside_torch(tmp_path: Path) -> None:
    installed = tmp_path / "site-packages"
    written(
        installed,
        {
            "torch/__init__.py": "from torch.tensor import Tensor\n",
            "torch/tensor.py": "class Tensor:\n    def item(self): ...\n",
            "pack/__init__.py": "",
            "pack/tools.py": "def total(x):\n    return x.sum().item()\n",
            "pack/net.py": ALONE,
            "pack/step.py": "import torch\nfrom pack.tools import total\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
            "    return total(x)\n",
        },
    )
    paths = [str(installed / "pack" / f"{name}.py") for name in ("net", "step", "tools")]
    found = {(Path(f.path).name, f.code) for f in lint(paths).findings}
    assert ("tools.py", "PTB103") in found
    assert any(name == "net.py" for name, _ in found)


def test_a_function_that_libcst_cannot_read_costs_only_itself():
    text = "@torch.compile\ndef f(x: torch.Tensor):\n    if x.sum() > 0:\n{}        x = x + 1\n    return x\n"
    both = "import torch\n" + text.format("\x0c") + text.format("").replace("def f", "def g")
    result = lint(["m.py"], None, {"m.py": both})
    assert [finding.line for finding in result.findings] == [9]
    assert [problem.line for problem in result.problems] == [2]


OWN_METHOD = """\
import torch


class Net(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.layer = torch.nn.Linear(2, 2)

    def forward(self, x, y=None, plain=False):
        x = self.layer(x)
        return x if plain else x * y.unsqueeze(0).sum().item()

    def step(self, x):
        return self(x, plain=True)
"""


@pytest.mark.parametrize("marked", [False, True])
def test_programs_side_by_side_import_their_own_neighbours(
    marked: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two scripts in two folders, each with a `model.py` of its own, and an empty `__init__.py` or none."""
    monkeypatch.chdir(tmp_path)
    script = "import torch\nfrom model import get\n\n\n@torch.compile\ndef f(x):\n    return get(x).item()\n"
    for folder, body in (("a", "x.tolist()"), ("b", "x.sum() * 2")):
        Path(folder).mkdir()
        Path(folder, "model.py").write_text(
            f"import torch\n\n\ndef get(x: torch.Tensor):\n    return {body}\n"
        )
        Path(folder, "run.py").write_text(script)
        if marked:
            Path(folder, "__init__.py").touch()
    files = ["a/model.py", "a/run.py", "b/model.py", "b/run.py"]
    assert [
        (f.path, f.line) for f in lint(files, Settings(roots="explicit")).findings if "run" in f.path
    ] == [("b/run.py", 7)]
    assert (
        lint(files[::-1], Settings(roots="explicit")).findings
        == lint(files, Settings(roots="explicit")).findings
    )


def test_a_module_called_like_one_of_pythons_own(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """`utils/logging.py`, in a folder without an `__init__.py`, is `logging` for the files beside it alone."""
    monkeypatch.chdir(tmp_path)
    own = "import torch\n\n\ndef warning(x: torch.Tensor):\n    return x.item()\n"
    head = "import logging\nimport torch\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
    use = head + "    {}logging.warning(x)\n    return x * 2\n"
    files = {"utils/logging.py": own, "utils/run.py": use.format("x = x * "), "net/model.py": use.format("")}
    for name, text in files.items():
        Path(name).parent.mkdir(exist_ok=True)
        Path(name).write_text(text)
    told = {("net/model.py", 7, "PTB102"), ("utils/logging.py", 5, "PTB103")}
    for given in (list(files), list(files)[::-1]):
        assert {(f.path, f.line, f.code) for f in lint(given, Settings(roots="explicit")).findings} == told


@pytest.mark.parametrize("other", ["baseline", "zoo/other"])
@pytest.mark.parametrize("deep", ["exp", "exp/long"])
def test_a_file_below_a_script_imports_from_where_that_is_run(
    other: str, deep: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`python run.py` finds `utils/` beside it, for `exp/main.py` as well, and not another program's below."""
    monkeypatch.chdir(tmp_path)
    for folder, body in ((".", "x.tolist()"), (other, "x * 2")):
        Path(folder, "utils").mkdir(parents=True)
        Path(folder, "utils", "tools.py").write_text(
            f"import torch\n\n\ndef get(x: torch.Tensor):\n    return {body}\n"
        )
        Path(folder, deep).mkdir(parents=True)
        Path(folder, deep, "main.py").write_text(
            "import torch\nfrom utils.tools import get\n\n\n@torch.compile\ndef f(x):\n    return get(x)\n"
        )
        Path(folder, "run.py").write_text("import sys\n")
    files = [
        f"{folder}{file}"
        for folder in ("", f"{other}/")
        for file in (f"{deep}/main.py", "run.py", "utils/tools.py")
    ]
    for given in (files, files[::-1], sorted(files)):
        found = lint(given, Settings(roots="explicit")).findings
        assert [(f.path, f.line) for f in found] == [("utils/tools.py", 5)]


@pytest.mark.parametrize("folder", ["team+model@v2", "1@two", "@", "9@x"])
def test_a_folder_may_have_an_at_sign_in_its_name(
    folder: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(folder, "net")
    package.mkdir(parents=True)
    Path(folder, "__init__.py").touch()
    (package / "__init__.py").touch()
    (package / "parts.py").write_text("import torch\n\n\ndef get(x: torch.Tensor):\n    return x.item()\n")
    (package / "model.py").write_text(
        "import torch\nfrom .parts import get\n\n\n@torch.compile\ndef f(x):\n    return get(x)\n"
    )
    result = lint([str(package / "model.py"), str(package / "parts.py")], Settings(roots="explicit"))
    assert not result.problems
    assert [(Path(f.path).name, f.line) for f in result.findings] == [("parts.py", 5)]


@pytest.mark.parametrize(
    ("folder", "line", "marked"),
    [
        ("pkg/ops", "from ..parts import get", "pkg"),  # a package's folder without an `__init__.py`
        ("pkg/ops", "from .. import parts\nget = parts.get", "pkg"),
        ("pkg/ops/fast", "from ...parts import get", "pkg"),
        ("pkg/ops/fast", "from ...parts import get", "pkg/ops/fast"),  # a package in such a folder
        ("src/pkg/ops", "from ..parts import get", ""),  # none is marked
    ],
)
def test_relative_imports_lead_out_of_folders_that_are_no_marked_packages(
    folder: str, line: str, marked: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    package = Path(folder.partition("/ops")[0])
    Path(folder).mkdir(parents=True)
    if marked:
        Path(marked, "__init__.py").touch()
    Path(package, "parts.py").write_text("import torch\n\n\ndef get(x: torch.Tensor):\n    return x.item()\n")
    Path(folder, "parts.py").write_text("def get(x):\n    return x\n")  # not this one
    Path(folder, "run.py").write_text(
        f"import torch\n{line}\n\n\n@torch.compile\ndef f(x):\n    return get(x)\n"
    )
    files = [str(Path(folder, "run.py")), str(Path(package, "parts.py"))]
    for each in (files, files[::-1]):
        found = lint(each, Settings(roots="explicit")).findings
        assert [(Path(f.path).parent, f.line) for f in found] == [(package, 5)]


def test_an_extension_that_a_folder_of_a_package_imports(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("pkg/ops").mkdir(parents=True)
    Path("pkg/__init__.py").touch()
    Path("pkg/ops/gemv.py").write_text(
        "import torch\nfrom .._C import ops\nfrom .. import _C\n\n\n@torch.compile\ndef f(x: torch.Tensor):\n"
        "    return ops.gemv(x) + _C.scale(x)\n"
    )
    found = lint(["pkg/ops/gemv.py"], Settings(roots="explicit")).findings
    assert [(f.code, f.line) for f in found] == [("PTB185", 8), ("PTB185", 8)]


def test_a_forward_that_its_own_compiled_method_calls_is_still_a_root(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Whichever file comes first: the method asks for less than who calls the module."""
    monkeypatch.chdir(tmp_path)
    Path("net.py").write_text(OWN_METHOD)
    Path("a.py").write_text(
        "import torch\nfrom net import Net\n\nnet = Net()\nnet.step = torch.compile(net.step)\n"
    )
    for files in (["a.py", "net.py"], ["net.py", "a.py"]):
        assert [f.line for f in lint(files).findings] == [11]


def test_names_that_begin_with_folders_around_the_package_are_the_projects(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`src/company/core` is imported as `company.core`, and `company` is no package with an `__init__.py`."""
    monkeypatch.chdir(tmp_path)
    package = Path("src/company/core")
    package.mkdir(parents=True)
    (package / "__init__.py").touch()
    (package / "parts.py").write_text("import torch\n\n\ndef get():\n    return torch.ones(2)\n")
    (package / "net.py").write_text(
        "import torch\nfrom company.core.parts import get\n\n\n@torch.compile\ndef f():\n"
        "    return 1 if get().sum() > 0 else 2\n"
    )
    assert [each.code for each in lint([str(package / "net.py")], Settings(roots="explicit")).findings] == [
        "PTB110"
    ]


@pytest.mark.parametrize("top", ["", "src"])
@pytest.mark.parametrize("inits", [[], ["utils"], ["", "utils"]])
def test_a_script_in_a_folder_imports_what_lies_in_the_project(
    top: str, inits: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`from utils.parts import get` in `scripts/run.py`. Python's own modules are no project's."""
    monkeypatch.chdir(tmp_path)
    Path("pyproject.toml").touch()
    for folder in ("scripts", Path(top, "utils"), "queue"):
        Path(folder).mkdir(parents=True)
    for folder in inits:
        Path(top, folder, "__init__.py").touch()
    Path(top, "utils/parts.py").write_text("import torch\n\n\ndef get():\n    return torch.ones(2)\n")
    Path("queue/Queue.py").write_text("def Queue():\n    raise ValueError\n")
    Path("scripts/run.py").write_text(
        "import queue\n\nimport torch\nfrom utils.parts import get\n\n\n@torch.compile\ndef f():\n"
        "    return get().sum().item()\n\n\nwaiting = queue.Queue()\n"
    )
    assert [f.line for f in lint(["scripts/run.py"], Settings(roots="explicit")).findings] == [9]


@pytest.mark.parametrize("module", ["src.parts", "src.models.parts"])
def test_a_folder_without_init_is_the_projects(
    module: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    parts = Path(module.replace(".", "/") + ".py")
    parts.parent.mkdir(parents=True)
    parts.write_text("import torch\n\n\ndef get():\n    return torch.ones(2)\n")
    Path("run.py").write_text(
        f"import torch\nfrom {module} import get\n\n\n@torch.compile\ndef f():\n    return get().sum().item()\n"
    )
    assert [f.line for f in lint(["run.py"], Settings(roots="explicit")).findings] == [7]


def test_few_files_are_one_group_and_a_file_more_leaves_most_groups(tmp_path: Path) -> None:
    names = [f"{folder}/{name}.py" for folder in "abcdefgh" for name in "klmnop"]
    for name in names:
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_text("#" * 20_000)
    paths = [str(tmp_path / name) for name in names]

    def groups(files: list[str]) -> list[list[str]]:
        return engine._Run(files, None, {}).groups()

    assert groups(paths[:12]) == [paths[:12]]
    before = groups(paths)
    assert [path for group in before for path in group] == paths
    more = groups(sorted([*paths, str(tmp_path / "b/more.py")]))
    assert len([group for group in before if group not in more]) < len(before) / 2


PART = """\
import torch
from torch import nn


class Part(nn.Module):
    def forward(self, x: torch.Tensor):
        if x.sum() > 0:
            return x
        return -x
"""
OWNER = """\
import torch
from torch import nn
from part import Part


class Owner(nn.Module):
    def __init__(self):
        super().__init__()
        self.part = Part()
        self.parts = nn.ModuleList([Part(), Part()])

    def forward(self, x: torch.Tensor):
        {calls}
        return x
"""


@pytest.mark.parametrize("first", ["part.py", "zone.py"])
def test_what_a_break_costs_is_told_whoever_shares_a_group(
    first: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The way on which most is lost, of all models that reach it, and how many these are."""
    monkeypatch.chdir(tmp_path)
    Path("part.py").write_text(PART)
    Path("loops.py").write_text(
        OWNER.format(calls="for part in self.parts:\n            x = part(torch.relu(x))")
    )
    Path("zone.py").write_text(OWNER.format(calls="x = self.part(x)"))
    files = sorted(["part.py", "loops.py", "zone.py"], key=lambda name: name != first)

    def told() -> list[object]:
        return [f.as_json() for f in lint(files, Settings(target_torch=(2, 13))).findings]

    (whole,) = lint(files, Settings(target_torch=(2, 13))).findings
    assert whole.price is not None
    assert (whole.price.gives_up, whole.price.roots) == ("caller", 3)
    together = told()
    monkeypatch.setattr(engine, "GROUP", 1)
    assert told() == together


def test_a_function_is_parsed_only_for_a_rule_that_its_operations_concern(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    body = "import torch\n\n@torch.compile\ndef f(x):\n    return torch.clamp(x, 0, {})\n"
    parsed: list[str] = []
    node_at = FunctionCode.node_at

    def noted(self: FunctionCode, place: tuple[int, int, int, int]) -> object:
        parsed.append(os.path.basename(self.path))
        return node_at(self, place)

    monkeypatch.setattr(FunctionCode, "node_at", noted)
    monkeypatch.setattr(workers, "can_fork", lambda: False)
    paths = [tmp_path / "numbers.py", tmp_path / "mixed.py"]
    for path, bound in zip(paths, ("1", "x.mean()"), strict=True):
        path.write_text(body.format(bound))
    found = lint([str(path) for path in paths]).findings
    assert {os.path.basename(finding.path) for finding in found} == {"mixed.py"} == {*parsed}


@pytest.mark.parametrize(
    ("text", "words", "answer"),
    [
        ("y = name(x)", "name", True),
        ("y = other.name (x)", ".name", True),
        ("y = other.name(x)", "other.name", True),
        ("y = an.other.name(x)", "other.name", True),
        ("y = another.name(x)", "other.name", False),
        ("y = other.name(x)", "name", False),
        ("y = rename(x)", "name", False),
        ("y = make().name(x)", "name", True),
        ("def name(x): pass", "name", False),
        ("class name(x): pass", "name .name", False),
        ("def name(x): pass\nname(1)", "name", True),
        ("y = name", "name", False),
    ],
)
def test_what_a_text_calls(text: str, words: str, answer: bool) -> None:
    assert calls(text, words) is answer


def test_groups_that_ask_the_same_look_through_a_text_once(
    files: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """Each of them has read it all the same: what is kept of any of them goes by that."""
    looked = []
    monkeypatch.setattr(
        project, "calls", lambda text, words: bool(looked.append((text, words)) or calls(text, words))
    )
    parsed = Project({}, files)
    groups = [Project({}, files, parsed) for _ in range(2)]
    found = []
    for group in groups:
        found.append((group.calling(frozenset({"helper"}), files[0]), {*group.reads.facts}, group.read()))
    assert found[0] == found[1]
    assert found[0][0]
    assert len(looked) == len(set(looked)) == len(files)
    assert {*files} <= {path for path, seen in found[0][2].items() if seen is not None}


def test_of_several_parameters_that_differ_the_first_is_told() -> None:
    names = [f"option_{n}" for n in range(8)]  # in a set they would stand in any order
    given = ", ".join(f"{name}=None" for name in names)
    source = (
        f"import torch\n\n@torch.compile\ndef f(x, {given}):\n"
        f"    return x if None in ({', '.join(names)}) else x + 1\n\n"
        "x = torch.ones(3)\nf(x)\n" + f"f(x, {', '.join(f'{name}=x' for name in names)})\n"
    )
    messages = [finding.message for finding in findings(source) if finding.code == "PTR222"]
    assert messages
    assert all("`option_0`" in message for message in messages)


HELPER = """\
import logging
from functools import lru_cache

logger = logging.getLogger(__name__)


@lru_cache
def once(message):
    say(message)


def say(message):
    logger.info(message)
    print(message)


def count(message):
    return len(message)
"""
SAYING = """\
import torch
from helper import count, once


class Net(torch.nn.Module):
    def forward(self, x):
        once("a")
        if x.shape[0] > 1:
            once("a")
        return x * count("a")
"""


@pytest.mark.parametrize(
    ("linted", "told"),
    [
        (["net.py"], [("PTB102", "net.py", 7), ("PTB102", "net.py", 9)]),
        (["net.py", "helper.py"], [("PTB102", "helper.py", 13), ("PTB101", "helper.py", 14)]),
    ],
)
def test_what_a_file_logs_that_is_not_linted_is_told_at_the_call(
    linted: list[str], told: list[tuple[str, str, int]], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("helper.py").write_text(HELPER)
    Path("net.py").write_text(SAYING)
    found = lint(linted, Settings()).findings
    assert [(f.code, f.path, f.line) for f in found] == told
    for finding in found:
        if finding.path == "net.py":  # `once` may do more than log: nothing is offered for its call
            assert "`logging.Logger.info` is called (helper.py:13)" in finding.message
            assert not finding.fixes


def test_a_class_that_a_match_defines_is_read_as_any() -> None:
    source = (
        "import torch\n\nmatch torch.__version__:\n    case '2':\n        class Net(torch.nn.Module):\n"
        "            def forward(self, x):\n                return x.max().item()\n"
    )
    assert [f.code for f in findings(source)] == ["PTB103"]


def test_a_call_of_an_object_of_either_of_two_classes_is_told_once() -> None:
    source = (
        "import torch\n\ndef made(net, plain):\n    if plain:\n"
        "        return torch.optim.SGD(net.parameters())\n    return torch.optim.Adam(net.parameters())\n\n"
        "class Trainer:\n    def __init__(self, net, plain):\n        self.optimizer = made(net, plain)\n\n"
        "    @torch.compile\n    def step(self):\n        self.optimizer.step()\n"
    )
    assert [f.code for f in findings(source)] == ["PTB165"]


def test_a_file_that_does_not_parse_costs_none_that_imports_it(tmp_path: Path) -> None:
    written(
        tmp_path,
        {
            "broken.py": """
import torch
from torch import nn

class nn.Broken(nn.Module):
    pass

class Block(nn.Module):
    def forward(self, x, mask=None):
        return x

class Net(nn.Module):
    def __init__(self):
        super().__init__()
        self.block = Block()

    def forward(self, x: torch.Tensor, mask: torch.Tensor):
        return self.block(self.block(x), mask)
""",
            "m.py": """
import torch
import broken

@torch.compile
def f(x: torch.Tensor):
    return x * x.max().item()  # PTB103

def run(x: torch.Tensor):
    model = torch.compile(broken.Net())
    return model(x, x.int())
""",
        },
    )
    linted = lint([str(tmp_path / name) for name in ("broken.py", "m.py")], Settings())
    assert [(f.line, f.code) for f in linted.findings] == [(7, "PTB103")]
    (problem,) = linted.problems
    assert problem.message.startswith("does not parse")
