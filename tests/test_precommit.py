"""Both hooks, run by the real pre-commit on a scratch repository."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PRE_COMMIT = [sys.executable, "-m", "pre_commit"]

BAD = """\
import torch


@torch.compile
def f(x):
    return x.max().item()
"""
GOOD = """\
import torch


@torch.compile
def f(x):
    return x.max()
"""
STALE = GOOD.replace("x.max()", "x.max()  # noqa: PTB103")


def git(folder: Path, *arguments: str) -> str:
    identity = ["-c", "user.name=t", "-c", "user.email=t@example.org", "-c", "commit.gpgsign=false"]
    done = subprocess.run(
        ["git", *identity, *arguments], cwd=folder, check=True, capture_output=True, text=True
    )
    return done.stdout


@pytest.fixture(scope="module")
def hooks(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A repository that holds the files as they are now, committed or not."""
    folder = tmp_path_factory.mktemp("hooks")
    for name in git(ROOT, "ls-files", "--cached", "--others", "--exclude-standard").splitlines():
        if (ROOT / name).is_file() and not name.startswith("tests/"):
            (folder / name).parent.mkdir(parents=True, exist_ok=True)
            (folder / name).write_bytes((ROOT / name).read_bytes())
    git(folder, "init", "--quiet")
    git(folder, "add", "--all")
    git(folder, "commit", "--quiet", "--message", "as it is")
    return folder


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    """Where pre-commit keeps the hooks' environment, made once for all tests."""
    folder = tmp_path_factory.mktemp("pre-commit")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("PRE_COMMIT_HOME", str(folder))
        yield folder


@pytest.fixture
def project(tmp_path: Path) -> Path:
    git(tmp_path, "init", "--quiet")
    return tmp_path


def write(project: Path, **files: str) -> None:
    for name, text in files.items():
        (project / f"{name}.py").write_text(text)
    git(project, "add", "--all")


def run(project: Path, hooks: Path, hook: str, *arguments: str) -> subprocess.CompletedProcess[str]:
    revision = git(hooks, "rev-parse", "HEAD").strip()
    listed = "".join(f", {argument}" for argument in arguments)
    (project / ".pre-commit-config.yaml").write_text(
        f"repos:\n- repo: {hooks}\n  rev: {revision}\n  hooks:\n"
        f"  - id: {hook}\n    verbose: true\n    args: [{listed[2:]}]\n"
    )
    git(project, "add", "--all")
    command = [*PRE_COMMIT, "run", "--all-files"]
    return subprocess.run(command, cwd=project, capture_output=True, text=True, check=False)


def test_no_python_file(project: Path, hooks: Path, home: Path) -> None:
    (project / "readme.md").write_text("hello\n")
    done = run(project, hooks, "pt2lint")
    assert done.returncode == 0, done.stdout + done.stderr
    assert "(no files to check)" in done.stdout


def test_many_files_are_one_run(project: Path, hooks: Path, home: Path) -> None:
    write(project, **{f"m{number}": GOOD for number in range(400)}, bad=BAD)
    done = run(project, hooks, "pt2lint")
    assert done.returncode == 1
    assert done.stdout.count("Found 1 finding in 401 files.") == 1


def test_arguments_and_excluded_files(project: Path, hooks: Path, home: Path) -> None:
    write(project, bad=BAD, left=BAD)
    (project / "pyproject.toml").write_text('[tool.pt2lint]\nexclude = ["left.py"]\n')
    done = run(project, hooks, "pt2lint")
    assert "bad.py:6:12" in done.stdout
    assert "left.py" not in done.stdout
    done = run(project, hooks, "pt2lint", "--ignore", "PTB")
    assert done.returncode == 0, done.stdout + done.stderr


def test_the_fixing_hook_writes_and_fails_once(project: Path, hooks: Path, home: Path) -> None:
    write(project, model=STALE)
    assert run(project, hooks, "pt2lint-fix").returncode == 1
    assert (project / "model.py").read_text() == GOOD
    assert run(project, hooks, "pt2lint-fix").returncode == 0


RULE = """\
from pt2lint.finding import Edit, Fix
from pt2lint.rule import Rule


class Greedy(Rule):
    '''It.'''

    code, name, ops = "MINE001", "mine", ("call torch.Tensor.item",)

    def check(self, node, op):
        edit = Edit(self.function.path, op.line, 1, op.line + 2, 1, "    return x.max()\\n")
        self.report(node, op, "it", fixes=[Fix("Leave it out", "safe", (edit,))])
"""


def test_the_fixing_hook_leaves_a_file_that_a_fix_would_lose_a_comment_of(
    project: Path, hooks: Path, home: Path
) -> None:
    write(project, model=BAD + "    # why\n", other=STALE)
    (project / "lint").mkdir()
    (project / "lint" / "greedy.py").write_text(RULE)
    (project / "pyproject.toml").write_text("[tool.pt2lint]\nrule-paths = ['lint']\n")
    done = run(project, hooks, "pt2lint-fix")
    assert done.returncode == 1
    assert (project / "model.py").read_text() == BAD + "    # why\n"
    assert (project / "other.py").read_text() == GOOD
    assert "model.py:6: a fix was left out: it would lose the comment `# why` (line 7)" in done.stdout
    assert "exit code: 2" in done.stdout


def test_autoupdate_moves_to_the_newest_tag(project: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    releases = tmp_path_factory.mktemp("releases")
    (releases / ".pre-commit-hooks.yaml").write_bytes((ROOT / ".pre-commit-hooks.yaml").read_bytes())
    git(releases, "init", "--quiet")
    git(releases, "config", "uploadpack.allowAnySHA1InWant", "true")
    for tag in ("v0.1.0", "v0.2.0"):
        git(releases, "add", "--all")
        git(releases, "commit", "--quiet", "--allow-empty", "--message", tag)
        git(releases, "tag", tag)
    git(releases, "commit", "--quiet", "--allow-empty", "--message", "after the release")
    config = project / ".pre-commit-config.yaml"
    config.write_text(
        f"repos:\n- repo: {releases}\n  rev: v0.1.0\n  hooks:\n  - id: pt2lint\n  - id: pt2lint-fix\n"
    )
    git(project, "add", "--all")
    done = subprocess.run(
        [*PRE_COMMIT, "autoupdate"], cwd=project, capture_output=True, text=True, check=False
    )
    assert done.returncode == 0, done.stdout + done.stderr
    assert "rev: v0.2.0" in config.read_text()


def test_the_manifest_is_valid() -> None:
    manifest = ROOT / ".pre-commit-hooks.yaml"
    subprocess.run([*PRE_COMMIT, "validate-manifest", str(manifest)], check=True, capture_output=True)
