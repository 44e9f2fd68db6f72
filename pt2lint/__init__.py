"""pt2lint: finds what costs torch.compile its speed.

import pt2lint
for finding in pt2lint.lint(["model.py"]):
    print(finding.path, finding.line, finding.code, finding.message)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Iterable

    from pt2lint.finding import Finding

__version__ = "0.1.0"
__all__ = ["__version__", "lint"]


def lint(paths: Iterable[str]) -> list[Finding]:
    """The findings in files and folders, sorted by place; the nearest pyproject.toml has the settings.

    Reads the files, never imports or runs them. Comments in the code silence findings here too. What cannot be
    read is left out (`pt2lint.check.check` tells of it as well). Raises nothing for what is in the files.
    """
    from pt2lint.check import check
    from pt2lint.config import Configs

    return check([str(path) for path in paths], Configs()).findings
