"""What a finding's own words say of the code it is about: the mask, the callee, where a value is made.

A finding is kept as plain data, between runs too, and this is all that it keeps of the code. Who changes the words of
a rule finds out here, and in tests/project/test_gather.py, what is read back from them.
"""

from __future__ import annotations

import re
from keyword import iskeyword

from pt2lint.finding import Finding

SCRIPTED = "calls a module of torch.jit"  # as PTB185 says it
OVER = "goes over an iterator that was made before"  # as PTB187 does
ENTERED = "PTB180"  # a context manager, which its message puts behind a word
ANY = re.compile(r"`(?:torch\.any\(([\w.]+)\)|([\w.]+)\.any\(\))`")
PICKED = re.compile(r"^[^`]*`[^`]*\[~?([A-Za-z_]\w*)\]`")
INVERTED = re.compile(r"`~([\w.]+)` inverts ")
OF_SPARSE = re.compile(r"`[\w.]+\._?(?:indices|values)\(\)\[")
LINES = re.compile(r" \(line \d+\)")
MADE_AT = re.compile(r" \((?:(.*):|line )(\d+)\)$")
NAMES = re.compile(r"[A-Za-z_][\w.]*\b(?!\()")  # but for those that are called
TEXTS_AND_NUMBERS = re.compile(r"'[^'\\]*'|\"[^\"\\]*\"|(?<![\w.])\d[\w.]*")
AGAIN = re.compile(r"(?<=if )(.+?)(?: (?:and|or) \1)+$")
PLACE = re.compile(r"([\w.]+) (?:==|!=|in|not in) ")  # an option, and what it is compared with


def quoted(finding: Finding) -> str:
    """The code that the message quotes first."""
    return finding.message.partition("`")[2].partition("`")[0]


def words(finding: Finding) -> str:
    """What the message says of the code, without lines and what it costs there."""
    return LINES.sub("", finding.message.partition("; ")[0])


def cause(finding: Finding) -> str:
    """What the value is that a break is about, in a reader's words; "" where it is about none."""
    return finding.price.cause if finding.price is not None else ""


def origin_of(finding: Finding) -> tuple[str, str, str] | None:
    """What is said of the value that a finding is about, and the file and the line where it is made."""
    match = MADE_AT.search(cause(finding))
    return (
        (cause(finding)[: match.start()], match[1] or finding.path, match[2]) if match is not None else None
    )


def tested_mask(finding: Finding) -> str:
    """The mask of which a test asks whether it holds anywhere: `mask.any()`, `torch.any(mask)`; "" for none."""
    tested = ANY.search(finding.message)
    return (tested[1] or tested[2]) if tested is not None else ""


def picking_mask(finding: Finding) -> str:
    """The mask by which rows are picked: `x[mask]`, `x[~mask]`; "" for none that has a name."""
    picked = PICKED.search(finding.message)
    return picked[1] if picked is not None else ""


def inverted(finding: Finding) -> str:
    """The name of which a cause says no more than that it is inverted, as masks are."""
    found = INVERTED.match(cause(finding))
    return found[1] if found is not None else ""


def names_lines(finding: Finding) -> bool:
    """Whether the cause says at which lines of the file its parts are made."""
    return LINES.search(cause(finding)) is not None


def is_scripted(finding: Finding) -> bool:
    """Whether it is a call of a module that TorchScript runs."""
    return SCRIPTED in finding.message


def goes_over_iterator(finding: Finding) -> bool:
    return OVER in finding.message


def is_part_of_sparse(finding: Finding) -> bool:
    """Whether rows are picked of what a sparse tensor holds: `x._values()[kept]`."""
    return OF_SPARSE.search(finding.message) is not None


def called(finding: Finding) -> tuple[str, str]:
    """What the message says is called, whatever it is given, and what it says of that."""
    before, _, rest = words(finding).partition("`")
    code, _, said = rest.partition("`")
    callee, calls, _ = code.partition("(")
    return (callee, said) if calls and (not before or finding.code == ENTERED) else ("", "")


def options(finding: Finding) -> list[str | None]:
    """Of each condition the option that it compares with a number or a text: `config.kind == 0`."""
    asked = (PLACE.match(text) for text in finding.when)
    return [match[1] if match is not None else None for match in asked]


def shape(text: str) -> str:
    """A statement without names, but for those of what it calls, without texts and numbers, and with what it asks of
    several things once."""
    plain = TEXTS_AND_NUMBERS.sub("_", text)
    return AGAIN.sub(r"\1", NAMES.sub(lambda name: name[0] if iskeyword(name[0]) else "_", plain))


def names(name: str, text: str) -> bool:
    """Whether the text names it, and not only as a part of another name."""
    return re.search(rf"(?<![\w.]){re.escape(name)}(?!\w)", text) is not None


def views(mask: str, text: str) -> bool:
    """Whether the text has a view of the mask: `mask.view(-1, 1)`."""
    view = rf"(?<![\w.]){re.escape(mask)}\.(?:view|reshape|unsqueeze|expand|expand_as)\("
    return re.search(view, text) is not None


def inverts(mask: str, text: str) -> bool:
    """Whether the statement makes the opposite of the mask: `other = ~mask`, `other = mask.logical_not()`."""
    m, no = re.escape(mask), r"(?:logical|bitwise)_not"
    return re.match(rf"\w+ = (?:~{m}\b|{m}\.{no}\(\)|torch\.{no}\({m}\))", text) is not None
