from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pytest

from tests.rules.cases import cases, measured


@pytest.fixture(scope="session")
def dynamo(tmp_path_factory: pytest.TempPathFactory) -> Mapping[str, dict[str, Any]]:
    """What Dynamo made of every case that runs: measured once, in one child process."""
    return measured([case for case in cases() if case.runs], tmp_path_factory.mktemp("cases"))
