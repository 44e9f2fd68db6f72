from __future__ import annotations

from collections.abc import Callable, Iterator

import pytest

from tests.rules.cases import Case, Row, asked_of_dynamo


@pytest.fixture(scope="session")
def dynamo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[Case], Row]]:
    """What tells what Dynamo made of a case. A worker's tests are some of all: only their cases are measured."""
    with asked_of_dynamo(tmp_path_factory.mktemp("cases")) as row:
        yield row
