"""Trees of functions that are kept from one lint to the next."""

from __future__ import annotations

from pt2lint.rule.written import Shelf

TEXT = "    def f(self):\n        return 1\n"


def test_what_was_not_asked_for_longest_goes_first() -> None:
    shelf = Shelf(room=2 * len(TEXT))
    texts = [TEXT.replace("1", str(number)) for number in range(3)]
    first, second = (shelf.written(text, "    ") for text in texts[:2])
    assert shelf.written(texts[0], "    ") is first
    shelf.written(texts[2], "    ")
    assert shelf.written(texts[0], "    ") is first
    assert shelf.written(texts[1], "    ") is not second


def test_a_function_is_kept_by_its_text_and_how_its_file_is_indented() -> None:
    shelf = Shelf()
    one, other = shelf.written(TEXT, "    "), shelf.written(TEXT, "  ")
    assert one is not other
    assert one.module.code == other.module.code == "if 1:\n" + TEXT
    assert one.module.default_indent == "    "
    assert other.module.default_indent == "  "
