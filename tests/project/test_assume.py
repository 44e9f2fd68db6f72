"""What is assumed decides conditions, and excludes findings."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pt2lint.conditions import outcome
from pt2lint.finding import Finding
from pt2lint.project.assume import assumed, parse
from pt2lint.project.config import PartlyWrong, parse_assumptions

FINDING = Finding("PTB103", "tensor-item", "it breaks", "m.py", 1, 1, 1, 5)


@pytest.mark.parametrize(
    ("text", "held", "expected"),
    [
        ("self.training", "training", True),
        ("not self.training", "training", False),
        ("self.training", "eval", False),
        ("torch.is_autocast_enabled()", "no-autocast", False),
        ("x.dtype == torch.float16", "dtype=float16", True),
        ("x.dtype == torch.half", "dtype=torch.float16", True),
        ("torch.float16 != x.dtype", "dtype=float16", None),
        ("x.dtype != torch.float32", "dtype=float16", True),
        ("x.dtype in (torch.float16, torch.bfloat16)", "dtype=float32", False),
        ("mask.dtype == torch.bool", "dtype=float32", None),
        ("torch.finfo(x.dtype).bits < 32", "dtype=float16", True),
        ("torch.finfo(x.dtype).bits < 32", "dtype=float32", False),
        ("torch.finfo(x.dtype).bits >= 32", "dtype=bfloat16", False),
        ("torch.iinfo(x.dtype).bits < 32", "dtype=float16", None),
        ("torch.finfo(dtype_of(x)).bits < 32", "dtype=float16", None),
        ("x.dtype.itemsize == 2", "dtype=bfloat16", True),
        ("x.element_size() <= 2", "dtype=float64", False),
        ("x.element_size(0) <= 2", "dtype=float64", None),
        ("str(x.dtype) == 'torch.float16'", "dtype=float16", True),
        ("str(x) == 'torch.float16'", "dtype=float16", None),
        ("'float16' in str(x.dtype)", "dtype=bfloat16", True),
        ("'float16' not in str(x.dtype)", "dtype=float32", True),
        ("str(x.dtype).endswith('float16')", "dtype=float32", False),
        ("str(x.dtype).endswith(name)", "dtype=float32", None),
        ("not x.dtype.is_floating_point", "dtype=float32", False),
        ("torch.finfo(x.dtype).bits < 32", "training", None),
        ("self.config.output_attentions", "config.output_attentions=False", False),
        ("self.config.output_attentions", "output_attentions=True", True),
        ("self.myconfig.use", "config.use=True", None),
        ("self.config.kind == 'deep'", "config.kind=flat", False),
        ("self.config.kind in ('deep', 'flat')", "config.kind=flat", True),
        ("labels is not None", "labels=None", False),
        ("labels is None or self.training", "training", True),
        ("labels is None and self.training", "training", None),
        ("isinstance(x, Cache)", "training", None),
        ("self.config.rate > 0", "config.rate=0.0", False),
        ("self.config.rate > 0", "config.rate=0.1", True),
        ("self.config.rate > 0", "config.rate='much'", None),
    ],
)
def test_a_condition_under_an_assumption(text: str, held: str, expected: bool | None) -> None:
    assert outcome(text, [parse(held)]) is expected


def test_what_is_excluded_is_gone_and_what_is_decided_is_no_condition() -> None:
    finding = replace(FINDING, when=("self.training", "verbose"), note="`verbose` is off by default")
    assert assumed(finding, [parse("eval")]) is None
    left = assumed(finding, [parse("training")])
    assert left is not None
    assert (left.when, left.note) == (("verbose",), finding.note)
    left = assumed(finding, [parse("verbose=True")])
    assert left is not None
    assert (left.when, left.note) == (("self.training",), "")
    assert assumed(finding, [parse("other=1")]) is finding


@pytest.mark.parametrize(
    ("text", "near"),
    [
        ("trainig", '"training"'),
        ("dtype=float17", '"dtype=float16"'),
        ("config.x=false", '"config.x=False"'),
        ("something", "dtype=float16, NAME=VALUE"),
        ("a b=1", "config.use_cache=False"),
        ("x=", "no value"),
    ],
)
def test_an_unknown_form_is_one_line_with_the_nearest(text: str, near: str) -> None:
    with pytest.raises(PartlyWrong) as caught:
        parse_assumptions(["training", text])
    [told] = caught.value.told
    assert near in told
    assert "\n" not in told
    assert caught.value.rest == ("training",)
