"""Way 5: make inputs up, from annotations (jaxtyping's too), defaults, parameter names and layer sizes.

Modules are built with small sizes, and shapes searched until one runs; what was made up is said in the
target's `how`. The search first runs the code on fake tensors, which have shapes and no data: that takes no
memory and computes nothing, however large a layer is. Only what runs there is run on real ones; where nothing
does (code that reads a tensor's values stops fake ones), all is tried on real ones.
"""

from __future__ import annotations

import builtins
import collections.abc
import contextlib
import copy
import dataclasses
import functools
import inspect
import itertools
import keyword
import math
import os
import re
import sys
import time
import types
import typing
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

from . import bare_arguments, call_sites, lessons, lone_group, optimizers
from .allowance import Allowance
from .built import WIDTH, Arguments, configured, of_other_resolution
from .class_code import annotation_text, listed, required, takes_arguments
from .hints import Hints, sizes
from .inputs import Lack, has_forward, import_in_part
from .placeholders import name_behind
from .probes import as_before
from .search import FURTHER, TRIES, Search
from .stand_ins import given_back
from .targets import Later, Target, cloned, compiled_of, mapped
from .trouble import Trouble, trouble_of

TOO_LONG = "the search for inputs of the others in its file took all of {:g} s: --timeout {:g} gives it more"
OFFLINE = ("HF_HUB_OFFLINE", "TRANSFORMERS_OFFLINE")
BATCH, LENGTH = 2, 5
LARGEST = 2 << 30  # bytes that a module and the search for its inputs may take
MOST_WRITTEN = 1 << 23  # parameters of what the project calls itself
MOST_BESIDES = 3  # parameters that may be left out and are given, as the errors without them say
MOST_DERIVED = 4  # classes that are tried in place of one that leaves methods to them
ABSTRACT = re.compile(r"NotImplementedError|Can't instantiate abstract class")
LONG = 40.0  # seconds of the processor after which a class is built in no further way
EDGES = (32, 64, 28, 84, 224)  # of images
MOST_NAMED = 4096  # a size that a name stands for
MOST_LATER = 12  # shapes of other sizes that are tried
WHOLE = re.compile(r"(^|_)(ids?|tokens?|idx|index|indices|labels?|targets?|y|timesteps?|steps?|t|seqs?)$")
LENGTHS = re.compile(r"(^|_)(lens?|lengths?)$")
# Given a number first; under another name that would hide what a tensor's values do.
NUMBERS = re.compile(
    r"(^|_)(dims?|axis|size|height|width|border|pad|padding|kernel|stride|groups|eps)(_|$)|^(num|n)_"
)
STATES = re.compile(r"(^|_)(h|hx|hidden|states?)($|_)")
NUMBER = re.compile(r"(?:(?:typing\.)?Optional\[)?(?P<kind>int|float|bool)\]?(?: \| None)?")
BOXES = re.compile(r"(^|_)b?box(es)?$")
PAIRS = re.compile(r"edge|adj")
IMAGE_SIZES = ("img_size", "image_size", "input_resolution", "input_size", "resolution")


def leave_the_network_alone() -> None:
    """Have no weights downloaded for modules that nobody asked to build: what is in a cache is there."""

    def refuse(url: str, *args: Any, **kwargs: Any) -> None:
        raise OSError(f"made-up inputs download nothing, and {url} is not in the cache")

    torch.hub.download_url_to_file = refuse
    for name in OFFLINE:
        os.environ.setdefault(name, "1")


# What NumPy 1.24 and 2.0 took away, and what it was.
OLD_NUMPY = {"float": float, "int": int, "object": object, "str": str, "complex": complex, "long": int}
OLD_NUMPY_NAMES = {
    "float_": "float64", "complex_": "complex128", "Inf": "inf", "infty": "inf", "NaN": "nan", "product": "prod",
    "cumproduct": "cumprod", "alltrue": "all", "sometrue": "any", "unicode_": "str_", "string_": "bytes_",
}  # fmt: skip


def give_numpy_its_old_names(tell: Callable[[str], None]) -> None:
    """Have code that was written for an older NumPy run as it did; `tell` is given a line for each name it asks for.
    Torch and other libraries, which ask what there is, are told the truth."""
    try:
        import numpy
    except ImportError:
        return
    before = numpy.__getattr__

    def known(name: str) -> Any:
        if "site-packages" in sys._getframe(1).f_code.co_filename:
            return before(name)
        if name in OLD_NUMPY:
            value = OLD_NUMPY[name]
        elif name in OLD_NUMPY_NAMES:
            value = getattr(numpy, OLD_NUMPY_NAMES[name])
        else:
            return before(name)
        setattr(numpy, name, value)
        tell(f"`numpy.{name}`, which NumPy {numpy.__version__} no longer has, is what it was")
        return value

    numpy.__getattr__ = known  # type: ignore[method-assign]


def targets(
    path: str,
    tell: Callable[[str, str, str], None],
    lack: Lack = lambda packages, left_out: None,
    given: Sequence[Any] = (),
    names: Sequence[str] = (),
    seconds: float = math.inf,
) -> list[Later]:
    """Targets for the modules of a file, its compiled functions, those of annotated tensors and those of `names`, which
    come first, with inputs that are found to run once one is made: a search without an end costs the others nothing,
    and none is begun once all before it took `seconds`. Of those for which none is found `tell` is given the name,
    what is in the way, and what a user may write; `lack` the packages that are not installed. What is `given`
    (plan.Given) is given to the functions at its lines besides, in a target of its own."""
    module = import_in_part(path, lack)
    found: list[Later] = []
    searched = Searched(seconds, tell)
    for name, value in sorted(vars(module).items(), key=lambda item: item[0] not in names):
        # A decorator may have made another class of it, in its own module.
        made_of = value.__mro__ if isinstance(value, type) else (value,)
        if all(getattr(each, "__module__", None) != module.__name__ for each in made_of):
            continue
        make: Callable[..., Target | str]
        if isinstance(value, type) and (behind := name_behind(value)):
            if hasattr(value, "forward"):
                tell(name, f"{behind}, which it is made of, is not installed", "")
            continue
        if isinstance(value, type) and issubclass(value, torch.nn.Module):
            if not has_forward(value):
                continue
            make = functools.partial(made_for_class, name, value)
        elif optimizers.is_optimizer(value):
            found += optimizers.targets(name, value, tell)
            continue
        elif getattr(value, "_torchdynamo_disable", False):
            continue  # nothing of it is ever compiled
        elif (compiled := compiled_of(value)) is not None:
            make = functools.partial(made_for_function, name, compiled)
        elif inspect.isfunction(value) and (takes_tensors(value) or name in names):
            make = functools.partial(made_for_function, name, value)
        else:
            continue
        search = functools.partial(_made_or_told, name, value, make, tell)
        found.append(Later(name, functools.partial(searched.within, name, search)))
        for besides in _for_function(getattr(value, "forward", value), given):
            named = f"{name} with {', '.join(besides)}"
            search = functools.partial(_made, named, make, besides)
            found.append(Later(named, functools.partial(searched.within, named, search)))
    return found


class Searched:
    """How long all searches of a file took: none is begun after `seconds` of them, which is told."""

    def __init__(self, seconds: float, tell: Callable[[str, str, str], None]) -> None:
        self.seconds, self.tell, self.took = seconds, tell, 0.0

    def within(self, name: str, search: Callable[[], Target | None]) -> Target | None:
        if self.took >= self.seconds:
            self.tell(name, TOO_LONG.format(self.seconds, 2 * self.seconds), "")
            return None
        start = time.monotonic()
        try:
            return search()
        finally:
            self.took += time.monotonic() - start


def _for_function(function: Any, given: Sequence[Any]) -> Iterator[dict[str, Any]]:
    """What is given to a function besides: what it has not by default, and words that it is not given first."""
    try:
        lines, first = inspect.getsourcelines(function)
        parameters = inspect.signature(function).parameters
    except (OSError, TypeError, ValueError):
        return
    seen: list[dict[str, Any]] = []
    usual = {name: next(iter(words)) for name, words in Hints(function).words.items()}
    for values, places in given:
        other = {each: value for each, value in values if _is_other(parameters.get(each), value, usual)}
        if other and other not in seen and any(first <= line < first + len(lines) for line in places):
            seen.append(other)
            yield other


def _is_other(parameter: inspect.Parameter | None, value: Any, usual: dict[str, str]) -> bool:
    """Whether a value is another than a parameter's default, or its first word where it has to be given; None stands
    for any value but None."""
    if parameter is None:
        return False
    if parameter.default is parameter.empty:
        return isinstance(value, str) and usual.get(parameter.name, value) != value
    return (
        parameter.default is None
        if value is None
        else parameter.default is not value and parameter.default != value
    )


def _made(name: str, make: Callable[..., Target | str], besides: dict[str, Any]) -> Target | None:
    """A target with what is given besides; None where that does not run, as the one without is told."""
    with of_small_size():
        made = make(also=besides)
    if not isinstance(made, Target):
        return None
    made.name = name
    return made


@contextlib.contextmanager
def of_small_size() -> Iterator[None]:
    """Within the block the process gets no more than LARGEST bytes beside what it has (on Linux): sizes that nobody
    asked for may make a module of many gigabytes."""
    try:
        import resource

        with open("/proc/self/statm", encoding="ascii") as file:
            used = int(file.read().split()[5]) * resource.getpagesize()
        soft, hard = resource.getrlimit(resource.RLIMIT_DATA)
        bounds = [each for each in (soft, hard) if each != resource.RLIM_INFINITY]
        resource.setrlimit(resource.RLIMIT_DATA, (min([used + LARGEST, *bounds]), hard))
    except (ImportError, OSError, ValueError):
        yield
        return
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_DATA, (soft, hard))


def _made_or_told(
    name: str, value: Any, make: Callable[[], Target | str], tell: Callable[[str, str, str], None]
) -> Target | None:
    try:
        with of_small_size():
            made = make()
    except (MemoryError, RuntimeError) as error:  # a second copy of it
        made = _why_not_built(error)
    if isinstance(made, Target):
        return made
    tell(name, made, _example(name, value))
    return None


def _example(name: str, value: Any) -> str:
    """What a user writes to have it called."""
    signature = inspect.signature(takes_arguments(value) if isinstance(value, type) else value)
    made = ", ".join(p.name for p in required(signature))
    called = f"{name}({made})" if isinstance(value, type) else name
    if isinstance(value, type):
        signature = inspect.signature(value.forward)  # type: ignore[attr-defined]
        _, *others = signature.parameters.values()
        signature = signature.replace(parameters=others)
    given = [p.name for p in wanted(signature)]
    return f"{called}, ({', '.join(given)}{',' if len(given) == 1 else ''})"


def wanted(signature: inspect.Signature) -> list[inspect.Parameter]:
    """What a call has to give; where all may be left out, the first, as in `forward(self, input_ids=None, ...)`."""
    first = next(iter(signature.parameters.values()), None)
    optional = first is not None and first.default is None and first.kind is not first.KEYWORD_ONLY
    return required(signature) or ([first] if first is not None and optional else [])


def takes_tensors(function: Callable[..., Any]) -> bool:
    """Whether a plain function has a parameter that is annotated as a tensor."""
    return any("Tensor" in annotation_text(p) for p in inspect.signature(function).parameters.values())


def made_for_class(name: str, cls: Any, also: dict[str, Any] | None = None) -> Target | str:
    """The class built with small sizes, and inputs that its forward takes; else what is in the way. `also` are values
    of parameters of its forward that may be left out, None for one that is to be found."""
    trouble, of_calls = "", ""
    sites = call_sites.sites_of(cls)
    if not also and (written := as_written(name, cls, sites)):
        return written
    known = known_of(cls, sites)
    tried: set[str] = set()
    allowance = Allowance(LONG)
    ways = [(width, small, known) for width, small in ((WIDTH, True), (WIDTH, False), (32, True), (3, True))]
    for width, small, given in itertools.chain(ways, _otherwise(cls, known)):
        if allowance.over():
            break
        try:
            arguments = Arguments(cls, width, small, given)
            if not arguments.configs and repr(arguments.values) in tried:
                continue
            tried.add(repr(arguments.values))
            with as_before():
                instance = arguments.build_somehow()
        except (Exception, SystemExit) as error:
            why = _why_not_built(error)
            # A missing package is what is to be told: another value does not mend that.
            trouble = why if "not installed" in why else trouble or why
            continue
        tries = FURTHER if of_calls else TRIES
        for smaller in fewer_layers(instance, arguments):
            target = made_for(name, smaller[0], smaller[1], also, FURTHER)
            if isinstance(target, Target):
                return target
        target = made_for(name, instance, arguments, also, tries)
        if isinstance(target, Trouble) and (
            arguments.fill(target.absent)
            or arguments.fill_named(target.text)
            or arguments.widen(lessons.sizes_in(target))
            or arguments.repeat(lessons.repeated_in(target))
        ):
            with contextlib.suppress(Exception, SystemExit), as_before():
                target = made_for(name, arguments.build(), arguments, also, tries)
        if isinstance(target, Target):
            return target
        of_calls = of_calls or _why_not_called(target)
    if ABSTRACT.search(of_calls or trouble):
        return as_derived(name, cls, also)
    return of_calls or trouble


def fewer_layers(
    instance: torch.nn.Module, arguments: Arguments
) -> Iterator[tuple[torch.nn.Module, Arguments]]:
    """In place of a large module, whose layers would take the time of all others, one of a few layers, with what it is
    built with."""
    if sum(each.numel() for each in instance.parameters()) <= MOST_WRITTEN:
        return
    fewer = copy.copy(arguments)
    fewer.values = {**arguments.values, **arguments.depths()}
    if fewer.values != arguments.values:
        with contextlib.suppress(Exception, SystemExit), as_before():
            made = fewer.build()
            yield made, fewer


def _otherwise(cls: Any, known: dict[str, Any]) -> Iterator[tuple[int, bool, dict[str, Any]]]:
    """Ways to build a class of what the project's files have for the names of its parameters, small at first; and for
    images of another size."""
    with contextlib.suppress(OSError, TypeError, ValueError):
        if sizes := of_other_resolution(cls):
            yield WIDTH, False, {**sizes, **known}
        if given := configured(cls):
            yield from ((WIDTH, small, {**given, **known}) for small in (True, False))


def as_derived(name: str, cls: Any, also: dict[str, Any] | None) -> Target | str:
    """A class that leaves methods to others, as one of those that derive from it and are imported with its file."""
    for each in cls.__subclasses__()[:MOST_DERIVED]:
        made = made_for_class(name, each, also)
        if isinstance(made, Target):
            made.how += f", as `{each.__name__}`, which derives from it"
            return made
    return "it leaves methods to the classes that derive from it, and none of those imported with it could be run"


def as_written(name: str, value: Any, sites: Sequence[call_sites.Site]) -> Target | None:
    """The first of the calls that the project has written out that runs, of something small."""
    for site in sites[: call_sites.MOST_SITES]:
        if not site.whole or site.call is None:
            continue
        with contextlib.suppress(Exception, SystemExit), as_before():
            made = value(**site.given) if isinstance(value, type) else value
            sizes = (each.numel() for each in made.parameters()) if isinstance(made, torch.nn.Module) else ()
            if sum(sizes) <= MOST_WRITTEN and bare_arguments.runs(made, site.call):
                return Target(name, made, [site.call], f"made-up inputs: as {site.place} calls it")
    return None


def made_for_function(
    name: str, function: Callable[..., Any], also: dict[str, Any] | None = None
) -> Target | str:
    written = None if also else as_written(name, function, call_sites.sites_of(function))
    made = written or made_for(name, function, also=also)
    return made if isinstance(made, Target) else _why_not_called(made)


def known_of(cls: Any, sites: Sequence[call_sites.Site]) -> dict[str, Any]:
    """What the project gives a class: in the first place with whose arguments it can be built, else in all."""
    for site in sites[: call_sites.MOST_SITES]:
        for small in (True, False):  # a model of the size at which it is trained may not fit
            with contextlib.suppress(Exception, SystemExit), as_before():
                Arguments(cls, WIDTH, small, site.given).build()
                return site.given
    return {key: value for site in reversed(sites) for key, value in site.given.items()}


def _why_not_built(error: BaseException) -> str:
    if isinstance(error, MemoryError) or "can't allocate memory" in str(error):
        return f"to build it takes more than {LARGEST >> 30} GiB"
    return f"to build it {trouble_of(error).told()}"


def _why_not_called(trouble: Trouble | str) -> str:
    if isinstance(trouble, str):
        return trouble
    return f"no call of it ran, the nearest {trouble.told()}" if trouble.text else "no call of it ran"


def made_for(
    name: str,
    function: Callable[..., Any],
    arguments: Arguments | None = None,
    also: dict[str, Any] | None = None,
    tries: int = TRIES,
) -> Target | Trouble | str:
    """The first inputs with which the callable runs, what is in the way if the search ends without, in words if it does
    not begin.

    `arguments` makes it once more, with fake parameters, for the search on fake tensors; `also` are parameters that
    may be left out and are given, with their values, None where one is to be found.
    """
    also = also or {}
    module = function if isinstance(function, torch.nn.Module) else None
    takes = function if module is None else module.forward
    signature = inspect.signature(takes)
    parameters = [each for each in wanted(signature) if each.name not in also]
    parameters += [
        signature.parameters.get(each) or inspect.Parameter(each, inspect.Parameter.POSITIONAL_ONLY)
        for each in also
    ]
    built = arguments.said() if arguments else {}
    shapes = list(dict.fromkeys(likely_shapes(module, built)))
    layers = [] if module is None else sizes_of(module)
    hints = Hints(takes)
    places = hints.places()
    known = functools.partial(size_by_name, module, built)
    parts = [part for each in parameters for part in parts_of(each, hints, also, takes)]
    incoming = arguments.incoming() if arguments else []
    shapes += [shape for size in incoming if (shape := (BATCH, LENGTH, size)) not in shapes]
    free = list(
        dict.fromkeys([WIDTH, *incoming, *(shape[1 if len(shape) > 3 else -1] for shape in shapes[:6])])
    )

    def call(values: Sequence[Any]) -> Any:
        whole: dict[str, Any] = {}
        for part, value in zip(parts, values):  # noqa: B905 -- Python 3.9
            part.put(value, whole)
        for part in parts:
            if part.fields and type(whole[part.parameter.name]) is dict:
                whole[part.parameter.name] = part.fields[0](**whole[part.parameter.name])
        named = [p for p in parameters if p.kind is p.KEYWORD_ONLY or p.name in also]
        by_name = {p.name: whole[p.name] for p in named if p.kind is not p.POSITIONAL_ONLY}
        return tuple(whole[p.name] for p in parameters if p.name not in by_name), by_name

    def shapes_said(part: Part) -> list[tuple[int, ...]]:
        said = hints.shapes.get(part.word or part.parameter.name, {})
        return [
            *dict.fromkeys(sizes(dims, known, each, LENGTH, BATCH, places) for dims in said for each in free)
        ]

    def values(part: Part) -> list[Any]:
        parameter = part.parameter
        if part.word is None and also.get(parameter.name) is not None:
            return [also[parameter.name]]
        if part.word is None and parameter.name in hints.called and not annotation_text(parameter):
            return [given_back]
        if part.word is None and parameter.name in hints.words and annotation_text(parameter) in ("", "str"):
            return [*hints.words[parameter.name]]
        if part.word is None and parameter.name in hints.whole and not annotation_text(parameter):
            return [4, 2, 1]
        if part.word is None and parameter.name in hints.perhaps and _may_be_dict(parameter):
            return [{}]
        shaped = shapes_said(part)
        # What nothing is said of is mostly shaped as what stands beside it: keys as queries.
        whole = [] if shaped or part.word is not None else [each for each in parts if each.word is None]
        beside = next(filter(None, map(shapes_said, whole)), [])
        likely = [*dict.fromkeys((*beside, *shapes))]
        found = [*candidates(part.alone(), layers, likely, shaped)]
        if part.word is None and parameter.name in hints.several:
            found += [[each, each] for each in found if isinstance(each, torch.Tensor)]
        of = part.alone() if part.fields else parameter
        may_be_none = re.search(r"\bNone\b|\bOptional\b", annotation_text(of)) or of.name in hints.none
        optional = of.default is not of.empty or may_be_none or (part.fields and not found)
        return [*found, *([None] if optional and parameter.name not in also else [])]

    choices = [values(part) for part in parts]
    for part, choice in zip(parts, choices):  # noqa: B905 -- Python 3.9
        if not choice:
            return f"no value for `{part.parameter}`"
    search = Search(choices, call, arguments.teach if arguments else None, tries)
    untouched = function
    with contextlib.suppress(Exception):  # what a try leaves behind, a first call would not find
        untouched = function if module is None else copy.deepcopy(function)
    for picked in search.runnable(function, arguments.build if arguments else None):
        if search.taught and arguments:
            with as_before():
                untouched = arguments.build()
        made = zip(parts, (choice[each] for choice, each in zip(choices, picked)))  # noqa: B905
        told = [f"{part} {describe(value)}" for part, value in made]
        told += [f"{key}={value}" for key, value in (arguments.said() if arguments else {}).items()]
        told += lone_group.said()
        how = "made-up inputs: " + (", ".join(told) or "none needed")
        return Target(name, untouched, [with_gradients(function, search.call(picked))], how)
    if not also and any(each.kind is each.VAR_POSITIONAL for each in signature.parameters.values()):
        # What `*args` are passed on to says how many it wants.
        if lacking := re.search(r"missing \d+ required positional arguments?: (.*)", search.trouble.text):
            named = dict.fromkeys(re.findall(r"'(\w+)'", lacking[1]))
            return made_for(name, untouched, arguments, named, tries)
        if not parameters:  # `torch.cat(inputs, -1)`
            several = made_for(name, untouched, arguments, {"first": None, "second": None}, tries)
            return search.trouble if isinstance(several, str) else several
    for each in signature.parameters.values():  # "ValueError: either labels or mask has to be given"
        left_out = each.default is None and each not in parameters
        if left_out and len(also) < MOST_BESIDES and search.trouble.is_about(each.name):
            besides = made_for(name, untouched, arguments, {**also, each.name: None}, tries)
            return search.trouble if isinstance(besides, str) else besides
    return search.trouble


def with_gradients(function: Callable[..., Any], call: Any) -> Any:
    """The call with tensors that ask for gradients, as they do in training, where nothing else asks for any: of code
    with a backward of its own something is left out without. The same where that does not run."""
    module = function if isinstance(function, torch.nn.Module) else None
    code = sys.modules.get(getattr(function, "__module__", None) or "")
    own = (
        issubclass(each, torch.autograd.Function)
        for each in vars(code or sys).values()
        if isinstance(each, type)
    )
    if not any(own) or (module is not None and any(True for _ in module.parameters())):
        return call
    asking = mapped(lambda one: one.requires_grad_() if one.is_floating_point() else one, cloned(call))
    return asking if bare_arguments.runs(function, asking, gradients=True) else call


class Part:
    """What a value is made up for: a parameter, or of one that is asked for words, by `kind`, the value of a word: in
    a dictionary, in each dictionary of a list, in an object, in a tuple that is taken apart; or one of the `fields` of
    a class, which comes first among them."""

    def __init__(
        self, parameter: inspect.Parameter, word: str | None = None, kind: str = "", fields: Any = ()
    ) -> None:
        self.parameter, self.word, self.kind, self.fields = parameter, word, kind, fields

    def __str__(self) -> str:
        form = {"dict": "{}['{}']", "list": "{}[...]['{}']", "object": "{}.{}", "tuple": "{}: {}"}.get(
            self.kind, "{}"
        )
        return form.format(self.parameter.name, self.word)

    def alone(self) -> inspect.Parameter:
        """The parameter that a function of this value alone would have."""
        if self.word is None:
            return self.parameter
        if self.fields:
            return inspect.signature(self.fields[0]).parameters[self.word]
        name = self.word if self.word.isidentifier() and not keyword.iskeyword(self.word) else "value"
        return inspect.Parameter(name, inspect.Parameter.POSITIONAL_OR_KEYWORD)

    def put(self, value: Any, whole: dict[str, Any]) -> None:
        """Add the value to what the parameters are given, by name."""
        name = self.parameter.name
        if self.word is None:
            whole[name] = value
        elif self.kind == "dict" or self.fields:
            whole.setdefault(name, {})[self.word] = value
        elif self.kind == "list":
            for each in whole.setdefault(name, [{} for _ in range(BATCH)]):
                each[self.word] = value
        elif self.kind == "tuple":
            whole[name] = (*whole.get(name, ()), value)
        else:
            setattr(whole.setdefault(name, types.SimpleNamespace()), self.word, value)


def parts_of(
    parameter: inspect.Parameter, hints: Hints, also: dict[str, Any], function: Callable[..., Any]
) -> list[Part]:
    """The parts of a parameter: itself, what it is asked for, where that is what no tensor has, or the fields of the
    class that its annotation names."""
    name, text = parameter.name, annotation_text(parameter)
    if parameter.default is parameter.empty and (fields := fields_of(parameter, function, hints)):
        return [Part(parameter, word, "object", fields) for word in fields[1:]]
    if parameter.default is parameter.empty and name not in hints.called and name not in also:
        ways = {"list": hints.each, "dict": hints.asked, "object": hints.attributes, "tuple": hints.items}
        for kind, asked in ways.items():
            fits = not text or kind in text.lower() or (kind == "object" and _is_of_project(text))
            if name in asked and fits:
                words = [word for word in asked[name] if word not in hints.perhaps.get(name, ())]
                if words:
                    return [Part(parameter, word, kind) for word in words]
    return [Part(parameter)]


def _is_of_project(text: str) -> bool:
    """Whether an annotation is the name of a class that neither torch nor Python has: `NestedTensor`."""
    known = (torch, builtins, typing, collections.abc)
    return text.isidentifier() and not any(hasattr(each, text) for each in known)


def _may_be_dict(parameter: inspect.Parameter) -> bool:
    return re.search(r"(?i)^$|\bdict\b|\bMapping\b", annotation_text(parameter)) is not None


def fields_of(parameter: inspect.Parameter, function: Callable[..., Any], hints: Hints) -> list[Any]:
    """The first dataclass or named tuple of an annotation, with its fields that have to be given, or are asked for."""
    kind, known = parameter.annotation, getattr(function, "__globals__", {})
    if isinstance(kind, str):
        kinds = [known.get(each) for each in re.findall(r"\w+", kind)]
    else:
        kinds = [kind, *typing.get_args(kind)]
    for each in kinds:
        if not isinstance(each, type) or name_behind(each):
            continue
        if dataclasses.is_dataclass(each) or hasattr(each, "_fields"):
            asked = hints.attributes.get(parameter.name, {})
            fields = inspect.signature(each).parameters.values()
            return [each, *(p.name for p in fields if p.default is p.empty or p.name in asked)]
    return []


def size_by_name(module: torch.nn.Module | None, built: dict[str, Any], name: str) -> int | None:
    """The number that a module, or what it was built with, has for a name: for `nvars` also that of `n_vars`."""
    said = {**{k: v for each in built.values() if isinstance(each, dict) for k, v in each.items()}, **built}
    kept = {} if module is None else vars(module)
    alike = [each for each in (*kept, *said) if each.replace("_", "") == name.lower().replace("_", "")]
    for each in (name, name.lower(), *alike):
        for value in (getattr(module, each, None), said.get(each)):
            if type(value) is int and 0 < value <= MOST_NAMED:
                return value
    return None


def sizes_of(module: torch.nn.Module) -> list[torch.nn.Module]:
    """The layers that say what goes in, in the order in which they were made."""
    return [layer for layer in module.modules() if not list(layer.children())]


def candidates(
    parameter: inspect.Parameter,
    layers: Sequence[torch.nn.Module],
    likely: Sequence[tuple[int, ...]],
    said: Sequence[tuple[int, ...]] = (),
) -> Iterator[Any]:
    """Values for one parameter, likeliest first; `said` are the shapes that the function's text says of it."""
    text, name = annotation_text(parameter), parameter.name
    if words := listed(text):
        yield words[0]
        return
    text = re.sub(
        r"^(int|float|bool)(?=\[)", lambda kind: f"{kind[0].capitalize()}Tensor", text
    )  # int["b n"]
    if number := NUMBER.fullmatch(text):
        yield from {"int": (2, 1, 4), "float": (0.5, 2.0), "bool": (True, False)}[number["kind"]]
        return
    lists = re.fullmatch(
        r"(?i)(?:typing\.)?(list|sequence|iterable|tuple)\[(torch\.)?Tensor(, ?\.\.\.)?\]", text
    )
    if lists:
        for value in candidates(parameter.replace(annotation=torch.Tensor), layers, likely, said):
            yield (value, value) if lists[1].lower() == "tuple" else [value, value]
        return
    if name in ("device", "dtype") or text in ("torch.device", "torch.dtype"):
        yield torch.float32 if "dtype" in (name, text.rpartition(".")[2]) else torch.device("cpu")
        return
    if text and "tensor" not in text.lower() and not re.search(r"Any|TypeVar|ndarray", text):
        # A tensor in its place may run, and shows nothing of what its own values do.
        if re.search(r"(?i)(tuple|list|sequence)\[int", text):
            yield from ((size,) * max(2, text.count("int")) for size in (2, 4, 1))
        return
    named = re.search(r'\["?.*?"([^"]+)"\]|\[[^,\]]+,\s*[\'"]([^\'"]+)[\'"]\]', text)
    ranks = {len(shape) for shape in said}
    shapes = [*said, *sorted(likely, key=lambda shape: len(shape) not in ranks)]
    if named:
        shapes = [named_shape(named[1] or named[2])]
    masked = "mask" in name or "Bool" in text
    embeddings = [layer.num_embeddings for layer in layers if isinstance(layer, torch.nn.Embedding)]
    generator = torch.Generator().manual_seed(0)
    usual = [(BATCH, LENGTH), (BATCH,), (LENGTH,), (BATCH, 1), (2, LENGTH)]
    whole_shapes = [*shapes] if named else [*said, *usual]
    integers = [torch.randint(0, min([*embeddings, 4]), shape, generator=generator) for shape in whole_shapes]
    draw = torch.randn
    if BOXES.search(name):
        shapes, draw = [*((*shape[:-1], 4) for shape in shapes if shape), *shapes], torch.rand
    floats = [draw(shape, generator=generator) for shape in shapes]
    if LENGTHS.search(name):  # any other number may be none of a length, and shows what is done without one
        yield from (torch.full(shape, LENGTH) for shape in dict.fromkeys([*said, (BATCH,), (BATCH, 1)]))
        if not text:
            yield LENGTH
        return
    if PAIRS.search(name) and not named:
        yield integers.pop()
        if "adj" in name:
            yield from (torch.ones(BATCH, BATCH), torch.ones(BATCH, LENGTH, LENGTH))
    if STATES.search(name):
        states = [state for layer in layers for state in states_of(layer)]
        yield from (*states, *([states] if len(states) > 1 else []))
    if masked:
        masks = [tensor > 0 for tensor in [*integers, *floats]]
        pairs = [torch.ones(shape) > 0 for shape in ((BATCH, 1, LENGTH, LENGTH), (LENGTH, LENGTH))]
        rows = [torch.ones(BATCH, 1, shape[-1]) > 0 for shape in [*likely][:2] if len(shape) == 3]
        yield from [*masks[:1], *pairs, *rows, *masks[1:]]
    if not text and NUMBERS.search(name):
        yield from (2, 0.5)
    whole = bool(re.search(r"Int|Long|Bool", text) or WHOLE.search(name))
    first_layer_embeds = bool(layers) and isinstance(layers[0], torch.nn.Embedding)
    yield from [*integers, *floats] if whole or first_layer_embeds else [*floats, *integers]


def states_of(layer: torch.nn.Module) -> Iterator[Any]:
    """What a recurrent layer takes as its state."""
    if isinstance(layer, torch.nn.RNNCellBase):
        state, pair = torch.zeros(BATCH, layer.hidden_size), isinstance(layer, torch.nn.LSTMCell)
    elif isinstance(layer, torch.nn.RNNBase):
        number = layer.num_layers * (1 + layer.bidirectional)
        state, pair = torch.zeros(number, BATCH, layer.hidden_size), isinstance(layer, torch.nn.LSTM)
    else:
        return
    yield (state, state) if pair else state


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


def likely_shapes(module: torch.nn.Module | None, built: dict[str, Any]) -> Iterator[tuple[int, ...]]:
    """Shapes that the layers would take, those of the first layer first; `built` is what the module was built with."""
    said = {
        key: value
        for each in (built, *built.values())
        if isinstance(each, dict)
        for key, value in each.items()
    }
    lengths = [LENGTH, *(v for k, v in said.items() if type(v) is int and LENGTHS.search(k) and 0 < v < 4096)]
    lengths += dict.fromkeys(pixels(module))
    later: list[tuple[int, ...]] = []
    for layer in () if module is None else sizes_of(module):
        if isinstance(layer, (torch.nn.Linear, torch.nn.LayerNorm)):
            last = layer.in_features if isinstance(layer, torch.nn.Linear) else layer.normalized_shape[-1]
            yield BATCH, last
            yield from ((BATCH, length, last) for length in lengths)
        elif isinstance(layer, torch.nn.Conv1d):
            yield BATCH, layer.in_channels, 64
            later += [(BATCH, length, layer.in_channels) for length in lengths]
        elif isinstance(layer, torch.nn.Conv2d):
            sizes = dict.fromkeys([*image_sizes(module), *EDGES])
            yield from ((BATCH, layer.in_channels, edge, edge) for edge in [*sizes][:1])
            later += [(BATCH, layer.in_channels, edge, edge) for edge in [*sizes][1:]]
        elif isinstance(layer, torch.nn.Conv3d):
            yield BATCH, layer.in_channels, 8, 16, 16
        elif isinstance(layer, torch.nn.RNNCellBase):
            yield BATCH, layer.input_size
        elif isinstance(layer, torch.nn.RNNBase):
            yield from ((BATCH, length, layer.input_size) for length in lengths)
            if not layer.batch_first:  # beside a state of a batch
                yield LENGTH, BATCH, layer.input_size
    yield from later[:MOST_LATER]
    yield from (
        (BATCH, WIDTH),
        (BATCH, LENGTH, WIDTH),
        (BATCH, 3, 32, 32),
        (WIDTH,),
        (BATCH, 2, LENGTH, WIDTH),
        (1,),
        (BATCH,),
        (BATCH, LENGTH),
    )
    yield from ((BATCH, 3, 64), (BATCH, 64, 3), (BATCH, WIDTH, 4, 8, 8))


def pixels(module: torch.nn.Module | None) -> Iterator[int]:
    """How many pixels or patches the grids have that the module or a part of it has written down."""
    for part in () if module is None else module.modules():
        for value in vars(part).values():
            if isinstance(value, tuple) and len(value) == 2 and all(type(each) is int for each in value):
                if 16 <= value[0] * value[1] <= 4096:
                    yield value[0] * value[1]


def image_sizes(module: torch.nn.Module | None) -> Iterator[int]:
    """The sizes of images that the module or a part of it has written down."""
    for part in () if module is None else module.modules():
        for name in IMAGE_SIZES:
            size = getattr(part, name, None)
            size = size[0] if isinstance(size, (tuple, list)) and size else size
            if type(size) is int and 4 <= size <= 1024:
                yield size


def describe(value: Any) -> str:
    if isinstance(value, torch.Tensor):
        return f"{str(value.dtype).rpartition('.')[2]}{list(value.shape)}"
    if isinstance(value, (tuple, list)) and any(isinstance(each, torch.Tensor) for each in value):
        told = ", ".join(map(describe, value))
        return f"({told})" if isinstance(value, tuple) else f"[{told}]"
    return "a function that gives back what it is given" if value is given_back else repr(value)
