"""What a call did, as it is compared."""

from __future__ import annotations

import sys
import warnings

import torch

from pt2lint.dynamic.child.compare import outcome


def test_warnings_are_not_what_a_call_prints(monkeypatch):
    """Python shows a warning once a process: which call shows it depends on the calls before."""

    def show(message, *about):
        print(f"m.py:1: {message}\n  a line", file=sys.stderr)

    def warns(x):
        warnings.warn("old", stacklevel=1)
        print("said")
        return x

    monkeypatch.setattr(warnings, "showwarning", show)
    said = outcome(warns, "call", ((torch.ones(1),), {}), False, 0, lambda function: function)
    assert said["printed"] == "said"
    assert warnings.showwarning is show
