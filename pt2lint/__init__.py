"""pt2lint: finds what costs torch.compile its speed.

import pt2lint
for finding in pt2lint.lint(["model.py"]):
    print(finding.path, finding.line, finding.code, finding.message)
"""

from __future__ import annotations

TYPE_CHECKING = False
if TYPE_CHECKING:
    import os
    from collections.abc import Iterable

    from pt2lint.finding import Finding

__version__ = "0.1.0"
__all__ = ["__version__", "lint"]


def lint(paths: str | os.PathLike[str] | Iterable[str | os.PathLike[str]]) -> list[Finding]:
    """The findings in one or several files and folders, sorted by place; the nearest pyproject.toml has the
    settings.

    Reads the files, never imports or runs them. Comments in the code silence findings here too. What cannot be
    read is left out (`pt2lint.check.check` tells of it as well). Raises nothing for what is in the files.
    """
    import os

    from pt2lint.check import check
    from pt2lint.project.config import Configs

    given = [paths] if isinstance(paths, (str, os.PathLike)) else paths
    return check([str(path) for path in given], Configs()).findings
