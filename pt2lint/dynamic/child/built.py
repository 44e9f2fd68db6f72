"""Arguments for the constructors of modules: small sizes by names and annotations, and stand-ins for configurations.

What the code asks of a configuration it is given when it asks: the value that the project has for this name (defaults
of its command line, its JSON and YAML files, dictionaries beside the module), else a small one.
"""

from __future__ import annotations

import argparse
import ast
import contextlib
import dataclasses
import enum
import functools
import inspect
import re
import types
from collections.abc import Iterator, Mapping
from typing import Any

import torch

from . import lone_group
from .allowance import Allowance
from .asserted import sizes_asserted
from .class_code import (
    annotation_text,
    asserted_class,
    called_in,
    class_for,
    configuration_for,
    listed,
    maybe_none,
    members_of,
    required,
    results_of,
    tables_of,
    takes_arguments,
    tree_of,
    uses_of,
    words_of,
)
from .placeholders import name_behind
from .project_values import project_values
from .stand_ins import Identity, Layer, Namespace, Passed, given_back
from .trouble import trouble_of

WIDTH = 8
MOST_ASKED = 100  # names that a constructor may ask of configurations
MOST_CHANGED = 3  # of them together
MOST_OTHERS = 8  # values that are tried where a class cannot be built with those that it was given
SECONDS = 3.0  # of the processor that these tries take
IMAGES = re.compile(r"(image|img)_?size|resolution")
EDGE = 56  # of an image where one of 32 does not do
MAKES = re.compile(r"(^|_)(fn|func|function|factory|builder|create|make|build|net|layer)(_|$)")
INCOMING = re.compile(r"(in|inputs?|feat\w*|d|n)_?(dim|size|features?|mels|feats?|in)$|idim$")
DEPTH = re.compile(r"(layers?|depth|blocks?|block_num)$")
# Values of required constructor arguments by name; the first pattern that fits.
NAMED: list[tuple[str, Any]] = [
    (r"head_dim|dim_head|head_size|d_head", 4),
    (r"heads?$", 2),
    (r"top_?k$|_per_tok(en)?$", 2),
    (DEPTH.pattern, 2),
    # Each doubles the channels in many a network.
    (
        r"(pools?|downs?|levels?|stages?|scales?|stacks?|cascades?|flows?|iters?|iterations?|hops?|repeats?)$",
        2,
    ),
    (r"(vocab|num_embeddings|classes|tokens)", 16),
    (r"shared", 1),
    (r"(kernel)", 3),
    (r"(stride|groups|dilation|multiple|divisor)", 1),
    (r"(padding|seed)", 0),
    (IMAGES.pattern, 32),
    (r"patch", 8),
    (r"(in_channels|channels_in|in_ch)", 3),
    (r"^(?!n_|num|dim)(\w+_)?act(ivation)?(_?(fn|func|function|type))?$", "relu"),
    (r"(up|down)_?sampl\w*_(rates?|ratios?|factors?)$", 2),
    (r"sample_rate|sampling_rate", 16),
    (r"dropout|(^|_)(drop|p|eps|epsilon|rate|probs?|probability)($|_)", 0.1),
    (r"(len|length|context|block_size|positions)", 16),
]
# Usual words by name, and numbers that are tried where an error names the argument ("depth should be 6n+4").
WORDS = [("padding_mode", "zeros"), ("act", "relu"), ("reduction", "mean")]
NUMBERS = (10, 1, 3, 4, 12, 20)
# What only says what a thing is called, and not where something is kept.
LABEL = re.compile(r"^(?!.*(file|path|dir|log|save|out|cache|model|data))(\w+_)?(name|prefix|key|tag)$")
MODULE = re.compile(  # names of parameters that take a module
    r"^(fn|func|function|module|net|network|model|backbone|encoder|decoder|extractor|attention|attn|sublayer)$"
)
CONFIGURATION = re.compile(
    r"^(configs?|cfg|conf|args?|opts?|options|hparams|hps|hp|h|params|dims|model_args)$"
)


class Arguments:
    """What a class is built with at a width; `configs` are the stand-ins among it, which learn what they are asked;
    `known` is what the project gives it; `behind` the classes of configurations that cannot be made, as a package is
    missing that they are made of."""

    def __init__(self, cls: Any, width: int, small: bool, known: Mapping[str, Any] | None = None) -> None:
        self.cls, self.width, self.small, self.known = cls, width, small, known or {}
        self.configs: list[Any] = []
        self.behind: list[Any] = []
        self.values = self.of(cls, 0)

    def of(self, cls: Any, depth: int) -> dict[str, Any]:
        """Values for the arguments that a class requires. Raises TypeError where none can be made up."""
        arguments: dict[str, Any] = {}
        cls = takes_arguments(cls)
        uses = uses_of(cls)
        for name, parameter in inspect.signature(cls).parameters.items():
            if parameter.kind in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD):
                continue
            if parameter.default is parameter.empty and not depth and name in self.known:
                given = self.known[name]
                if self.small:
                    given = fitted(name, given, self.width)
                elif isinstance(given, dict):
                    given = dict(given)
                if isinstance(given, dict):  # of which some may not be written out
                    self.configs.append(given)
                arguments[name] = given
            elif parameter.default is parameter.empty:
                arguments[name] = self._value(name, parameter, cls, depth, uses.get(name))
            elif depth and self.small:
                default = parameter.default
                if default is None and annotation_text(parameter) == "int":
                    default = -1
                value = smaller(name, default, self.width)
                arguments.update({} if value is parameter.default else {name: value})
        return arguments

    def _value(self, name: str, parameter: inspect.Parameter, cls: Any, depth: int, use: Any) -> Any:
        text = annotation_text(parameter)
        if words := listed(text):
            return words[0]
        kind = parameter.annotation
        if isinstance(kind, str):  # `from __future__ import annotations`
            with contextlib.suppress(AttributeError):
                kind = functools.reduce(getattr, kind.split("."), inspect.getmodule(cls))
        if name_behind(kind):
            self.behind, kind = [*self.behind, kind], parameter.empty
        if re.fullmatch(r"(torch\.)?(FloatTensor|Tensor|tensor)", text) or use is torch.Tensor:
            return torch.ones(self.width, self.width)
        if whole := re.fullmatch(r"(torch\.)?(Bool|Long|Int)Tensor", text):
            return torch.ones(self.width, self.width, dtype=torch.bool if whole[2] == "Bool" else torch.int64)
        if isinstance(use, str) and re.search(r"^$|\bstr\b", text):
            return use
        if made := re.fullmatch(r"(?i)(?:typing\.)?type\[(?:.*\.)?(\w+)\]", text):
            known = getattr(inspect.getmodule(cls), made[1], None)
            if isinstance(known, type) and known is not torch.nn.Module:
                return known
        if kind in (torch.dtype, torch.device) or name == "device":
            return torch.float32 if kind is torch.dtype else "cpu"
        if not text and name.endswith("dtype"):
            return torch.float32
        if use is torch.nn.Identity and not text and re.search(r"act|norm", name):
            return Identity  # what stands beside does more than these
        if not text and (made_of := class_for(cls, name)):
            return made_of
        if not text and (asserted := asserted_class(cls, name)):
            kind = asserted
        if isinstance(kind, type) and issubclass(kind, enum.Enum):
            return next(iter(kind))
        if not text and CONFIGURATION.match(name):
            kind = getattr(cls, "config_class", None) or configuration_for(cls, name) or kind
            if name_behind(kind):
                self.behind, kind = [*self.behind, kind], parameter.empty
        own = isinstance(kind, type) and kind.__module__ not in ("builtins", "typing", "inspect")
        if own and depth < 2 and kind is not torch.nn.Module:
            return self._part(kind, depth + 1)
        if text in ("", "dict") and (
            use in (dict, argparse.Namespace) or (not use and CONFIGURATION.match(name))
        ):
            self.configs.append({} if use is dict or text == "dict" else Namespace())
            return self.configs[-1]
        if use is torch.nn.Identity and not text:
            return Identity
        if use is inspect.Parameter.VAR_KEYWORD and re.search(r"(?i)^$|\bdict\b|\bMapping\b", text):
            return {}
        if use is Passed and not text:
            self.configs.append(Passed(results_of(cls, name)))
            return self.configs[-1]
        if use is torch.nn.ModuleList and not re.search(r"int|float|str", text):
            return [Passed(), Passed()]
        if re.search(r"\bCallable\b|\bModule\b", text) or (not text and not use and MODULE.search(name)):
            # What makes a module (`norm_layer: Callable[..., nn.Module]`), or one.
            if re.search(r"(?i)type\[|\[.*\bModule\]$", text):
                return torch.nn.Identity
            self.configs.append(Passed(results_of(cls, name)))
            return self.configs[-1]
        if isinstance(use, int) and re.search(r"^$|(?i:list|tuple|sequence|iterable)(?!.*str)", text):
            return (named_value(name.rstrip("s"), self.width),) * use
        if isinstance(use, int) and re.match(r"(?i)(typing\.)?(dict|mapping)\b", text):
            return {number: number for number in range(use)}
        if "bool" in text:
            return False
        if found := re.search(r"(?i)^(typing\.)?(list|sequence|iterable|tuple)\[int", text):
            return [named_value(name.rstrip("s"), self.width)] * max(2, text[found.end() - 3 :].count("int"))
        number = re.fullmatch(r"(typing\.)?(Optional\[)?(int|float)\]?( \| None)?", text)
        if re.search(r"\bOptional\b|\bNone\b", text) and not number:
            return None
        if text == "str" and (usual := next((word for part, word in WORDS if part in name), None)):
            return usual
        if text == "str" and LABEL.match(name):
            return name
        if re.search(r"\bTensor\b", text) and not re.search(
            r"\b(int|float)\b", text
        ):  # Union[Tensor, ndarray]
            return torch.ones(self.width, self.width)
        if "str" in text or (text and not re.search(r"int|float|^$", text)):
            raise TypeError(f"no value for `{name}: {text}`")
        value = 0.5 if text == "float" else named_value(name, self.width)
        return self.width if text and isinstance(value, str) else value

    def _part(self, cls: Any, depth: int) -> Any:
        """What a class is built with: with what its own parts lack, where it hands on its options (`**options`)."""
        values = self.of(cls, depth)
        while True:
            try:
                return cls(**values)
            except TypeError as error:
                lacking = _lacking(str(error))
                if not lacking or lacking[0] in values or not _takes_options(cls):
                    raise
                values.update({name: named_value(name, self.width) for name in lacking})

    def incoming(self) -> list[int]:
        """Numbers by default of what each element that comes in has: `input_dim=80`."""
        parameters = inspect.signature(takes_arguments(self.cls)).parameters.values()
        return [
            each.default for each in parameters if type(each.default) is int and INCOMING.match(each.name)
        ]

    def depths(self) -> dict[str, int]:
        """Two for each number of layers that has a larger default."""
        parameters = inspect.signature(takes_arguments(self.cls)).parameters.values()
        numbers = {each.name: each.default for each in parameters if type(each.default) is int}
        return {name: 2 for name, number in numbers.items() if number > 2 and DEPTH.search(name)}

    def build(self) -> Any:
        """An instance of the class; whatever the class raises is raised."""
        while True:
            try:
                return self.cls(**self.values)
            except (RuntimeError, ValueError) as error:
                if not lone_group.made_for(error):
                    raise
            except (AttributeError, KeyError, TypeError) as error:
                if not self.teach(error) and not self._hand_over(error):
                    raise

    def build_somehow(self) -> Any:
        """An instance; where that fails, with another value for a parameter (`_others`). What leads to another error
        may be right and is kept, a few times."""
        try:
            return self.build()
        except (Exception, SystemExit) as error:
            return self._build_after(error, MOST_CHANGED, Allowance(SECONDS))

    def _build_after(self, error: BaseException, changes: int, allowance: Allowance) -> Any:
        for name, value in [*self._others(error)][:MOST_OTHERS]:
            if changes < MOST_CHANGED and allowance.over():
                break
            before, configs = dict(self.values), [*self.configs]
            self.values[name] = value
            try:
                return self.build()
            except (Exception, SystemExit) as other:
                if changes > 1 and trouble_of(other) != trouble_of(error):
                    with contextlib.suppress(Exception, SystemExit):
                        return self._build_after(other, changes - 1, allowance)
            self.values, self.configs = before, configs
        raise error

    def _others(self, error: BaseException) -> Iterator[tuple[str, Any]]:
        """Other values for a parameter, for an error in building: a word or a number where the error names it (`mode
        should be 'sum' or 'mean'`), one that is asserted, a number in place of None, a class where it makes a module,
        something with attributes where these are asked of a number or of None, more elements, one flag the other way
        round (`flash=True` wants a package), and None where that is asked for."""
        text = str(error)
        parameters = inspect.signature(takes_arguments(self.cls)).parameters.values()
        absent = [p.name for p in parameters if p.default is None and p.name not in self.values]
        uses = uses_of(takes_arguments(self.cls))
        words = re.findall(r"""['"](\w+)['"]""", text)
        named = [name for name in [p.name for p in parameters] if re.search(rf"\b{name}\b", text)]
        yield from ((name, word) for name in named for word in words)
        # "either size or both height and width must be given"; `assert dtype is not None`
        none = trouble_of(error).absent
        for each in (p for p in parameters if p.name in absent and (p.name in named or p.name == none)):
            if (number := lacked(each, self.width)) is not None:
                known = self._known(each.name, self.values)
                yield each.name, number if known is None else known
        numbers = [name for name, given in self.values.items() if type(given) is int]
        yield from ((name, number) for name in numbers if name in named for number in NUMBERS)
        for pair in (asserted := sizes_asserted(error)):
            for had, other in (pair, pair[::-1]):
                yield from ((name, other) for name in numbers if self.values[name] == had)
        # `len(sizes) == depth + 1`
        rows = [(n, v) for n, v in self.values.items() if isinstance(v, (tuple, list)) and v]
        yield from ((n, each) for n, v in rows if asserted for each in ((*v, v[-1]), v[:-1]))
        if "NoneType" in text:
            yield from self._numbers_for_none([p for p in parameters if p.name in absent])
        if "not callable" in text:
            yield from ((name, Identity) for name in absent if uses.get(name) is torch.nn.Identity)
        asked = re.match(r"'(int|NoneType)' object has no attribute '(\w+)'", text)
        having = [n for n in absent if uses.get(n) is argparse.Namespace or CONFIGURATION.match(n)]
        for name in (numbers if asked[1] == "int" else having) if asked else ():
            self.configs.append(Passed() if asked and hasattr(torch.nn.Module, asked[2]) else Namespace())
            yield name, self.configs[-1]
        if asked and asked[1] == "int" and hasattr(torch.Tensor, asked[2]):
            yield from ((name, torch.ones(self.width)) for name in numbers)
        if "is not a Module subclass" in text:
            for name in numbers:
                self.configs.append(Passed())
                yield name, self.configs[-1]
        if "'Tensor' and 'tuple'" in text or "'tuple' and 'Tensor'" in text or "'tuple' and 'int'" in text:
            yield from ((name, torch.arange(len(given)) % 2) for name, given in rows if "mask" in name)
            yield from ((name, torch.arange(self.width)) for name, given in rows)
        if "'int' object is not callable" in text:
            yield from ((name, Layer) for name in numbers if MAKES.search(name))
        if "Boolean" in text:
            tensors = [(n, v) for n, v in self.values.items() if isinstance(v, torch.Tensor)]
            yield from ((name, given.bool()) for name, given in tensors)
        if "'Namespace'" in text:
            empty = [name for name, given in self.values.items() if given == Namespace()]
            yield from ((name, named_value(name, self.width)) for name in empty)
        if re.search(
            r"'int' (and 'list'|object is not (iter|subscr)|is not|has no len)|to (list|tuple)$", text
        ):
            for name, given in self.values.items():  # "can only concatenate list (not "tuple") to list"
                if isinstance(given, (tuple, list)) and "concatenate" in text:
                    yield name, [*given] if isinstance(given, tuple) else (*given,)
            for name, given in self.values.items():  # the sizes of each of several stages
                if isinstance(given, (tuple, list)) and given and all(type(each) is int for each in given):
                    yield name, [(each,) * 3 for each in given]
            several = sorted(numbers, key=lambda name: not name.endswith("s"))
            yield from ((name, [self.values[name]] * size) for size in (1, 2) for name in several)
        if re.search(r"'tuple' and 'int'|'int' and 'tuple'", text):
            yield from ((name, given[0]) for name, given in rows)
        if re.search(r"index out of range|not enough values|cannot unpack non-iterable int", text):
            for name, given in self.values.items():
                if isinstance(given, (tuple, list)) and given:
                    yield name, (*given, given[-1])
            empty = [p.name for p in parameters if p.default in ((), []) and p.name not in self.values]
            yield from ((name, (self.width,) * 2) for name in empty)
            if "non-iterable" in text:
                yield from ((name, (self.values[name],) * size) for name in numbers for size in (2, 3))
        flags = [p for p in parameters if isinstance(p.default, bool) and p.name not in self.values]
        yield from ((p.name, not p.default) for p in flags)
        yield from ((name, None) for name in self.values if name in maybe_none(takes_arguments(self.cls)))

    def _numbers_for_none(self, absent: list[inspect.Parameter]) -> Iterator[tuple[str, Any]]:
        """A number for a parameter that is None by default, or for such fields of a dataclass that it is given."""
        numbers = [(each.name, lacked(each, self.width)) for each in absent]
        yield from (each for each in numbers if each[1] is not None)
        for name, given in self.values.items():
            filled = self._filled(given)
            if filled is not given:
                yield name, filled

    def _filled(self, given: Any) -> Any:
        """A dataclass with numbers for fields that are None and may be one, also in those that it holds."""
        if not dataclasses.is_dataclass(given) or isinstance(given, type):
            return given
        changes: dict[str, Any] = {}
        for field in inspect.signature(type(given)).parameters.values():
            value = getattr(given, field.name, field)
            other = lacked(field, self.width) if value is None else self._filled(value)
            if other is not value:
                changes[field.name] = other
        return dataclasses.replace(given, **changes) if changes else given

    def fill(self, absent: str) -> bool:
        """Give a number for what is None by default where a call lacks it. Whether there is such an argument."""
        parameter = inspect.signature(takes_arguments(self.cls)).parameters.get(absent)
        number = lacked(parameter, self.width) if parameter and parameter.name not in self.values else None
        if parameter and number is not None:
            self.values[parameter.name] = number
        return number is not None

    def fill_named(self, error: str) -> bool:
        """The same for each that an error asks for by name: "Need one of n_iterations or (atol, rtol)"."""
        if not re.search(r"(?i)\bneed|\bmust\b|\brequire|\bspecif|\bprovide", error):
            return False
        parameters = inspect.signature(takes_arguments(self.cls)).parameters.values()
        asked = [
            each.name for each in parameters if re.search(rf"\b{each.name[:-1]}{each.name[-1]}?\b", error)
        ]
        return any(self.fill(name) for name in asked)

    def widen(self, sizes: tuple[int, int] | None) -> bool:
        """Have as much go in as an error says is added to it, (what there was, what was wanted): what comes out of it
        may be several times what it is built with. Whether there is such an argument."""
        names = [
            name
            for name, value in self.values.items()
            if sizes and re.match("in", name) and type(value) is int and value in sizes
        ]
        self.values.update({n: sizes[1] if self.values[n] == sizes[0] else sizes[0] for n in names if sizes})
        return bool(names)

    def repeat(self, argument: str) -> bool:
        """Give two numbers for one where a function of torch wants several for an argument of such a name: `padding`
        for `pad`. Whether there is such an argument."""
        alike = [n for n, v in self.values.items() if argument and type(v) is int and argument in n]
        self.values.update({name: (self.values[name],) * 2 for name in alike})
        return bool(alike)

    def teach(self, error: BaseException) -> bool:
        """Give a stand-in the name for which it was asked in vain; False where the error is about something else."""
        if sum(len(each if isinstance(each, dict) else vars(each)) for each in self.configs) >= MOST_ASKED:
            return False
        if isinstance(error, TypeError):
            return self._hand_on(str(error))
        if isinstance(error, AttributeError):
            asked: Any = getattr(error, "obj", None)  # Python 3.10 and later
            name = getattr(error, "name", None)
            if type(asked) is int and name and self._within(asked, name):
                return True
            if not any(asked is each for each in self.configs) or not name:
                return False
            method = isinstance(asked, Passed) and f".{name}" in called_in(self.cls)
            vars(asked)[name] = given_back if method else self._known(name, vars(asked))
            return True
        name = error.args[0] if isinstance(error, KeyError) and error.args else None
        lacking = [each for each in self.configs if isinstance(each, dict) and name not in each]
        if not lacking or not isinstance(name, str):
            return False
        if name in tables_of(self.cls):
            self.configs.insert(0, {})  # what is asked next is mostly asked of it
            lacking[0][name] = self.configs[0]
        else:
            lacking[0][name] = self._known(name, lacking[0])
        return True

    def _within(self, asked: int, name: str) -> bool:
        """Put another stand-in for the number in one that is asked for a name: `config.data.size`."""
        within = {
            node.value.attr
            for node in ast.walk(tree_of(inspect.getmodule(self.cls)))
            if isinstance(node, ast.Attribute) and node.attr == name and isinstance(node.value, ast.Attribute)
        }
        for config in (each for each in self.configs if isinstance(each, argparse.Namespace)):
            if part := next(
                (key for key, value in vars(config).items() if key in within and value is asked), ""
            ):
                self.configs.append(Namespace())
                setattr(config, part, self.configs[-1])
                return True
        return False

    def _hand_on(self, error: str) -> bool:
        """Give what a part of it lacks, where the class hands on what it is given, or a dictionary (`**options`)."""
        lacking = _lacking(error)
        uses = uses_of(takes_arguments(self.cls)) if lacking else {}
        for handed in (self.values.get(name) for name in uses if uses[name] is inspect.Parameter.VAR_KEYWORD):
            if isinstance(handed, dict) and lacking[0] not in handed:
                handed.update({name: named_value(name, self.width) for name in lacking})
                return True
        if not lacking or lacking[0] in self.values or not _takes_options(self.cls):
            return False
        self.values.update({name: named_value(name, self.width) for name in lacking})
        return True

    def _hand_over(self, error: BaseException) -> bool:
        """Give what the class asks of the options that it takes: `options["width"]` of `**options`."""
        name = error.args[0] if isinstance(error, KeyError) and error.args else None
        if not isinstance(name, str) or not name.isidentifier() or name in self.values:
            return False
        if not _takes_options(self.cls):
            return False
        self.values[name] = self._known(name, self.values)
        return True

    def _known(self, name: str, beside: dict[str, Any]) -> Any:
        """The project's value for a name: that of the class which the stand-in is for; of the places that have it, that
        which has most of the other names."""
        for base in (base for each in self.behind for base in each.__mro__):
            if type(kept := vars(base).get(name)) in (bool, float, int, str):
                return smaller(name, kept, self.width) if self.small else kept
        having = [
            values for values in project_values(inspect.getsourcefile(self.cls) or "") if name in values
        ]
        if having:
            known = max(having, key=lambda values: len(values.keys() & beside.keys()))[name]
            return smaller(name, known, self.width) if self.small else known
        if name == "shape":
            return (self.width,)
        if name.endswith("dtype"):
            return torch.float32
        if name == "device":
            return "cpu"
        if word := words_of(self.cls).get(name):
            return word
        if member := members_of(self.cls).get(name):
            return member
        if re.match(r"(is|use|has|with|do|no|return|output)_", name):
            return False
        return named_value(name, self.width)

    def said(self) -> dict[str, Any]:
        """The numbers among the values, for the user to read."""
        found: dict[str, Any] = {
            key: getattr(value, "__name__", value)
            for key, value in self.values.items()
            if isinstance(value, (int, float, str, tuple, type))
        }
        for key, value in self.values.items():
            if any(value is each for each in self.configs):
                held = value if isinstance(value, dict) else vars(value)
                if isinstance(value, Passed):  # a module has more than it was asked for
                    held = {k: v for k, v in held.items() if type(v) is int and k != "_wanted"}
                    if not held:
                        continue
                found[key] = held
        return found


def _lacking(error: str) -> list[str]:
    """The arguments that an error says are missing."""
    return re.findall(r"'(\w+)'", error.partition(" missing ")[2])


def _takes_options(cls: Any) -> bool:
    return any(each.kind is each.VAR_KEYWORD for each in inspect.signature(cls).parameters.values())


def lacked(parameter: inspect.Parameter, width: int) -> Any:
    """A number for a parameter that is None by default, and may be one, or no; None for others."""
    text = annotation_text(parameter)
    if parameter.default is None and re.search(r"\bbool\b", text):
        return False
    if parameter.default is not None or not re.search(r"^$|\bint\b|\bfloat\b", text):
        return None
    value = named_value(parameter.name, width)
    return value if isinstance(value, (int, float)) else None


def named_value(name: str, width: int) -> Any:
    """A small value by a name; with a large width as many channels go in as come out."""
    value = next((value for pattern, value in NAMED if re.search(pattern, name)), width)
    return max(value, width) if width > WIDTH and re.search("channel|in_ch", name) else value


def smaller(name: str, known: Any, width: int) -> Any:
    """A small number in place of a configuration's, where that is a large one, or none; else the configuration's."""
    value = named_value(name, width)
    if type(known) is not int or type(value) is not int or 0 <= known <= 4:
        return known
    return value if known < 0 or (value < known and (value != width or known > 64)) else known


def fitted(name: str, given: Any, width: int) -> Any:
    """The same of what a project gives itself: of each number of a dictionary, a dataclass or a namespace, too."""
    if isinstance(given, dict):
        return {key: fitted(str(key), each, width) for key, each in given.items()}
    if dataclasses.is_dataclass(given) and not isinstance(given, type):
        fields = [each.name for each in dataclasses.fields(given) if each.init]
        # What its `__post_init__` computes fits the small ones only if it is computed again.
        return dataclasses.replace(
            given, **{each: fitted(each, getattr(given, each), width) for each in fields}
        )
    if isinstance(given, (argparse.Namespace, types.SimpleNamespace)):
        return type(given)(**{key: fitted(key, each, width) for key, each in vars(given).items()})
    return smaller(name, given, width)


def of_other_resolution(cls: Any) -> dict[str, Any]:
    """Sizes of images that windows of 7 and of 8 divide, for the parameters that want some."""
    cls = takes_arguments(cls)
    names = [each.name for each in required(inspect.signature(cls)) if IMAGES.search(each.name)]
    uses = uses_of(cls) if names else {}
    pairs = {name for name in names if isinstance(uses.get(name), int)}
    return {name: (EDGE, EDGE) if name in pairs else EDGE for name in names}


def configured(cls: Any) -> dict[str, Any]:
    """What the project's own files have for the names that a class requires: those of the one place that has most of
    them, two at least."""
    names = [each.name for each in required(inspect.signature(takes_arguments(cls)))]
    values = project_values(inspect.getsourcefile(cls) or "") if len(names) > 1 else []
    best: dict[str, Any] = max(values, key=lambda each: sum(name in each for name in names), default={})
    found = {name: best[name] for name in names if name in best}
    return found if len(found) > 1 else {}
