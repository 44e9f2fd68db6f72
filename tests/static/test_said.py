"""Lines marked in texts: shown in JSON as in the texts themselves."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from pt2lint.said import plain, plain_json, told_line, told_place

PIECES = st.one_of(
    st.text(alphabet='ab1\\"u\n\u00e4/', max_size=6),
    st.sampled_from(["\\ufdd0", "\\\\", "\\ufdd012\\ufdd2"]),
    st.integers(0, 99).map(told_line),
    st.tuples(st.text(alphabet='a\\"\u00e4/. ', max_size=5), st.integers(1, 99)).map(
        lambda p: told_place(*p)
    ),
)


@given(st.lists(st.lists(PIECES, max_size=5).map("".join), max_size=4))
def test_of_texts_in_json_as_of_the_texts(texts: list[str]) -> None:
    data = json.dumps({"texts": texts, "number": 1})
    assert json.loads(plain_json(data)) == {"texts": [plain(text) for text in texts], "number": 1}
