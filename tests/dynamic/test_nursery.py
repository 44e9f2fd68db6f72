"""Children that are forked from a process with torch loaded are as those that load it, and leave as little behind."""

from __future__ import annotations

import json
import os
import sys
import textwrap
from importlib import metadata
from pathlib import Path
from typing import Any

import pytest

from pt2lint.dynamic import nursery
from pt2lint.dynamic.process import Around, Failure, Limits, family, run_child
from tests.dynamic.conftest import needs_torch

pytestmark = [needs_torch, pytest.mark.skipif(sys.platform != "linux", reason="nothing is forked here")]

SELF = """
    import json, os, sys, tempfile

    said = {"parent": os.getppid(), "mark": os.environ["PT2LINT_VERIFY"], "folder": os.getcwd(), "argv": sys.argv}
    said["here"] = os.path.realpath(sys.path[0]) if sys.path[0] else os.getcwd()
    said["scratch"] = os.environ["TMPDIR"] == tempfile.gettempdir()
    said["named"] = os.environ.get("NAMED")
    said["loaded"] = "torch._inductor.pattern_matcher" in sys.modules
    said["of"] = open("/proc/self/environ").read().count(said["mark"])
    open(sys.argv[1], "w").write(json.dumps(said))
"""


@pytest.fixture(autouse=True)
def nothing_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    """What the suite keeps is not of these tests: one of them kills it, and the others would load torch each time."""
    monkeypatch.setattr(nursery, "_blocks", 0)
    monkeypatch.setattr(nursery, "_nurseries", {})


def run(
    folder: Path, body: str, *arguments: str, memory: int | None = None, compared: bool = False, **named: str
) -> Failure | None:
    """Run a script in a child, as `--run` does; or as its calls are compared with each other."""
    script = folder / "script.py"
    script.write_text(textwrap.dedent(body))
    spec: dict[str, Any] = {
        "kind": "run",
        "what": " ".join([str(script), *arguments]),
        "roots": [str(folder)],
    }
    spec |= {"skip": [], "memory": memory, "modes": ["call"], "backend": "eager", "device": None}
    spec |= {"further": False, "overlay": {}, "only": []}
    spec |= {"observe": {"calm": False, "save": str(folder)}} if compared else {}
    around = Around(str(folder), tuple(named.items()))
    return run_child(sys.executable, spec, Limits(120, memory), lambda message: None, around=around)


def said(folder: Path, name: str = "said", compared: bool = False, **named: str) -> dict[str, Any]:
    assert run(folder, SELF, str(folder / name), compared=compared, **named) is None
    told: dict[str, Any] = json.loads((folder / name).read_text())
    return told


def test_a_fork_is_as_a_process_of_its_own_and_nothing_is_kept_after_the_last_block(tmp_path: Path) -> None:
    alone = said(tmp_path)
    assert alone.pop("parent") == os.getpid()
    with nursery.kept():
        with nursery.kept():
            forked, other = said(tmp_path), said(tmp_path, NAMED="by --env")
            compared = said(tmp_path, compared=True)
        parents = [Path(f"/proc/{one.pop('parent')}") for one in (forked, other)]
        assert all(parent.exists() for parent in parents)
    assert not any(parent.exists() for parent in parents)
    # torch may read what --env sets.
    assert len({Path(f"/proc/{os.getpid()}"), *parents}) == 3
    assert (other.pop("named"), forked.pop("named"), alone.pop("named")) == ("by --env", None, None)
    marks = {one.pop("mark") for one in (alone, forked, other)}
    assert len(marks) == 3
    assert not any(family(mark) for mark in marks)
    assert alone == forked == other
    assert alone["of"] == 1
    # What all that compare would import is imported once, where that starts nothing.
    loads = [int(part) for part in metadata.version("torch").split(".")[:2]] >= [2, 9]
    assert (alone["loaded"], compared["loaded"]) == (False, loads)


def test_what_a_child_does_to_its_parent_ends_neither_pt2lint_nor_the_next(tmp_path: Path) -> None:
    kill = (
        f"import os\nif os.getppid() != {os.getpid()}: os.kill(os.getppid(), 9)\nimport time; time.sleep(60)"
    )
    with nursery.kept():
        failure = run(tmp_path, kill)
        assert failure is not None
        assert "SIGKILL" in str(failure)
        assert said(tmp_path)["parent"] == os.getpid()  # each by itself from then on


def test_with_little_memory_torch_is_loaded_within_the_limit(tmp_path: Path) -> None:
    with nursery.kept():
        failure = run(tmp_path, SELF, str(tmp_path / "said"), memory=64 * 2**20)
    assert failure is not None
    assert not (tmp_path / "said").exists()
