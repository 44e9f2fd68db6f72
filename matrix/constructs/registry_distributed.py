# ruff: noqa
"""Collectives of torch.distributed, entry by entry of PyTorch's registry of graph breaks."""

import torch
import torch.distributed as dist
from torch import Tensor
from torch.compiler import is_compiling

if not dist.is_initialized():
    dist.init_process_group("gloo", store=dist.HashStore(), rank=0, world_size=1)


def all_reduce(x: Tensor):
    """`dist.all_reduce(x)`"""
    y = x + 1
    dist.all_reduce(y)
    return y


def all_reduce_asynchronous(x: Tensor):
    """`dist.all_reduce(x, async_op=True)`"""
    y = x + 1
    dist.all_reduce(y, async_op=True).wait()
    return y


def all_gather_object(x: Tensor):
    """`dist.all_gather_object(list, 1)`"""
    parts = [None]
    dist.all_gather_object(parts, 1)
    return x + parts[0]


def broadcast(x: Tensor):
    """`dist.broadcast(x, 0)`"""
    y = x + 1
    dist.broadcast(y, 0)
    return y


def barrier(x: Tensor):
    """`dist.barrier()`"""
    dist.barrier()
    return x + 1


def rank_and_size(x: Tensor):
    """`dist.get_rank()`, `dist.get_world_size()`, `dist.is_initialized()`"""
    return x + dist.get_rank() + dist.get_world_size() + dist.is_initialized()


def group_made(x: Tensor):
    """`dist.new_group([0])`"""
    dist.new_group([0])
    return x + 1


def send_asynchronous(x: Tensor):
    """`dist.isend(x, 0)`"""
    if not is_compiling():
        return x
    try:
        dist.isend(x, 0).wait()
    except (RuntimeError, ValueError):
        pass
    return x + 1


def operation_made(x: Tensor):
    """`dist.P2POp(dist.isend, x, 0)`"""
    if not is_compiling():
        return x
    try:
        dist.P2POp(dist.isend, x, 0)
    except (RuntimeError, ValueError):
        pass
    return x + 1


def operations_batched(x: Tensor):
    """`dist.batch_isend_irecv([...])`"""
    if not is_compiling():
        return x
    try:
        dist.batch_isend_irecv([])
    except (RuntimeError, ValueError, IndexError):
        pass
    return x + 1


def device_mesh(x: Tensor):
    """`init_device_mesh("cpu", (1,))`"""
    from torch.distributed.device_mesh import init_device_mesh

    return x + init_device_mesh("cpu", (1,)).size()
