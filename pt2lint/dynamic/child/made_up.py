"""Way 5: make inputs up, from annotations (jaxtyping's too), defaults, parameter names and layer sizes.

Modules are built with small sizes, and shapes searched until one runs; what was made up is said in the
target's `how`. The search first runs the code on fake tensors, which have shapes and no data: that takes no
memory and computes nothing, however large a layer is. Only what runs there is run on real ones; where nothing
does (code that reads a tensor's values stops fake ones), all is tried on real ones.
"""

from __future__ import annotations

import contextlib
import copy
import inspect
import itertools
import json
import logging
import os
import re
import select
import signal
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any

import torch
from torch._subclasses.fake_tensor import FakeTensorMode

from .inputs import import_path
from .probes import as_before
from .targets import Target, cloned, mapped

SECONDS = 20.0  # for the search of one target on fake tensors, and again on real ones
TRIES = 400
FAKE = 5  # calls that run on fake tensors, to be tried on real ones
BATCH, LENGTH, WIDTH = 2, 5, 8
# Values of required constructor arguments by name; the first pattern that fits.
NAMED = [
    (r"heads?$", 2),
    (r"(layers?|depth|blocks?)$", 2),
    (r"(vocab|num_embeddings|classes|tokens)", 16),
    (r"(kernel)", 3),
    (r"(stride|groups|dilation)", 1),
    (r"(padding|seed)", 0),
    (r"(image|img)_?size|resolution", 32),
    (r"patch", 8),
    (r"(in_channels|channels_in|in_ch)", 3),
    (r"(dropout|drop|^p$|eps|rate|prob)", 0.1),
    (r"(len|length|context|block_size|positions)", 16),
]


def targets(path: str, say: Callable[[str], None]) -> list[Target]:
    """Targets for the modules and compiled functions of a file, with inputs that were found to run."""
    module = import_path(path)
    found: list[Target] = []
    for name, value in list(vars(module).items()):
        if getattr(value, "__module__", None) != module.__name__:
            continue
        if isinstance(value, type) and issubclass(value, torch.nn.Module):
            if vars(value).get("forward", value.forward) is torch.nn.Module.forward:  # type: ignore[attr-defined]
                continue
            target = made_for_class(name, value)
        elif getattr(value, "_torchdynamo_orig_callable", None) is not None:
            target = made_for(name, value._torchdynamo_orig_callable, [], {})
        elif inspect.isfunction(value) and takes_tensors(value):
            target = made_for(name, value, [], {})
        else:
            continue
        if target is None:
            say(
                f'{name}: no inputs could be made up; run a script that calls it (--run "SCRIPT.py"), '
                "add an example_inputs() to the file, or give --inputs"
            )
        else:
            found.append(target)
    return found


def takes_tensors(function: Callable[..., Any]) -> bool:
    """Whether a plain function has a parameter that is annotated as a tensor."""
    return any("Tensor" in annotation_text(p) for p in inspect.signature(function).parameters.values())


def annotation_text(parameter: inspect.Parameter) -> str:
    annotation = parameter.annotation
    if annotation is inspect.Parameter.empty:
        return ""
    dims = getattr(annotation, "dim_str", None)  # jaxtyping: Float[Tensor, "batch width"]
    if dims is not None:
        return f'{annotation.__name__.partition("[")[0]}[Tensor, "{dims}"]'
    return annotation if isinstance(annotation, str) else getattr(annotation, "__name__", str(annotation))


def made_for_class(name: str, cls: Any) -> Target | None:
    """The class built with small sizes, and inputs that its forward takes."""
    for width in (WIDTH, 32, 3):
        try:
            arguments = constructor_arguments(cls, width, depth=0)
            with as_before():
                instance = cls(**arguments)
        except Exception:
            continue
        said = {key: value for key, value in arguments.items() if isinstance(value, (int, float))}
        target = made_for(name, instance, sizes_of(instance), said, lambda: cls(**arguments))  # noqa: B023
        if target is not None:
            return target
    return None


def constructor_arguments(cls: type, width: int, depth: int) -> dict[str, Any]:
    """Values for the arguments that a class requires. Raises TypeError where none can be made up."""
    arguments: dict[str, Any] = {}
    for name, parameter in inspect.signature(cls).parameters.items():
        if parameter.default is not parameter.empty or parameter.kind in (
            parameter.VAR_POSITIONAL,
            parameter.VAR_KEYWORD,
        ):
            continue
        arguments[name] = constructor_argument(name, parameter, cls, width, depth)
    return arguments


def constructor_argument(name: str, parameter: inspect.Parameter, cls: type, width: int, depth: int) -> Any:
    text = annotation_text(parameter)
    kind = parameter.annotation
    if isinstance(kind, str):
        kind = getattr(inspect.getmodule(cls), kind, kind)
    own = isinstance(kind, type) and kind.__module__ not in ("builtins", "typing", "inspect")
    if own and depth < 2 and not issubclass(kind, torch.nn.Module):
        return kind(**constructor_arguments(kind, width, depth + 1))
    if "bool" in text:
        return False
    if "str" in text or (text and not re.search(r"int|float|^$", text)):
        raise TypeError(f"no value for {name}: {text}")
    for pattern, value in NAMED:
        if re.search(pattern, name):
            return value
    return 0.5 if text == "float" else width


def sizes_of(module: torch.nn.Module) -> list[torch.nn.Module]:
    """The layers that say what goes in, in the order in which they were made."""
    return [layer for layer in module.modules() if not list(layer.children())]


def made_for(
    name: str,
    function: Callable[..., Any],
    layers: Iterable[torch.nn.Module],
    built: dict[str, Any],
    build: Callable[[], Callable[..., Any]] | None = None,
) -> Target | None:
    """The first inputs with which the callable runs, None if the search ends without.

    `build` makes it once more, with fake parameters, for the search on fake tensors.
    """
    call = function.forward if isinstance(function, torch.nn.Module) else function
    parameters = [
        parameter
        for parameter in inspect.signature(call).parameters.values()
        if parameter.default is parameter.empty
        and parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)
    ]
    choices = [list(candidates(parameter, list(layers))) for parameter in parameters]
    calls = []
    for values in itertools.islice(in_order(choices), TRIES):
        named = list(zip(parameters, values))  # noqa: B905 -- Python 3.9
        args = tuple(value for p, value in named if p.kind is not p.KEYWORD_ONLY)
        kwargs = {p.name: value for p, value in named if p.kind is p.KEYWORD_ONLY}
        calls.append((args, kwargs))
    untouched = function
    with contextlib.suppress(Exception):  # what a try leaves behind, a first call would not find
        untouched = copy.deepcopy(function) if isinstance(function, torch.nn.Module) else function
    for number in runnable(function, calls, build):
        args, kwargs = calls[number]
        made = dict(zip([p.name for p in parameters if p.name not in kwargs], args), **kwargs)  # noqa: B905
        said = [f"{key} {describe(value)}" for key, value in made.items()]
        said += [f"{key}={value}" for key, value in built.items()]
        how = "made-up inputs: " + (", ".join(said) or "none needed")
        return Target(name, untouched, [calls[number]], how)
    return None


def runnable(
    function: Callable[..., Any], calls: list[Any], build: Callable[[], Callable[..., Any]] | None
) -> Iterator[int]:
    """Numbers of calls that run: those that run on fake tensors first, in SECONDS at most each way."""
    first = in_a_fork(lambda: list(itertools.islice(run_fake(function, calls, build), FAKE)))
    deadline = time.monotonic() + SECONDS
    for number in dict.fromkeys([*first, *range(len(calls))]):
        if time.monotonic() > deadline:
            return
        if runs(function, cloned(calls[number])):
            yield number


def run_fake(
    function: Callable[..., Any], calls: list[Any], build: Callable[[], Callable[..., Any]] | None
) -> Iterator[int]:
    """Numbers of calls that run on fake tensors. Raises what `build` raises without data."""
    fakes = FakeTensorMode(allow_non_fake_inputs=True)
    if build is not None:
        with as_before(), fakes:
            function = build()
    deadline = time.monotonic() + SECONDS
    for number, call in enumerate(calls):
        if time.monotonic() > deadline:
            return
        if runs(function, mapped(fakes.from_tensor, cloned(call)), fakes):
            yield number


def in_a_fork(find: Callable[[], list[int]]) -> list[int]:
    """What `find` returns in a copy of this process, so that no cache of the code keeps a fake tensor; [] if it
    raises or takes too long."""
    read_end, write_end = os.pipe()
    pid = os.fork()
    if pid == 0:
        logging.disable()  # of each shape that does not fit
        with contextlib.suppress(BaseException):
            os.write(write_end, json.dumps(find()).encode())
        os._exit(0)
    os.close(write_end)
    answer = b""
    if select.select([read_end], [], [], 2 * SECONDS)[0]:
        answer = os.read(read_end, 1 << 16)
    os.close(read_end)
    os.kill(pid, signal.SIGKILL)
    os.waitpid(pid, 0)
    found: list[int] = json.loads(answer or b"[]")
    return found


def runs(function: Callable[..., Any], call: Any, mode: Any = None) -> bool:
    """Whether a call comes back, perhaps in FakeTensorMode."""
    args, kwargs = call
    try:
        with as_before(), torch.no_grad(), mode or contextlib.nullcontext():
            function(*args, **kwargs)
    except Exception:
        return False
    return True


def in_order(choices: list[list[Any]]) -> Iterator[tuple[Any, ...]]:
    """All combinations, those of the same rank in every list first: x and mask tend to share a shape."""
    if choices and all(choices):
        longest = max(len(each) for each in choices)
        for number in range(longest):
            yield tuple(each[min(number, len(each) - 1)] for each in choices)
    yield from itertools.product(*choices)


def candidates(parameter: inspect.Parameter, layers: list[torch.nn.Module]) -> Iterator[Any]:
    """Values for one parameter, likeliest first."""
    text = annotation_text(parameter)
    if text in ("int", "float", "bool"):
        yield {"int": 2, "float": 0.5, "bool": True}[text]
        return
    named = re.search(r'\["?.*?"([^"]+)"\]|\[[^,\]]+,\s*[\'"]([^\'"]+)[\'"]\]', text)
    shapes = [named_shape(named[1] or named[2])] if named else list(likely_shapes(layers))
    whole = bool(re.search(r"Int|Long|Bool", text)) or bool(
        re.search(r"(^|_)(ids?|tokens?|idx|index|indices|labels?|targets?|y)$", parameter.name)
    )
    masked = "mask" in parameter.name or "Bool" in text
    embeddings = [layer.num_embeddings for layer in layers if isinstance(layer, torch.nn.Embedding)]
    generator = torch.Generator().manual_seed(0)
    integers = [
        torch.randint(0, min([*embeddings, 4]), shape, generator=generator)
        for shape in ([*shapes] if named else [(BATCH, LENGTH), (BATCH,), (LENGTH,)])
    ]
    floats = [torch.randn(shape, generator=generator) for shape in shapes]
    if masked:
        yield from [tensor > 0 for tensor in [*integers, *floats]]
    first_layer_embeds = bool(layers) and isinstance(layers[0], torch.nn.Embedding)
    yield from [*integers, *floats] if whole or first_layer_embeds else [*floats, *integers]


def named_shape(dims: str) -> tuple[int, ...]:
    """Sizes for a jaxtyping shape: the same name gives the same size."""
    sizes = {"batch": BATCH, "b": BATCH, "n": LENGTH, "seq": LENGTH, "t": LENGTH, "length": LENGTH}
    shape: list[int] = []
    for word in dims.split():
        word = word.partition("=")[2] or word
        if word.startswith(("*", "...")):
            shape.append(BATCH)
        elif word.isdigit():
            shape.append(int(word))
        else:
            shape.append(sizes.get(word.lower(), WIDTH))
    return tuple(shape)


def likely_shapes(layers: list[torch.nn.Module]) -> Iterator[tuple[int, ...]]:
    """Shapes that the layers would take, those of the first layer first."""
    shapes: list[tuple[int, ...]] = []
    for layer in layers:
        if isinstance(layer, (torch.nn.Linear, torch.nn.LayerNorm)):
            last = layer.in_features if isinstance(layer, torch.nn.Linear) else layer.normalized_shape[-1]
            shapes += [(BATCH, last), (BATCH, LENGTH, last)]
        elif isinstance(layer, (torch.nn.Conv1d, torch.nn.Conv2d, torch.nn.Conv3d)):
            edge = {torch.nn.Conv1d: (64,), torch.nn.Conv2d: (32, 32)}.get(type(layer), (8, 16, 16))
            shapes.append((BATCH, layer.in_channels, *edge))
        elif isinstance(layer, torch.nn.RNNBase):
            shapes.append((BATCH, LENGTH, layer.input_size))
    shapes += [
        (BATCH, WIDTH),
        (BATCH, LENGTH, WIDTH),
        (BATCH, 3, 32, 32),
        (WIDTH,),
        (BATCH, 2, LENGTH, WIDTH),
        (1,),
    ]
    return iter(dict.fromkeys(shapes))


def describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    return repr(value)
