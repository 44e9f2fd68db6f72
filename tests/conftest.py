"""What several test files share: pt2lint as users have it, installed from its wheel."""

from __future__ import annotations

import gc
import logging
import shutil
import subprocess
import sys
import sysconfig
import venv
from collections.abc import Iterator
from importlib import metadata
from pathlib import Path

import pytest
from hypothesis import HealthCheck, settings

from pt2lint.dynamic import nursery

ROOT = Path(__file__).parents[1]
# What a machine with other work needs more time for is no failure.
settings.register_profile("suite", deadline=None, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("suite")
SOURCES = ("pt2lint", "rules", "skills", "pyproject.toml", "README.md", "LICENSE")


LONGEST = ("test_agreement.py", "test_proof.py")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """The longest tests first: one that is left to the end has one worker waiting for the other."""
    items.sort(key=lambda item: item.path.name not in LONGEST)


@pytest.fixture(scope="session", autouse=True)
def _caches(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """What pt2lint keeps goes with the tests, not among the developer's caches."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PT2LINT_CACHE_DIR", str(tmp_path_factory.mktemp("caches")))
        yield


@pytest.fixture(scope="session", autouse=True)
def _torch_loaded_once() -> Iterator[None]:
    """Children that the tests' own process starts are forked from one."""
    with nursery.kept():
        yield


@pytest.fixture(scope="module", autouse=True)
def _collections_of_what_is_new() -> None:
    """A lint collects what each group left. What the files before keep, torch above all, is not looked through again:
    that takes longer than the lint. Nor is it looked for garbage as often as Python would, which takes a tenth of the
    time of what compiles."""
    gc.set_threshold(100_000, 20, 50)
    gc.collect()
    gc.freeze()


@pytest.fixture(autouse=True)
def _settings_of_dynamo() -> Iterator[None]:
    """What a program under test sets for the process, as some fixes have it, ends with its test."""
    names = ("capture_scalar_outputs", "capture_dynamic_output_shape_ops")  # False by default
    config = sys.modules.get("torch._dynamo.config")
    before = {name: getattr(config, name, False) for name in names}
    if "torch._dynamo.guards" in sys.modules:
        from pt2lint.dynamic.child.jobs import leave_untimed

        leave_untimed()
    yield
    config = sys.modules.get("torch._dynamo.config")
    for name in names:
        if hasattr(config, name):
            setattr(config, name, before[name])


@pytest.fixture
def log_records() -> Iterator[list[logging.LogRecord]]:
    """What is logged meanwhile. pytest's own caplog would have Dynamo write down each step of each compilation."""
    records: list[logging.LogRecord] = []
    handler = logging.Handler()
    handler.emit = records.append  # type: ignore[method-assign]
    logging.getLogger().addHandler(handler)
    yield records
    logging.getLogger().removeHandler(handler)


@pytest.fixture(scope="session")
def wheel(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The wheel, built from a copy of the sources: building leaves files beside them."""
    folder = tmp_path_factory.mktemp("wheel")
    for name in SOURCES:
        if (ROOT / name).is_dir():
            shutil.copytree(
                ROOT / name, folder / "source" / name, ignore=shutil.ignore_patterns("__pycache__")
            )
        else:
            (folder / "source").mkdir(exist_ok=True)
            shutil.copy(ROOT / name, folder / "source")
    build = ["wheel", "--quiet", "--no-deps", "--wheel-dir", str(folder)]
    # As pyproject.toml asks; else pip fetches one.
    if int(metadata.version("setuptools").partition(".")[0]) >= 77:
        build.append("--no-build-isolation")
    subprocess.run([sys.executable, "-m", "pip", *build, str(folder / "source")], check=True)
    [built] = folder.glob("*.whl")
    return built


@pytest.fixture(scope="session")
def installed(wheel: Path, tmp_path_factory: pytest.TempPathFactory) -> str:
    """A Python that has pt2lint from the wheel, and what else this one has. The tests' own pt2lint is not in it:
    a .pth file adds a folder, not what .pth files in that folder add."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, symlinks=True)
    python = str(folder / ("Scripts" if sys.platform == "win32" else "bin") / "python")
    install = ["install", "--quiet", "--no-deps", "--no-index", str(wheel)]
    subprocess.run([sys.executable, "-m", "pip", "--python", python, *install], check=True)
    code = "import sysconfig; print(sysconfig.get_path('purelib'))"
    site = subprocess.run([python, "-c", code], capture_output=True, text=True, check=True).stdout.strip()
    paths = {sysconfig.get_path("purelib"), sysconfig.get_path("platlib")}
    (Path(site) / "beside.pth").write_text("".join(f"{path}\n" for path in paths))
    return python
