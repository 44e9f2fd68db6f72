"""What pt2lint says: findings, and the plain data they are made of.

Everything here is immutable plain data, shared by every stage. Lines and columns count from 1, columns in
code points; an end column is the first column after the range (as in SARIF).
"""

from __future__ import annotations

from copy import deepcopy
from dataclasses import dataclass
from typing import Any, Literal

Severity = Literal["error", "warning", "note"]
Confidence = Literal["high", "low"]
Verdict = Literal["confirmed", "refuted", "unreached", "failed"]
Applicability = Literal["safe", "unsafe"]
# What a fix is beside its text, as who makes it says; the properties of `Fix` tell what each means.
Trait = Literal[
    "workaround",
    "setting",
    "once proven",
    "taken",
    "not taken",
    "branch",
    "nan",
    "other error",
    "other draws",
    "compiles elsewhere",
    "whole numbers",
    "tells less",
    "in a tensor",
]
MAX_TOLD = 3  # conditions of a finding: where there are as many, others may have been left out
UNCALLED = "in code that no model calls"  # the note of what a package offers beside its models
ITERATES = "in a loop that runs until its values say so"  # the note of an algorithm, which ends compiling all the same
# The note of what no graph holds, in a module of a package of which nothing says that it is compiled.
ASIDE = "beside the model: no repair keeps it in the graph, and nothing here compiles the module"
EDGE = "where what is compiled begins or ends: it parts no graph, and nothing here compiles the module"
OPTIONAL = "on a way that an option or an argument opens, and nothing here compiles the module"
NESTED = "in loops within loops over data, and nothing here compiles the module"
BY_ROW = "in a loop that reads values row by row, and nothing here compiles the module"
# The note of a backward call that ends what is compiled, whoever compiles it.
LAST = "the last thing that is computed there, which parts no graph"
RECORDED = "where what a step tells is put into a record in the end, and nothing here compiles the module"
UNCOMPILED = "a cache for code that is not compiled, as nothing here compiles the module"
COPY = (
    "generated: the same is told at "  # how that begins of a copy, before the place of what it is a copy of
)
ALL_OVER = (
    "one of many values that steer what is compiled, told at "  # the same, of what no one mends one by one
)
LEFT = "one of many breaks that leave functions to Python, told at "  # the same, where all of them have to be mended
SHARED = "one cause, told at "  # how that begins of what has its cause with another finding, before its place
ALIKE = (
    "the same lines, told at "  # how that begins of what was pasted into another file and given other names
)
PASTED = "the same function, told at "  # how that begins of what stands word for word in another file as well
UNDER = "told with line "  # how the note of a finding begins whose line another one tells too


class Stopped(BaseException):
    """Nobody waits for the answer any more. As with an interrupt, what looks after other errors lets it pass."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace a range of one file by `text`.

    `replaces` are the ranges (line, column, end line, end column) of the statements, expressions or comments that the
    fix replaces; it holds all of them, whichever edit it stands at. Where it is empty that is the edit's own range.
    """

    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    text: str
    replaces: tuple[tuple[int, int, int, int], ...] = ()

    def __post_init__(self) -> None:
        # What was kept as plain data comes back as lists.
        object.__setattr__(self, "replaces", tuple(tuple(one) for one in self.replaces))


@dataclass(frozen=True, slots=True)
class Fix:
    """Edits that remove the cause of a finding.

    `description` says in one sentence what is done and what it assumes. `proven` is None until --verify has
    applied the fix to a scratch copy and run it. One `by_hand` is told, and never written by --fix, proven or not:
    where it belongs only the reader knows. `traits` are what the properties tell of it.
    """

    description: str
    applicability: Applicability
    edits: tuple[Edit, ...]
    proven: bool | None = None
    by_hand: bool = False
    traits: tuple[Trait, ...] = ()

    @property
    def is_workaround(self) -> bool:
        """Whether it avoids the cost of a finding and leaves its cause."""
        return "workaround" in self.traits or self.is_setting

    @property
    def is_setting(self) -> bool:
        """Whether it sets what holds for the whole process."""
        return "setting" in self.traits

    @property
    def waits_for_proof(self) -> bool:
        """Whether --fix leaves it alone until it is proven."""
        return not self.proven and "once proven" in self.traits

    @property
    def is_usable(self) -> bool:
        """Whether a tool may offer to write it: it was not disproved, and is not left to the reader."""
        return bool(self.edits) and self.proven is not False and not self.by_hand

    @property
    def is_to_try(self) -> bool:
        """Whether --verify tries it: what a tool may write, and a workaround that is told, though no setting."""
        told = self.by_hand and not (self.is_workaround and not self.is_setting)
        return bool(self.edits) and self.proven is not False and not told

    @property
    def takes(self) -> bool | None:
        """What the test that it leaves out has to give in a sample for the fix to be believed; None for other fixes."""
        return "taken" in self.traits if {"taken", "not taken"} & {*self.traits} else None

    @property
    def is_of_branch(self) -> bool:
        """Whether it does without a branch, of which both sides have to be taken in samples."""
        return "branch" in self.traits

    @property
    def may_give_nan(self) -> bool:
        """Whether a gradient may be NaN after the fix, or a result."""
        return "nan" in self.traits

    @property
    def raises_otherwise(self) -> bool:
        """Whether what raises an error raises RuntimeError after the fix."""
        return "other error" in self.traits

    @property
    def draws_otherwise(self) -> bool:
        """Whether a run with the same seed draws other random numbers after the fix."""
        return "other draws" in self.traits

    @property
    def compiles_elsewhere(self) -> bool:
        """Whether another function is compiled after the fix: only a run of the program proves it."""
        return "compiles elsewhere" in self.traits

    @property
    def asks_for_numbers(self) -> bool:
        """Whether its proof tries other whole numbers than those of the sample."""
        return "whole numbers" in self.traits

    @property
    def tells_otherwise(self) -> bool:
        """Whether compiled code logs less after the fix, or nothing."""
        return "tells less" in self.traits

    @property
    def keeps_in_tensor(self) -> bool:
        """Whether a number that is kept from call to call is a tensor after the fix."""
        return "in a tensor" in self.traits

    @property
    def is_proven_repair(self) -> bool:
        return bool(self.proven) and not self.is_workaround


@dataclass(frozen=True, slots=True)
class Step:
    """One step of the way from the compile root to the finding, or of a value from its source."""

    path: str
    line: int
    message: str


@dataclass(frozen=True, slots=True)
class Price:
    """What a break costs, as far as reading tells.

    `gives_up` is what runs without compiling: "function", "caller" (from the `try` on, where that is one), "rest" for
    what comes after the break in its function, or "" for a break after which compiled code goes on. `left` names the
    function or caller. `layers`: a loop over modules leads there. `before` and `after`: how many operators lie on
    either side of it in what is compiled. `roots`: how many compiled functions lead there. `waits`: Python waits for a
    value of the device. `cause` is what the value is, in a reader's words; "" where it is no value's.
    """

    gives_up: str = ""
    layers: bool = False
    before: int = 0
    after: int = 0
    roots: int = 1
    waits: bool = False
    cause: str = ""
    left: str = ""

    @property
    def rank(self) -> tuple[int, ...]:
        """To order by, the dearest last."""
        whole = {"function": 2, "caller": 2, "rest": 1}.get(self.gives_up, 0)
        # A break in the middle parts more than one at an end does.
        parted = min(self.before, self.after)
        return (self.layers + bool(whole), whole, parted, self.waits, self.before + self.after, self.roots)

    @property
    def told(self) -> str:
        """Why it is worth mending, in words."""
        parts = []
        if self.layers:
            parts.append("in a loop over layers")
        if self.gives_up:
            part = f"`{self.left}`" if self.left else "the rest of its function"
            parts.append(f"{part} is left to Python")
        if self.before or self.after:
            operators = "operator" if self.before == 1 else "operators"
            parts.append(f"{self.before} {operators} before it, {self.after} after it")
        if self.waits:
            parts.append("Python waits for the device")
        if self.roots > 1:
            parts.append(f"{self.roots} compiled functions lead to it")
        return ", ".join(parts)


def _plain(one: Edit | Fix | Step | Price | Finding) -> dict[str, Any]:
    """The fields by name: dataclasses.asdict copies each value, which takes ten times as long."""
    return {name: getattr(one, name) for name in one.__slots__}


@dataclass(frozen=True, slots=True)
class Finding:
    """One rule's report at one place.

    `when` are the conditions without which it does not happen, in the code's own words; `note` says why it
    is true and yet seldom worth acting on: "once", "off by default"; "" if nothing does. `also` are lines of the same
    function where the graph breaks too, of the same cause or after this break has ended the function's compiling.
    `price` is what reading tells of the cost.

    `evidence` is what Dynamo said (None until verified): keys `graph_break` (registry id or None), `reason`,
    `graphs`, `hits` and others that the documentation of --verify lists.
    """

    code: str
    name: str
    message: str
    path: str
    line: int
    column: int
    end_line: int
    end_column: int
    severity: Severity = "warning"
    confidence: Confidence = "high"
    verdict: Verdict | None = None
    evidence: dict[str, Any] | None = None
    flow: tuple[Step, ...] = ()
    fixes: tuple[Fix, ...] = ()
    when: tuple[str, ...] = ()
    note: str = ""
    also: tuple[int, ...] = ()
    price: Price | None = None

    def as_json(self) -> dict[str, Any]:
        """All of it as plain data; --format json prints it without what the edits replace, and the traits."""
        return {
            **_plain(self),
            "evidence": deepcopy(self.evidence),
            "flow": tuple(map(_plain, self.flow)),
            "fixes": tuple({**_plain(fix), "edits": tuple(map(_plain, fix.edits))} for fix in self.fixes),
            "price": None if self.price is None else _plain(self.price),
        }

    def weighed(self, severity: Severity) -> Finding:
        """The same with another severity: dataclasses.replace takes twice as long, and there are thousands."""
        return Finding(**{**_plain(self), "severity": severity})

    @property
    def is_graph_break(self) -> bool:
        """Whether it says that the graph breaks: by one of our codes or, from a rule of the user's own, by a price."""
        return self.code.startswith("PTB") or self.price is not None

    @property
    def only_where(self) -> str:
        """The conditions as text: "only where `x` and `y`", "" if there are none."""
        return "only where " + " and ".join(f"`{text}`" for text in self.when) if self.when else ""

    @property
    def told(self) -> str:
        """The message, and when it holds."""
        return f"{self.message} ({self.only_where})" if self.when else self.message

    @property
    def is_note(self) -> bool:
        """Whether it is shown on request only: true but seldom worth acting on, and no run has met it."""
        return self.severity == "note" and self.verdict != "confirmed"

    @property
    def is_of_uncalled(self) -> bool:
        """Whether it is a note of code that no model calls: in a package there can be thousands."""
        return self.is_note and self.note == UNCALLED

    @property
    def copy_of(self) -> str:
        """Where a finding stands of which this one is a copy, in a file that is generated, or with which it has its
        cause or its function; "" for none."""
        return next(
            (
                self.note.removeprefix(a)
                for a in (COPY, SHARED, PASTED, ALIKE, ALL_OVER, LEFT)
                if self.note.startswith(a)
            ),
            "",
        )

    @property
    def place(self) -> str:
        """The path and the line."""
        return f"{self.path}:{self.line}"

    @property
    def is_under_another(self) -> bool:
        """Whether another finding of its function tells its line too."""
        return self.note.startswith(UNDER)

    def fails(self, level: Severity) -> bool:
        """Whether the finding makes the exit status 1 where findings of that severity and above do."""
        ranks = ("note", "warning", "error")
        severity = "warning" if self.severity == "note" and not self.is_note else self.severity
        return self.counts and ranks.index(severity) >= ranks.index(level)

    @property
    def counts(self) -> bool:
        """Whether it is a finding: all but what Dynamo refuted."""
        return self.verdict != "refuted"

    @property
    def cost(self) -> tuple[int, int, int]:
        """What a confirmed finding costs, to order by: whether a function, or the rest of it, runs uncompiled, how
        often it is hit, how many operators lie in the graphs beside it."""
        said = self.evidence if self.verdict == "confirmed" and self.evidence else {}
        uncompiled = any(said.get(key) for key in ("skipped_frame", "skipped_rest", "limit"))
        uncompiled = uncompiled or ("made" in said and not said["graphs"])
        beside = (said.get("operators_before") or 0) + (said.get("operators_after") or 0)
        return int(uncompiled), said.get("hits") or 0, beside

    @property
    def sort_key(self) -> tuple[str, int, int, str]:
        return (self.path, self.line, self.column, self.code)


@dataclass(frozen=True, slots=True)
class RulePage:
    """What a rule says of itself: the source of `pt2lint rule CODE`, the SARIF help and the site.

    `help` is Markdown, the rule's docstring; `summary` its first line; `graph_breaks` the ids that PyTorch's
    graph-break registry gives the breaks in question.
    """

    code: str
    name: str
    summary: str
    help: str
    severity: Severity
    graph_breaks: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that pt2lint could not do (a file that does not parse, a target that hangs).

    Problems go to stderr, one line each, and make the exit status 2.
    """

    path: str | None
    message: str
    line: int | None = None

    def __str__(self) -> str:
        place = "" if self.path is None else self.path + (f":{self.line}" if self.line else "") + ": "
        return place + self.message
