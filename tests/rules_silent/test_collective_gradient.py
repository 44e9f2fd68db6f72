"""PTS355, run by two processes: what it reports has another gradient where it is compiled, and nothing else has."""

from __future__ import annotations

import json
import re
import sys
from pathlib import Path

import pytest
import torch

from tests import forked
from tests.linting import findings

pytestmark = pytest.mark.skipif(
    not torch.distributed.is_available() or sys.platform == "win32", reason="needs torch.distributed"
)

COLLECTIVES = """
import torch
import torch.distributed as dist


class Summed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        x = x.clone()
        dist.all_reduce(x)
        return x

    @staticmethod
    def backward(ctx, grad):
        return grad


@torch.compile(backend="aot_eager")
def with_own(x):
    y = x * 2
    parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, y)  # PTS355
    parts[dist.get_rank()] = y
    return torch.cat(parts)


@torch.compile(backend="aot_eager")
def detached(x):
    y = x * 2
    parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
    dist.all_gather(parts, y.detach())
    parts[dist.get_rank()] = y
    return torch.cat(parts)


@torch.compile(backend="aot_eager")
def without(x):
    y = x * 2
    parts = [torch.empty_like(y) for _ in range(dist.get_world_size())]
    with torch.no_grad():
        dist.all_gather(parts, y)
    parts[dist.get_rank()] = y
    return torch.cat(parts)


@torch.compile(backend="aot_eager")
def mean(x):
    m = (x * 2).mean(0)
    dist.all_reduce(m)  # PTS355
    return x - m / dist.get_world_size()


@torch.compile(backend="aot_eager")
def largest(x):
    m = x.max()
    dist.all_reduce(m, op=dist.ReduceOp.MAX)  # PTS355
    return x - m


@torch.compile(backend="aot_eager")
def counted(x):
    n = (x > 0.5).sum()
    dist.all_reduce(n)
    return x / n


@torch.compile(backend="aot_eager")
def logged(x):
    m = x.mean()
    dist.all_reduce(m)
    return x * 2, m.detach()


@torch.compile(backend="aot_eager")
def by_hand(x):
    return Summed.apply(x * 2)


def backward(loss):
    loss.backward()
"""
RUN = """
import json, os, sys
import torch, torch._dynamo.guards, torch._inductor.compile_fx, torch.distributed as dist, torch.multiprocessing
import collectives

NAMES = "with_own detached without mean largest counted logged by_hand".split()

def gradient(function, rank):
    torch.manual_seed(rank)
    x = torch.rand(4, 3, requires_grad=True)
    y = function(x)
    y = y[0] if isinstance(y, tuple) else y
    try:
        ((y * y).sum() * (rank + 1)).backward()
    except RuntimeError:
        return "raises"
    return None if x.grad is None else [round(one, 3) for one in x.grad.flatten().tolist()]

def work(rank, folder):
    dist.init_process_group("gloo", init_method=f"file://{folder}/store", rank=rank, world_size=2)
    torch.set_num_threads(1)
    differ = []
    for name in NAMES:
        function = getattr(collectives, name)
        torch.compiler.set_stance("force_eager")
        eager = gradient(function, rank)
        torch.compiler.set_stance("default")
        try:
            compiled = gradient(function, rank)
        except Exception as error:  # the backward of what is no sum is refused while compiling
            compiled = type(error).__name__
        if compiled != eager:
            differ.append(name)
        dist.barrier()
    if rank == 0:
        print(json.dumps(differ))
    dist.destroy_process_group()

if __name__ == "__main__":
    torch._dynamo.guards.profile_guard_manager = lambda *arguments: 0.0  # see matrix/harness.py
    # Both are forked: torch is imported once.
    torch.multiprocessing.start_processes(work, (sys.argv[1],), nprocs=2, start_method="fork")
"""


def test_what_it_reports_has_another_gradient(tmp_path: Path) -> None:
    (tmp_path / "collectives.py").write_text(COLLECTIVES)
    (tmp_path / "run.py").write_text(RUN)
    told = {finding.line for finding in findings(COLLECTIVES) if finding.code == "PTS355"}
    lines = COLLECTIVES.splitlines()
    assert told == {number for number, line in enumerate(lines, 1) if "# PTS355" in line}

    run = forked.run(tmp_path / "run.py", str(tmp_path))
    assert run.returncode == 0, run.stderr
    differ = set(json.loads(run.stdout.splitlines()[-1]))
    at = {re.findall(r"def (\w+)", "\n".join(lines[:number]))[-1] for number in told}
    assert differ == at
