"""A process that loads torch once and forks a child for each request, until its socket closes.

A request is one message: JSON of the specification's path, of the child's folder, of its own variables of the
environment and of the modules that it and others will import, with three descriptors: for its results, for its
standard error, and for news of it (its number, then its exit status).
"""

from __future__ import annotations

import array
import contextlib
import ctypes
import gc
import importlib
import json
import os
import selectors
import signal
import socket
import sys
import tempfile
import threading
import warnings
from collections.abc import Callable

MARK = "PT2LINT_VERIFY"
FDS = 3


def serve(socket_fd: int, child: Callable[[str, int], None]) -> None:
    """Fork a child for each request: `child` is called there with the specification's path and the descriptor for
    results, as in a process of its own."""
    requests = socket.socket(fileno=socket_fd)
    import torch  # where this fails, pt2lint starts its children one by one, and they say so

    from . import jobs  # noqa: F401  # and with it, Dynamo

    with contextlib.suppress(ImportError):
        importlib.import_module("functorch.compile")  # as Dynamo does at its first graph
    if threading.active_count() > 1:
        return  # a fork would have none of the threads, but the locks that they hold
    gc.collect()
    gc.freeze()  # collections in the forks do not write to these pages, which stay shared
    requests.send(b"ready")
    selector = selectors.DefaultSelector()
    selector.register(requests, selectors.EVENT_READ)
    children: dict[int, tuple[int, int]] = {}  # by pidfd: its number, and where its end is told
    while True:
        for key, _ in selector.select():
            if key.fileobj is not requests:
                selector.unregister(key.fd)
                number, news = children.pop(key.fd)
                os.close(key.fd)
                _tell(news, os.waitstatus_to_exitcode(os.waitpid(number, 0)[1]))
                os.close(news)
                continue
            text, fds = _received(requests)
            if not text:  # pt2lint needs no more, or is gone
                for number, _ in children.values():
                    with contextlib.suppress(OSError):
                        os.killpg(number, signal.SIGKILL)
                os._exit(0)  # nothing is left to do, and to take torch down by the piece takes seconds
            results, errors, news = fds
            request = json.loads(text)
            _load(request["loads"], torch.__version__)
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # NumPy's BLAS has threads, and mends itself in a fork
                number = os.fork()
            if number == 0:
                for watched, (_, other) in children.items():
                    os.close(watched)
                    os.close(other)
                os.close(news)
                selector.close()
                requests.close()
                _become(request, results, errors, child)
            os.close(results)
            os.close(errors)
            _tell(news, number)
            watched = os.pidfd_open(number)
            children[watched] = number, news
            selector.register(watched, selectors.EVENT_READ)


def _load(names: list[str], version: str) -> None:
    """Import what the children would. Before torch 2.9 Inductor starts a process for that, and a thread, which a fork
    would not have."""
    new = [name for name in names if name not in sys.modules]
    if new and tuple(map(int, version.split(".")[:2])) >= (2, 9):
        for name in new:
            with contextlib.suppress(Exception):  # the child says so
                importlib.import_module(name)
        gc.collect()
        gc.freeze()


def _received(requests: socket.socket) -> tuple[bytes, list[int]]:
    fds = array.array("i")
    space = socket.CMSG_SPACE(FDS * fds.itemsize)
    text, extra, _, _ = requests.recvmsg(1 << 16, space, socket.MSG_CMSG_CLOEXEC)
    for _, _, data in extra:
        fds.frombytes(data)
    return text, list(fds)


def _tell(news: int, number: int) -> None:
    with contextlib.suppress(OSError):  # nobody waits for it any more
        os.write(news, b"%d\n" % number)


def _become(request: dict[str, object], results: int, errors: int, child: Callable[[str, int], None]) -> None:
    """Be the child of the request, as if started by itself; does not return."""
    try:
        os.setsid()
        os.chdir(str(request["folder"]))
        os.dup2(errors, 2)
        os.close(errors)
        environment = request["environment"]
        assert isinstance(environment, dict)
        _mark(environment[MARK])
        os.environ.update(environment)
        tempfile.tempdir = None  # to be looked up in the new environment
        child(str(request["specification"]), results)
    except BaseException as error:
        os.write(2, f"{type(error).__name__}: {error}\n".encode())
    finally:
        os._exit(1)


def _mark(mark: str) -> None:
    """Write the mark over the one that this process was started with: what the system tells of a process's environment
    is the memory that it was started with, whatever was set since."""
    getenv = ctypes.CDLL(None).getenv
    getenv.restype = ctypes.c_void_p
    ctypes.memmove(getenv(MARK.encode()), mark.encode(), len(os.environ[MARK]))
