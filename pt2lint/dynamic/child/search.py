"""The search for arguments with which a callable runs: on fake tensors first, in a copy of the process."""

from __future__ import annotations

import contextlib
import faulthandler
import itertools
import json
import logging
import math
import os
import re
import select
import signal
import time
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode
from torch.overrides import TorchFunctionMode

from . import lessons, lone_group
from .allowance import WAITING, Allowance
from .probes import as_before
from .targets import cloned, mapped
from .trouble import Trouble, trouble_of

SECONDS = 20.0  # of the processor for the search of one target on fake tensors, and again on real ones
TRIES, FURTHER = (
    400,
    120,
)  # calls that are tried; the same where a search of the class built otherwise found none
IDLE = 6.0  # that a copy may wait for something without working
FAKE = 5  # calls that run on fake tensors as far as they can, to be tried on real ones
ROUNDS = 2  # of all parameters, one after another
LESSONS = 6  # times that shapes are taken of errors, as long as that leads further
NEAREST = 6  # calls of whose errors they are taken
# What fake tensors say where code asks for what they have not: values.
_NEEDS_DATA = re.compile(
    r"(?i)fake|meta|subclass|data.?dependent|DynamicOutputShape|unbacked|Cannot access data|_local_scalar_dense|numpy"
)

UNIT = "between zero and one"  # in place of a dtype: float32, of these values

Picked = tuple  # the number of the value that each parameter is given
Shape = tuple  # of numbers; of a list of tensors, of shapes


class Progress(TorchFunctionMode):
    """How many functions of torch a call began and ended: one that raises counts less than one that returns."""

    reached = 0

    def __torch_function__(self, function: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        self.reached += 1
        result = function(*args, **(kwargs or {}))
        self.reached += 1
        return result


class Search:
    """One search. `choices` are the values that each parameter may have, the likeliest first; `arguments` makes a call
    of some; `teach` gives what the callable holds what an error says that it lacks, and says whether it could, which
    `taught` keeps. What went wrong in the try that came furthest is kept in `trouble`; `learned` are the values
    that errors asked for: the number of each, by the place of its parameter, its shape and dtype (or UNIT), a list of
    tensors by their shapes."""

    def __init__(
        self,
        choices: Sequence[list[Any]],
        arguments: Callable[[Sequence[Any]], Any],
        teach: Callable[[BaseException], bool] | None = None,
        tries: int = TRIES,
    ) -> None:
        self.choices, self.arguments, self.teach, self.tries = choices, arguments, teach, tries
        self.taught, self.differentiates = False, False
        self.trouble = Trouble()
        self.furthest = (-1, 0, 0)
        self.learned: dict[tuple[int, Shape, str], int] = {}

    def call(self, picked: Picked) -> Any:
        return self.arguments([values[each] for values, each in zip(self.choices, picked)])  # noqa: B905

    def runnable(
        self, function: Callable[..., Any], build: Callable[[], Callable[..., Any]] | None
    ) -> Iterator[Picked]:
        """The calls that run: those that run on fake tensors first, in SECONDS at most each way. `build` makes the
        callable once more, with fake parameters."""
        told = in_a_fork(lambda: self._on_fakes(function, build))
        if not told["values"]:
            yield from self._that_run(function, told)
            if not told["found"]:
                return
        self._learn_again(told)
        found = [*map(tuple, told["found"])]  # it wants values, or others than what runs on fake tensors
        yield from self._that_run(
            function, in_a_fork(lambda: self._picks(self._on_real_ones(function, found), 1))
        )

    def _that_run(self, function: Callable[..., Any], told: dict[str, Any]) -> Iterator[Picked]:
        self._learn_again(told)
        self.trouble = Trouble(*told["trouble"])
        for picked in map(tuple, told["found"]):
            error = self.runs(function, picked)
            if error is None:
                yield picked
            else:  # another one than in the copy
                self.trouble = trouble_of(error)

    def _learn_again(self, told: dict[str, Any]) -> None:
        for place, shape, dtype in told.get("learned", ()):
            self._learn(place, _as_shape(shape), dtype)

    def _on_real_ones(self, function: Callable[..., Any], first: list[Picked]) -> Iterator[Picked]:
        yield from (each for each in first if self.runs(function, each) is None)
        yield from self._tries(lambda picked: self.runs(function, picked))

    def _picks(self, tries: Iterator[Picked], most: int) -> dict[str, Any]:
        found = [*itertools.islice(tries, most)]
        return {"found": found, "values": False, "trouble": self.trouble, "learned": [*self.learned]}

    def _on_fakes(
        self, function: Callable[..., Any], build: Callable[[], Callable[..., Any]] | None
    ) -> dict[str, Any]:
        """What runs on fake tensors, or wants values, whether one does, and what the try that came furthest raised."""
        fakes = FakeTensorMode(allow_non_fake_inputs=True)
        if build is not None:
            with as_before(), fakes:
                function = build()
        wanted: list[bool] = []

        def run(picked: Picked) -> BaseException | None:
            error = self.runs(function, picked, fakes)
            wanted.append(error is not None and bool(_NEEDS_DATA.search(f"{type(error).__name__} {error}")))
            # Where it wants values, real tensors tell: what needs none may not be what is meant (a mask of numbers).
            return None if wanted[-1] else error

        told = self._picks(self._tries(run), FAKE)
        return {**told, "values": any(wanted)}

    def _tries(self, run: Callable[[Picked], BaseException | None]) -> Iterator[Picked]:
        """Of the calls tried those that run: values of the same rank first, as x and mask tend to share a shape; then
        each parameter for itself, from the call that came furthest, and what the errors ask for."""
        allowance = Allowance(SECONDS)
        known: dict[Picked, tuple[int, int, int]] = {}
        errors: dict[Picked, Trouble] = {}

        def fits(picked: Picked) -> bool:
            if picked in known or len(known) >= self.tries or allowance.over():
                return False
            progress = Progress()
            with progress:
                error = run(picked)
            errors[picked] = Trouble() if error is None else trouble_of(error)
            known[picked] = (progress.reached, *lessons.nearness(errors[picked]))
            if error is not None and known[picked] > self.furthest:
                self.furthest, self.trouble = known[picked], errors[picked]
            return error is None

        def as_errors_say() -> Iterator[Picked]:
            for _ in range(LESSONS):
                nearest: dict[tuple[int, ...], Picked] = {}  # of those whose tensors have as many dimensions
                for picked in sorted(known, key=lambda each: known[each], reverse=True):
                    nearest.setdefault(self._ranks(picked), picked)
                further = False
                for best in [*nearest.values()][:NEAREST]:
                    for each in self._mended(best, errors[best]):
                        new = each not in known
                        if fits(each):
                            yield each
                        further |= new and known.get(each, known[best]) > known[best]
                if not further:
                    return

        if not all(self.choices):
            return
        longest = max((len(each) for each in self.choices), default=1)
        for number in range(longest):
            picked = tuple(min(number, len(each) - 1) for each in self.choices)
            if fits(picked):
                yield picked
        for _ in range(ROUNDS):
            for place, values in enumerate(self.choices):
                best = max(known, key=lambda each: known[each])
                for number in range(len(values)):
                    picked = (*best[:place], number, *best[place + 1 :])
                    if fits(picked):
                        yield picked
            yield from as_errors_say()
        for picked in itertools.product(*(range(len(values)) for values in self.choices)):
            if len(known) >= self.tries or allowance.over():
                return
            if fits(picked):
                yield picked

    def _ranks(self, picked: Picked) -> tuple[int, ...]:
        values = [values[each] for values, each in zip(self.choices, picked)]  # noqa: B905
        return tuple(value.dim() if isinstance(value, torch.Tensor) else -1 for value in values)

    def _mended(self, picked: Picked, error: Trouble) -> Iterator[Picked]:
        """The call with one of its tensors, or all of a shape, as an error asks for it."""
        tensors = {
            place: value
            for place, each in enumerate(picked)
            if isinstance(value := self.choices[place][each], torch.Tensor)
        }
        if dtype := lessons.dtype_in(error.text):
            for place, value in tensors.items():
                if str(value.dtype) != f"torch.{dtype}":
                    yield (
                        *picked[:place],
                        self._learn(place, tuple(value.shape), dtype),
                        *picked[place + 1 :],
                    )
        if lessons.asks_for_values(error.text):
            drawn = {at: self._learn(at, tuple(value.shape), UNIT) for at, value in tensors.items()}
            floats = {at: number for at, number in drawn.items() if tensors[at].is_floating_point()}
            for numbers in (floats, drawn, *({at: number} for at, number in drawn.items())):
                yield tuple(numbers.get(at, each) for at, each in enumerate(picked))
        for place, each in enumerate(picked):
            for shapes, named in self._mended_list(self.choices[place][each], error):
                yield (*picked[:place], self._learn(place, shapes, named), *picked[place + 1 :])
        for shape in dict.fromkeys(tuple(value.shape) for value in tensors.values()):
            alike = [place for place, value in tensors.items() if tuple(value.shape) == shape]
            for wanted in lessons.mended(shape, error):
                numbers = {
                    place: self._learn(place, wanted, str(tensors[place].dtype).rpartition(".")[2])
                    for place in alike
                }
                yield from ((*picked[:place], numbers[place], *picked[place + 1 :]) for place in alike)
                yield tuple(numbers.get(place, each) for place, each in enumerate(picked))
                if spread := self._spread(picked, tensors, shape, wanted):
                    yield spread

    def _spread(
        self,
        picked: Picked,
        tensors: dict[int, torch.Tensor],
        shape: tuple[int, ...],
        wanted: tuple[int, ...],
    ) -> Picked | None:
        """The call in which what makes one shape of another is done to all tensors that have this size, or, for one
        more dimension, as many dimensions: a length, a number of rows. None where it is another change."""
        at = next((n for n, (a, b) in enumerate(zip(shape, wanted)) if a != b), len(shape))  # noqa: B905
        more = len(wanted) - len(shape)
        if more not in (0, 1) or wanted[at + 1 :] != shape[at + 1 - more :]:
            return None
        numbers = [*picked]
        for place, value in tensors.items():
            of = tuple(value.shape)
            if len(of) == len(shape) if more else of[at : at + 1] == shape[at : at + 1]:
                other = (*of[:at], wanted[at], *of[at + 1 - more :])
                numbers[place] = self._learn(place, other, str(value.dtype).rpartition(".")[2])
        return tuple(numbers)

    def _mended_list(self, value: Any, error: Trouble) -> Iterator[tuple[Shape, str]]:
        """A list of tensors as an error asks for it, in shapes and their dtype: as many as are wanted, or one of them
        of another shape."""
        if not isinstance(value, (list, tuple)) or not value or not all(map(torch.is_tensor, value)):
            return
        shapes, dtype = [tuple(each.shape) for each in value], str(value[0].dtype).rpartition(".")[2]
        if many := lessons.many_in(error, len(value)):
            yield tuple(shapes[0] for _ in range(many)), dtype
        if (wanted := lessons.dtype_in(error.text)) and wanted != dtype:
            yield tuple(shapes), wanted
        for at, shape in enumerate(shapes):
            for other in lessons.mended(shape, error):
                yield (*shapes[:at], other, *shapes[at + 1 :]), dtype

    def _learn(self, place: int, shape: Shape, dtype: str) -> int:
        """The number of a parameter's value of this shape and dtype, which it has from now on."""
        key = (place, shape, dtype)
        if key not in self.learned:
            several = bool(shape) and isinstance(shape[0], tuple)
            made = [_drawn(each, dtype) for each in (shape if several else [shape])]
            as_tuple = any(isinstance(each, tuple) for each in self.choices[place])
            self.learned[key] = len(self.choices[place])
            self.choices[place].append((tuple(made) if as_tuple else made) if several else made[0])
        return self.learned[key]

    def runs(self, function: Callable[..., Any], picked: Picked, fakes: Any = None) -> BaseException | None:
        """What a call raises, perhaps on fake tensors; None where it comes back."""
        try:
            args, kwargs = cloned(self.call(picked))
            if fakes is not None:
                args, kwargs = mapped(fakes.from_tensor, args), mapped(fakes.from_tensor, kwargs)
            with as_before(), torch.set_grad_enabled(self.differentiates), fakes or contextlib.nullcontext():
                function(*args, **kwargs)
        except (Exception, SystemExit) as error:
            if not self.differentiates and "does not require grad" in str(
                error
            ):  # forces, as the slope of an energy
                self.differentiates = True
                return self.runs(function, picked, fakes)
            if lone_group.made_for(error):
                return self.runs(function, picked, fakes)
            if self.teach is None or not self.teach(error):
                return error
        else:
            return None
        self.taught = True
        return self.runs(function, picked, fakes)


def _as_shape(told: Any) -> Shape:
    """A shape, or shapes, that came as JSON."""
    return tuple(_as_shape(each) if isinstance(each, list) else each for each in told)


def _drawn(shape: tuple[int, ...], name: str) -> torch.Tensor:
    generator = torch.Generator().manual_seed(0)
    if name == UNIT:
        return torch.rand(shape, generator=generator)
    dtype = getattr(torch, name)
    if dtype.is_floating_point or dtype.is_complex:
        return torch.randn(shape, generator=generator).to(dtype)
    return torch.randint(0, 2, shape, generator=generator).to(dtype)


def _limit_processor(seconds: float) -> None:
    """Have the system end this process once it has worked so long, also in a call that never returns."""
    import resource

    with contextlib.suppress(ValueError, OSError):  # a lower limit holds already
        hard = resource.getrlimit(resource.RLIMIT_CPU)[1]
        resource.setrlimit(resource.RLIMIT_CPU, (math.ceil(seconds), hard))


def in_a_fork(find: Callable[[], dict[str, Any]]) -> dict[str, Any]:
    """What `find` returns in a copy of this process, so that no cache of the code keeps a fake tensor, and what ends
    the copy does not end this one; where it raises, or takes too long, that nothing was found without values."""
    nothing: dict[str, Any] = {"found": [], "values": True, "trouble": []}
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        copy = os.getpid()
        logging.disable()  # of each shape that does not fit
        faulthandler.disable()
        torch.set_num_threads(1)  # a copy has none of the threads that it would wait for
        told = nothing
        with contextlib.suppress(BaseException):
            _limit_processor(2 * SECONDS)
            told = find()
        with contextlib.suppress(BaseException):
            if os.getpid() == copy:  # the code may fork
                os.write(write_end, json.dumps(told).encode())
        os._exit(0)
    os.close(write_end)
    answered = _answer(pid, read_end)
    answer = os.read(read_end, 1 << 16) if answered else b""
    os.close(read_end)
    os.kill(pid, signal.SIGKILL)
    _, status = os.waitpid(pid, 0)
    if answer:
        return dict(json.loads(answer))
    ended_by = os.WTERMSIG(status) if os.WIFSIGNALED(status) else None
    if not answered or ended_by == signal.SIGXCPU:
        trouble = "did not come back"
    else:
        trouble = f"was ended by {signal.Signals(ended_by).name}" if ended_by else "ended the process"
    return {**nothing, "values": False, "trouble": [trouble]}


def _answer(pid: int, pipe: int) -> bool:
    """Whether the copy answers, or ends; False where it waits for something instead, or is too slow."""
    latest = time.monotonic() + (WAITING + 1) * SECONDS
    worked, since = "", time.monotonic()
    while not select.select([pipe], [], [], 0.5)[0]:
        now, state = time.monotonic(), _state(pid)
        if not state.startswith("S ") or state != worked:
            worked, since = state, now
        if now > latest or now - since > IDLE:
            return False
    return True


def _state(pid: int) -> str:
    """Whether a process works or sleeps, and how long it worked; "" where the system does not tell."""
    try:
        with open(f"/proc/{pid}/stat", encoding="ascii", errors="replace") as file:
            words = file.read().rpartition(")")[2].split()
    except OSError:
        return ""
    return " ".join([words[0], *words[11:13]])
