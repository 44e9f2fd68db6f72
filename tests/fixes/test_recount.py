"""Proof of fixes for recompilations and for what silently does nothing, with real children."""

from __future__ import annotations

from dataclasses import replace

import pytest

from pt2lint.dynamic import VerifyOptions, verify
from pt2lint.finding import Edit, Finding, Fix
from pt2lint.fixes.proof import prove
from pt2lint.fixes.recount import moved_to, printed_alike
from pt2lint.project.config import Settings
from pt2lint.static.engine import lint

OPTIONS = VerifyOptions(modes=("train",), timeout=120)
COUNTER = """import torch


class Model(torch.nn.Module):
    def __init__(self):
        super().__init__()
        self.step = 0

    def forward(self, x: torch.Tensor):
        self.step += 1
        return x / (1 + self.step)


def example_inputs():
    return Model(), (torch.ones(2, 4),)
"""
PROGRAM = """import torch


class Net(torch.nn.Module):
    def forward(self, x):
        return x * 2


def main():
    model = Net()
    torch.compile(model, backend="eager")
    for n in range(3):
        print(model(torch.ones(3) + n).sum().item())


if __name__ == "__main__":
    main()
"""
WAITS = """import torch


class Model(torch.nn.Module):
    def forward(self, x: torch.Tensor):
        kept = []
        kept.append(x.sum().item())
        return x + 1


def example_inputs():
    return Model(), (torch.ones(2, 4),)
"""
TRAINS = """import torch

net = torch.nn.Linear(3, 1)
with torch.no_grad():
    net.weight.fill_(0.5)
optimizer = torch.optim.SGD(net.parameters(), lr=0.1)


@torch.compile(backend="eager")
def step(x):
    loss = net(x).square().mean()
    loss.backward()
    optimizer.step()
    return loss.detach()


if __name__ == "__main__":
    for n in range(3):
        step(torch.ones(2, 3))
"""


def proved(tmp_path, text, wrong=None):
    path = str(tmp_path / "m.py")
    with open(path, "w") as file:
        file.write(text)
    found = lint([path], Settings()).findings
    judged = verify(found, [path], OPTIONS)
    findings = judged.findings
    if wrong is not None:
        findings = [
            replace(one, fixes=(wrong(path), *one.fixes)) if one.verdict == "confirmed" else one
            for one in findings
        ]
    proof = prove(findings, judged.events, [path], OPTIONS)
    return {one.code: one for one in proof.findings if one.verdict == "confirmed"}, "\n".join(proof.notes)


def test_a_counter_in_a_buffer_is_counted_and_compared(tmp_path):
    def forgets(path):
        return Fix("forget it", "unsafe", (Edit(path, 10, 1, 12, 1, "        return x / 2\n"),))

    found, notes = proved(tmp_path, COUNTER, forgets)
    (counter,) = [one for code, one in found.items() if code.startswith("PTR")]
    assert [fix.proven for fix in counter.fixes] == [False, True], notes
    assert "three calls in a row" in notes
    assert "times before, 0 with it" in notes


def test_a_value_that_is_computed_first_may_break_the_graph_there(tmp_path):
    found, notes = proved(tmp_path, WAITS)
    assert [fix.proven for fix in found["PTR232"].fixes] == [True], notes


def test_a_program_shows_what_silently_does_nothing(tmp_path):
    def other(path):
        return Fix("another result", "unsafe", (Edit(path, 6, 1, 7, 1, "        return x * 3\n"),))

    found, notes = proved(tmp_path, PROGRAM, other)
    discarded = found["PTS301"]
    assert [fix.proven for fix in discarded.fixes[:2]] == [False, True], notes
    assert "the program printed" in notes


def test_a_program_shows_that_a_step_taken_apart_trains_to_the_same_losses(tmp_path):
    def other(path):
        edit = Edit(path, 11, 1, 12, 1, "    loss = net(x).square().mean() / 2\n")
        return Fix("compile what halves it", "unsafe", (edit,), traits=("compiles elsewhere",))

    found, notes = proved(tmp_path, TRAINS, other)
    assert {"PTB160", "PTB165"} <= set(found)
    for code in ("PTB160", "PTB165"):
        assert [fix.proven for fix in found[code].fixes[:2]] == [False, True], notes
    assert "given other gradients" in notes
    # The optimizer's step ends the graph wherever it is compiled.
    assert "at 3 places before, at 2 with it, and trains to the same gradients and parameters" in notes


def test_printed_numbers_may_be_rounded_and_noise_is_left_out():
    assert printed_alike("loss 0.12345 at 3\n", "loss 0.12346 at 3\n")
    assert not printed_alike("loss 0.12 at 3\n", "loss 0.12 at 4\n")
    assert not printed_alike("loss 0.12\n", "loss 0.13\n")
    assert printed_alike("a 1\ntook 0.5 s\n", "a 1\ntook 0.7 s\n", "a 1\ntook 0.6 s\n")
    assert not printed_alike("took 0.5 s\n", "took 0.7 s\n", "took 0.6 s\n")
    assert not printed_alike("a 1\ntook 0.5 s\n", "a 2\ntook 0.7 s\n", "a 1\ntook 0.6 s\n")


@pytest.mark.parametrize(
    ("lines", "place"), [({1: 1, 2: 2, 3: 3}, (2, 2)), ({1: 1, 4: 3}, (2, 3)), ({3: 2}, (3, 3))]
)
def test_a_finding_where_it_stands_afterwards(lines, place):
    moved = moved_to(Finding("PTS301", "n", "m", "m.py", 2, 1, 2, 5), lines)
    assert (moved.line, moved.end_line) == place
    assert not printed_alike("epoch 1 took 0.5 s\n", "epoch 1 took 0.7 s\n", "epoch 1 took 0.6 s\n")
    # the time it took, beside the loss
    assert printed_alike("0 4.7875 2.75\n", "0 4.7875 2.87\n", "0 4.7875 2.66\n")
    assert printed_alike("0 4.7875 12 ms\n", "0 4.7876 5 ms\n", "0 4.7875 7 ms\n")
    assert not printed_alike("0 4.7875 2.75\n", "0 4.8875 2.87\n", "0 4.7875 2.66\n")
    assert not printed_alike("0 4.7875 2.75\n", "1 4.7875 2.87\n", "0 4.7875 2.66\n")
