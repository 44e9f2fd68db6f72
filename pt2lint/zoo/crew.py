"""Who does the tasks: threads of ours, or an executor of the user's, whose workers may be lost."""

from __future__ import annotations

import importlib
import importlib.util
import os
import sys
import threading
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import (
    FIRST_COMPLETED,
    BrokenExecutor,
    CancelledError,
    Future,
    ThreadPoolExecutor,
    wait,
)
from typing import Any

from pt2lint.zoo.task import Task, lost, perform

TRIES = 3  # workers that a task may lose, and executors in a row that break before one task is done


def executor_maker(name: str) -> Callable[[], Any]:
    """What `MODULE:CALLABLE` names (MODULE dotted, or a path); raises ValueError, worded for the user."""
    module_name, colon, function_name = name.rpartition(":")
    if not colon or not module_name or not function_name:
        raise ValueError(f"`{name}` is not of the form MODULE:CALLABLE")
    try:
        if module_name.endswith(".py"):
            spec = importlib.util.spec_from_file_location("pt2lint_executor", module_name)
            assert spec is not None
            assert spec.loader is not None
            module = importlib.util.module_from_spec(spec)
            sys.modules[spec.name] = module
            spec.loader.exec_module(module)
        else:
            if os.getcwd() not in sys.path:
                sys.path.insert(0, os.getcwd())
            module = importlib.import_module(module_name)
        make: Callable[[], Any] = getattr(module, function_name)
    except Exception as error:
        raise ValueError(f"`{name}` cannot be imported ({type(error).__name__}: {error})") from error
    if not callable(make):
        raise ValueError(f"`{name}` should be a function that returns an executor")
    return make


class Crew:
    """Does tasks, and those that come of their results, until none is left.

    `make` gives the executor, anything with a `submit` as concurrent.futures has it; None: `jobs` threads of ours.
    """

    def __init__(
        self,
        make: Callable[[], Any] | None,
        jobs: int,
        stop: threading.Event,
        progress: Callable[[str], None],
    ) -> None:
        self.make, self.jobs, self.stop, self.progress = make, max(1, jobs), stop, progress
        self.tries: dict[tuple[str, bool], int] = {}
        self.broken = 0
        self.lost = 0

    def do(self, tasks: Sequence[Task], ended: Callable[[Task, dict[str, Any]], Iterable[Task]]) -> None:
        """Do them all. `ended` hears of each once, in this thread, and returns what is to be done next."""
        waiting = list(tasks)
        running: dict[Future[Any], Task] = {}
        executor = self._executor()
        try:
            while waiting or running:
                while waiting:
                    try:
                        future = self._submit(executor, waiting[0])
                    except (BrokenExecutor, RuntimeError) as error:
                        if running:  # they break as well, and all is sent again
                            break
                        executor = self._renewed(executor, error)
                        continue
                    running[future] = waiting.pop(0)
                finished, _ = wait(running, timeout=1, return_when=FIRST_COMPLETED)
                breaks: BaseException | None = None
                again: list[Task] = []
                for future in finished:
                    task = running.pop(future)
                    trouble = _error(future)
                    if trouble is None:
                        self.broken = 0
                        waiting += ended(task, future.result())
                    elif isinstance(trouble, BrokenExecutor):
                        breaks = trouble
                        again.append(task)
                    else:
                        waiting += self._lost(task, trouble, ended)
                waiting = again + waiting
                if breaks is not None and not running:
                    executor = self._renewed(executor, breaks)
        except BaseException:
            self.stop.set()  # threads of ours end what they started, and then themselves
            raise
        finally:
            self._close(executor, cancel=bool(waiting or running))

    def _executor(self) -> Any:
        if self.make is None:
            return ThreadPoolExecutor(max_workers=self.jobs)
        executor = self.make()
        if not hasattr(executor, "submit"):
            raise ValueError(f"it returned {type(executor).__name__}, which has no `submit`")
        return executor

    def _submit(self, executor: Any, task: Task) -> Future[Any]:
        if self.make is None:
            return executor.submit(perform, task, self.stop, self.progress)
        return _future(executor.submit(perform, task))

    def _renewed(self, executor: Any, error: BaseException) -> Any:
        """Another executor in place of one that broke; raises where they break again and again."""
        self.broken += 1
        self.lost += 1
        self._close(executor, cancel=True)
        if self.broken > TRIES:
            said = f"{type(error).__name__}: {error}"
            raise ValueError(f"it broke {self.broken} times in a row before one target was done ({said})")
        return self._executor()

    def _lost(
        self, task: Task, error: BaseException, ended: Callable[[Task, dict[str, Any]], Iterable[Task]]
    ) -> list[Task]:
        """The task, to be done again elsewhere; what is lost again and again is given up."""
        key = (task.key, task.proving is not None)
        self.tries[key] = self.tries.get(key, 0) + 1
        self.lost += 1
        if self.tries[key] < TRIES:
            return [task]
        said = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        return [*ended(task, lost(task, f"it lost its worker {TRIES} times ({said})"))]

    def _close(self, executor: Any, cancel: bool) -> None:
        shutdown = getattr(executor, "shutdown", None)
        if shutdown is None:
            return
        try:
            shutdown(wait=self.make is None or not cancel, cancel_futures=cancel)
        except TypeError:  # of another maker, who knows no such arguments
            shutdown()
        except Exception:
            return  # it is broken


def _error(future: Future[Any]) -> BaseException | None:
    try:
        return future.exception()
    except CancelledError as error:
        return error


def _future(submitted: Any) -> Future[Any]:
    """What an executor of another kind returned (anything with `result()`), as a Future."""
    if isinstance(submitted, Future):
        return submitted
    future: Future[Any] = Future()
    future.set_running_or_notify_cancel()

    def hear() -> None:
        try:
            future.set_result(submitted.result())
        except BaseException as error:
            future.set_exception(error)

    threading.Thread(target=hear, daemon=True).start()
    return future
