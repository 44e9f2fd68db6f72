"""The pytest plugin: the fixture `compiles`, and markers for whole tests.

Loaded in every pytest run of an environment that has pt2lint, so it imports nothing but pytest until a test asks.
"""

from __future__ import annotations

from collections.abc import Callable, Generator, Sequence
from typing import TYPE_CHECKING, Any

import pytest

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

    from pt2lint.integrations.in_process import Ear, Outcome

MARKERS = (
    "compiles_in_one_graph: fail if anything that the test compiles has a graph break",
    "pt2lint(graph_breaks=0, graphs=N, recompilations=N): fail if what the test compiles has more of these",
    'pt2lint(budget="models.Net"): the same, with what [tool.pt2lint.budget] says of that model',
)
LIMITS = ("graph_breaks", "graphs", "recompilations")


def pytest_configure(config: pytest.Config) -> None:
    for line in MARKERS:
        config.addinivalue_line("markers", line)
    # pytest rewrites the assertions of whatever comes with a plugin: seconds for all of pt2lint in a fresh environment,
    # of which no test that fails is told anything.
    marked = getattr(getattr(config.pluginmanager, "rewrite_hook", None), "_must_rewrite", None)
    if isinstance(marked, set):
        marked.discard("pt2lint")


@pytest.fixture
def compiles(request: pytest.FixtureRequest) -> Compiles:
    """Assertions on how torch.compile takes a callable."""
    return Compiles(str(request.config.rootpath), request.node.stash)


_EAR: pytest.StashKey[Any] = pytest.StashKey()


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Generator[None, Any, Any]:
    limits = _limits(item)
    if limits is None:
        return (yield)
    with _hearing(str(item.config.rootpath)) as ear:
        item.stash[_EAR] = ear
        try:
            result = yield
        except BaseException as error:
            outcome = ear.heard(error=error)
            if outcome.places:
                item.add_report_section("call", "pt2lint", outcome.text())
            raise
        finally:
            del item.stash[_EAR]
    _hold_to(limits, ear.heard(), "compiling in this test", pytrace=False)
    return result


class Compiles:
    """What the fixture `compiles` gives. A callable that torch.compile has not been told to compile yet is compiled
    with the backend "eager", which goes as far as Dynamo does.

    The methods call it, return what it returned, and fail the test with pt2lint's findings.
    """

    def __init__(self, root: str, stash: pytest.Stash) -> None:
        self._root, self._stash = root, stash

    def in_one_graph(self, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Assert that a call with these arguments compiles into one graph, without a break."""
        __tracebackhide__ = True
        return self._call(function, [(args, kwargs)], {"graph_breaks": 0, "graphs": 1})[0]

    def in_graphs(self, at_most: int, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Assert that a call with these arguments compiles into at most so many graphs."""
        __tracebackhide__ = True
        return self._call(function, [(args, kwargs)], {"graph_breaks": at_most - 1, "graphs": at_most})[0]

    def within_budget(self, name: str, function: Callable[..., Any], /, *args: Any, **kwargs: Any) -> Any:
        """Assert that a call with these arguments has no more than `[tool.pt2lint.budget]` allows the model `name`."""
        __tracebackhide__ = True
        return self._call(function, [(args, kwargs)], _budget(self._root, name))[0]

    def with_recompilations(
        self, at_most: int, function: Callable[..., Any], /, inputs: Sequence[Any]
    ) -> list[Any]:
        """Assert that calls with these inputs, one after the other, recompile at most so many times in all.

        An input is a tuple of positional arguments, a dictionary of keyword arguments, or the only argument.
        """
        __tracebackhide__ = True
        return self._call(function, [_arguments(each) for each in inputs], {"recompilations": at_most})

    def _call(
        self,
        function: Callable[..., Any],
        calls: Sequence[tuple[Sequence[Any], dict[str, Any]]],
        limits: dict[str, int],
    ) -> list[Any]:
        __tracebackhide__ = True
        ear = self._stash.get(_EAR, None)  # a marker's, which hears the whole test
        if ear is not None:
            return self._heard(ear, function, calls, limits)
        with _hearing(self._root) as ear:
            return self._heard(ear, function, calls, limits)

    @staticmethod
    def _heard(
        ear: Ear,
        function: Callable[..., Any],
        calls: Sequence[tuple[Sequence[Any], dict[str, Any]]],
        limits: dict[str, int],
    ) -> list[Any]:
        __tracebackhide__ = True
        from pt2lint.integrations.in_process import compiled, name_of, root_of

        if not calls:
            pytest.fail("there are no inputs to call it with")
        start, ended = ear.now(), None
        results = []
        try:
            ready = compiled(function)
            for args, kwargs in calls:
                results.append(ready(*args, **kwargs))
        except Exception as error:
            # With fullgraph=True a graph break is an error, and that is what the test is about.
            if not type(error).__module__.startswith("torch._dynamo"):
                raise
            ended = error
        _hold_to(limits, ear.heard(start, root_of(function), ended), f"compiling `{name_of(function)}`")
        if ended is not None:
            raise ended
        return results


def _arguments(given: Any) -> tuple[Sequence[Any], dict[str, Any]]:
    if isinstance(given, tuple):
        return given, {}
    return ((), given) if isinstance(given, dict) else ((given,), {})


def _hearing(root: str) -> AbstractContextManager[Ear]:
    try:
        import torch  # noqa: F401
    except ImportError as error:
        pytest.fail(f"pt2lint's plugin hears what torch.compile does, and torch is missing: {error}", False)
    from pt2lint.integrations.in_process import hearing

    return hearing(root)


def _limits(item: pytest.Item) -> dict[str, int] | None:
    """What the markers of a test ask for, None where it has none."""
    limits: dict[str, int] = {}
    marks = [mark for mark in item.iter_markers() if mark.name in ("compiles_in_one_graph", "pt2lint")]
    for mark in marks:
        given = dict(mark.kwargs) or {"graph_breaks": 0}
        if mark.name == "pt2lint" and isinstance(given.get("budget"), str):
            given = {**_budget(str(item.config.rootpath), given.pop("budget")), **given}
        wrong = [name for name in given if name not in LIMITS or (mark.name != "pt2lint" and mark.kwargs)]
        if mark.args or wrong or not all(type(value) is int and value >= 0 for value in given.values()):
            takes = (
                "nothing" if mark.name != "pt2lint" else ", ".join(LIMITS) + " (numbers, each by its name)"
            )
            pytest.fail(f"the marker `{mark.name}` takes {takes}", pytrace=False)
        for name, value in given.items():
            limits.setdefault(name, value)  # the marker nearest to the test comes first
    return limits if marks else None


def _budget(root: str, name: str) -> dict[str, int]:
    """What the project's settings allow a model; fails the test where they say nothing of it."""
    from pt2lint.project.config import Configs

    budgets = Configs().of(root).budget
    if name not in budgets:
        known = f", but {', '.join(sorted(budgets))}" if budgets else ""
        pytest.fail(f"[tool.pt2lint.budget] has no `{name}`{known}", pytrace=False)
    return dict(budgets[name])


def _hold_to(limits: dict[str, int], outcome: Outcome, what: str, pytrace: bool = True) -> None:
    __tracebackhide__ = True
    counts = {
        "graph_breaks": len(outcome.places),
        "graphs": outcome.graphs,
        "recompilations": outcome.recompilations,
    }
    if any(counts[name] > limits[name] for name in limits):
        got = [_counted(counts[name], name) for name in LIMITS if name in limits or counts[name]]
        wanted = [_counted(limits[name], name) for name in LIMITS if name in limits]
        told = f"{what} led to {_listed(got)}; at most {_listed(wanted)} wanted"
        pytest.fail(f"{told}\n\n{outcome.text()}".rstrip(), pytrace)
    if not outcome.graphs and not outcome.places:
        reason = "Dynamo met no operation on a tensor"
        if outcome.switched_off:
            reason = f"{outcome.switched_off} in the environment switches torch.compile off"
        pytest.fail(f"{what} led to no graph at all: {reason}", pytrace)


def _listed(items: list[str]) -> str:
    return " and ".join(", ".join(items).rsplit(", ", 1))


def _counted(count: int, name: str) -> str:
    words = name.replace("_", " ")
    return f"{count} {words[:-1] if count == 1 else words}"
