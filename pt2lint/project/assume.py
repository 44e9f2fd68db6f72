"""What holds where the user's models run (`assume`): conditions that it decides, and findings that it excludes."""

from __future__ import annotations

import ast
from collections.abc import Sequence
from dataclasses import replace

from pt2lint.conditions import DTYPES, Held, outcome
from pt2lint.finding import Finding

WORDS = {"training": ("training", True), "eval": ("training", False)}
WORDS |= {"autocast": ("autocast", True), "no-autocast": ("autocast", False)}


def parse(text: str) -> Held:
    """("training", True), ("dtype", "float16") or ("config.output_attentions", False): what one assumption says.

    Raises ValueError, with what is near it, for what says nothing.
    """
    from difflib import get_close_matches

    name, equals, value = (part.strip() for part in text.partition("="))
    if not equals:
        if name in WORDS:
            return WORDS[name]
        near = get_close_matches(name.lower(), WORDS, n=1, cutoff=0.6)
        more = (
            f'did you mean "{near[0]}"?'
            if near
            else f"it takes {', '.join(WORDS)}, dtype=float16, NAME=VALUE"
        )
        raise ValueError(f'holds "{text}", which says nothing; {more}')
    if name in ("dtype", "torch_dtype"):
        short = value.removeprefix("torch.")
        if short in DTYPES:
            return "dtype", DTYPES[short]
        near = get_close_matches(short, DTYPES, n=1, cutoff=0.8)
        more = (
            f'did you mean "dtype={near[0]}"?' if near else "there are float16, bfloat16, float32 and float64"
        )
        raise ValueError(f'holds "{text}", but that is no floating-point dtype; {more}')
    if not all(part.isidentifier() for part in name.split(".")):
        raise ValueError(
            f'holds "{text}", but {name or "nothing"} is no name; write it as in "config.use_cache=False"'
        )
    try:
        return name, ast.literal_eval(value)
    except (ValueError, SyntaxError):
        near = get_close_matches(value.capitalize(), ["True", "False", "None"], n=1, cutoff=0.75)
        if near:
            raise ValueError(f'holds "{text}"; did you mean "{name}={near[0]}"?') from None
        if not value.isidentifier():
            raise ValueError(f'holds "{text}", but {value or "nothing"} is no value of Python') from None
        return name, value  # a word stands for a text, as on a command line


def assumed(finding: Finding, held: Sequence[Held]) -> Finding | None:
    """The finding without the conditions that are known to hold; None where one does not."""
    if not finding.when or not held:
        return finding
    outcomes = {text: outcome(text, held) for text in finding.when}
    if False in outcomes.values():
        return None
    left = tuple(text for text in finding.when if outcomes[text] is None)
    if left == finding.when:
        return finding
    on = any(f"`{text}` is off by default" == finding.note for text in finding.when if text not in left)
    return replace(finding, when=left, note="" if on else finding.note)
