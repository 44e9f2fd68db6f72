"""The line hashes against the values in the tests of github/codeql-action (src/fingerprints.test.ts)."""

import pytest

from pt2lint.report.line_hash import line_hashes

WORLD = ["e9496ae3ebfced30", "fb7c023a8b9ccb3f", "ce8ba1a563dcdaca", "e20e36e16fcb0cc8"]
WORLD += ["b3edc88f2938467e", "c8e28b0b4002a3a0", "c129715d7a2bc9a3"]


@pytest.mark.parametrize(
    ("text", "hashes"),
    [
        ("", ["c129715d7a2bc9a3"]),
        (
            " a\nb\n  \t\tc\n d",
            ["271789c17abda88f", "54703d4cd895b18", "180aee12dab6264", "a23a3dc5e078b07b"],
        ),
        (
            " hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End",
            [
                "8b7cf3e952e7aeb2",
                "b1ae1287ec4718d9",
                "bff680108adb0fcc",
                "c6805c5e1288b612",
                "b86d3392aea1be30",
                "e6ceba753e1a442",
            ],
        ),
        (" hello; \t\nworld!!!\n\n\n  \t\tGreetings\n End\n", WORLD),
        (" hello; \t\nworld!!!\r\r\r  \t\tGreetings\r End\r", WORLD),
        (" hello; \t\r\nworld!!!\r\n\r\n\r\n  \t\tGreetings\r\n End\r\n", WORLD),
        (" hello; \t\nworld!!!\r\n\n\r  \t\tGreetings\r End\r\n", WORLD),
    ],
)
def test_values_of_the_upload_action(text: str, hashes: list[str]) -> None:
    assert line_hashes(text) == [value + ":1" for value in hashes]


def test_equal_lines_are_counted() -> None:
    expected = [f"a7f2ff13bc495cf2:{count}" for count in range(1, 7)]
    expected += ["a7f2ff1481e87703:1", "a9cf91f7bbf1862b:1", "55ec222b86bcae53:1", "cc97dc7b1d7d8f7b:1"]
    assert line_hashes("Lorem ipsum dolor sit amet.\n" * 10) == [*expected, "c129715d7a2bc9a3:1"]


def test_a_moved_line_keeps_its_hash() -> None:
    text = "def f(x):\n" + "    y = x\n" * 30 + "    return x.item()  # 🔥\n" + "# the end\n" * 40
    line = text.split("\n").index("    return x.item()  # 🔥")
    assert line_hashes("import torch\n\n" + text)[line + 2] == line_hashes(text)[line]
