"""What the text of a function says of the arguments that it takes: their shapes, and what it asks of them."""

from __future__ import annotations

import ast
import inspect
import io
import re
import textwrap
import tokenize
from collections.abc import Callable, Iterator, Mapping
from typing import Any

import torch

from .class_code import compared

_SHAPE = re.compile(r"[\[(]((?:\s*\w+(?:\s*\*\s*\w+)*\s*,)+(?:\s*\w+(?:\s*\*\s*\w+)*)?\s*)[\])]")
_TIMES = re.compile(r"(?<=\w) +[x\u00d7] +(?=\w)|(?<=[A-Z])x(?=[A-Z])")
_NO_DIMENSION = {
    "optional",
    "default",
    "bool",
    "int",
    "float",
    "str",
    "list",
    "tuple",
    "tensor",
    "none",
    "dict",
}
_BETWEEN = 100  # characters that may stand between a name and its shape
_EINOPS = ("rearrange", "reduce", "repeat")


class Hints:
    """Of the parameters of a function, by name: `asked` the words asked of it as of a dictionary, `perhaps` those that
    it may lack, as the code asks whether it has them; `each` those asked of its elements, `attributes` those read of it
    that no tensor has; `words` those that it is compared with, `items` the names that it is taken apart into, where
    nothing else is done with it; `called` those that are called, `several` those of which is asked whether they are a
    list or a tuple, or which are gone over beside others, `none` those of which is asked whether they are None,
    `whole` those that are a size or a number of turns. `shapes`, of these words too, as the docstring, comments,
    unpacking (`b, c, h, w = x.shape`), einops patterns and equations of einsum say them: each a tuple of names, numbers
    or products, "" for what is not said."""

    def __init__(self, function: Callable[..., Any]) -> None:
        self.names: list[str] = []
        self.shapes: dict[str, dict[tuple[str, ...], None]] = {}
        self.asked: dict[str, dict[str, None]] = {}
        self.each: dict[str, dict[str, None]] = {}
        self.attributes: dict[str, dict[str, None]] = {}
        self.words: dict[str, dict[str, None]] = {}
        self.items: dict[str, dict[str, None]] = {}
        self.called: set[str] = set()
        self.several: set[str] = set()
        self.none: set[str] = set()
        self.whole: set[str] = set()
        self.perhaps: dict[str, dict[str | None, None]] = {}
        try:
            text = textwrap.dedent(inspect.getsource(function))
            made = ast.parse(text).body[0]
        except (OSError, TypeError, SyntaxError, IndexError):
            return
        if isinstance(made, ast.FunctionDef):
            self.names = [
                each.arg for each in (*made.args.posonlyargs, *made.args.args, *made.args.kwonlyargs)
            ]
            self.names = [each for each in self.names if each not in ("self", "cls")]
            self._read_code(made)
            for said in (ast.get_docstring(made) or "", *_comments(text)):
                self._read_words(said)

    def _read_words(self, text: str) -> None:
        """`x (Tensor): of shape (b, n, d)`, or `[b x n x d]`: a shape belongs to the name before it."""
        text = _TIMES.sub(", ", text)
        words = [
            *self.names,
            *(word for asked in (self.asked, self.each) for each in asked.values() for word in each),
        ]
        names = "|".join(map(re.escape, words)) or "$."
        places = list(re.finditer(rf"\b({names})\b", text))
        ends = [*(each.start() for each in places[1:]), len(text)]
        for place, end in zip(places, ends):  # noqa: B905 -- Python 3.9
            found = _SHAPE.search(text, place.end())
            if found and found.start() < min(end, place.end() + _BETWEEN):
                dims = tuple(re.sub(r"\s", "", each) for each in found[1].split(",") if each.strip())
                if not _NO_DIMENSION & {each.lower() for each in dims}:
                    self.shapes.setdefault(place[1], {})[dims] = None

    def _read_code(self, made: ast.FunctionDef) -> None:
        read = [n.id for n in ast.walk(made) if isinstance(n, ast.Name) and isinstance(n.ctx, ast.Load)]
        elements: dict[str, str] = {}  # what loops go over, by the name of the element
        for node in ast.walk(made):
            for left, literal in compared(node):
                self._add(self.words, left, literal)
            if isinstance(node, (ast.For, ast.comprehension)):
                elements[ast.unparse(node.target)] = ast.unparse(node.iter)
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Tuple):
                name = re.fullmatch(r"(\w+)\.(shape|size\(\))", ast.unparse(node.value))
                named = [each.id if isinstance(each, ast.Name) else "*" for each in node.targets[0].elts]
                if name and "*" not in named:
                    self._add(self.shapes, name[1], tuple(each.strip("_") for each in named))
                elif isinstance(node.value, ast.Name) and read.count(node.value.id) == 1:
                    apart = [each for each in node.targets[0].elts if not isinstance(each, ast.Starred)]
                    if node.value.id in self.names and all(isinstance(each, ast.Name) for each in apart):
                        self.items[node.value.id] = dict.fromkeys(map(ast.unparse, apart))
            elif isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Subscript):
                put = node.targets[0]  # x[i] = layer(x[i])
                if isinstance(put.slice, (ast.Name, ast.Constant)) and ast.unparse(put) in ast.unparse(
                    node.value
                ):
                    self.several |= {ast.unparse(put.value)} & {*self.names}
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.In, ast.NotIn)):
                if word := _word(node.left):
                    self._add(self.perhaps, ast.unparse(node.comparators[0]), word)
            elif isinstance(node, ast.Compare) and isinstance(node.ops[0], (ast.Is, ast.IsNot)):
                if ast.unparse(node.comparators[0]) == "None":
                    self.none |= {ast.unparse(node.left)} & {*self.names}
            elif isinstance(node, ast.Call):
                called = ast.unparse(node.func)
                self.called |= {called} & {*self.names}
                self.whole |= {*_sizes_in(node)} & {*self.names}
                if isinstance(node.func, ast.Attribute) and node.func.attr == "get" and node.args:
                    self._add(self.perhaps, ast.unparse(node.func.value), _word(node.args[0]))
                if called in _JOINING and node.args:
                    self.several |= {ast.unparse(node.args[0])} & {*self.names}
                if called == "zip":  # layers and what goes in, one by one
                    self.several |= {*map(ast.unparse, node.args)} & {*self.names}
                if called == "isinstance" and re.search(r"\b(list|tuple)\b", ast.unparse(node.args[-1])):
                    self.several |= {ast.unparse(node.args[0])} & {*self.names}
                pattern = _word(node.args[1]) if len(node.args) > 1 else None
                if called.rpartition(".")[2] in _EINOPS and pattern and (dims := of_pattern(pattern)):
                    self._add(self.shapes, ast.unparse(node.args[0]), dims)
                equation = _word(node.args[0]) if node.args and called.endswith("einsum") else None
                for operand, given in zip(_operands(equation or ""), node.args[1:]):  # noqa: B905
                    self._add(self.shapes, ast.unparse(given), operand)
        for node in ast.walk(made):
            if isinstance(node, ast.Subscript) and (word := _word(node.slice)):
                asked = ast.unparse(node.value)
                self._add(self.asked, asked, word)
                one = re.fullmatch(r"(\w+)\[[^'\"]+\]", asked)
                self._add(self.each, one[1] if one else elements.get(asked, ""), word)
            elif isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name):
                if not any(
                    hasattr(kind, node.attr) for kind in (torch.Tensor, str, list, dict, torch.nn.Module)
                ):
                    self._add(self.attributes, node.value.id, node.attr)

    def places(self) -> dict[str, int]:
        """The place of each name of a size in the first shape that has it: the same name is the same size."""
        found: dict[str, int] = {}
        for name in self.names:
            for dims in self.shapes.get(name, ()):
                for place, dim in enumerate(dims):
                    for word in dim.split("*"):
                        found.setdefault(word, place)
        return found

    def _add(self, into: dict[str, Any], name: str, said: Any) -> None:
        if name in self.names:
            into.setdefault(name, {})[said] = None


def _word(node: ast.expr) -> str | None:
    return node.value if isinstance(node, ast.Constant) and isinstance(node.value, str) else None


def _comments(text: str) -> Iterator[str]:
    try:
        for token in tokenize.generate_tokens(io.StringIO(text).readline):
            if token.type == tokenize.COMMENT:
                yield token.string
    except (tokenize.TokenError, SyntaxError):
        return


_JOINING = ("torch.cat", "torch.concat", "torch.stack", "torch.hstack", "torch.vstack", "torch.meshgrid")
_RESHAPING = ("view", "reshape", "unflatten", "expand", "repeat")


def _sizes_in(call: ast.Call) -> Iterator[str]:
    """Names that a call takes for whole numbers: `x.view(b, h // 2, 2, w)`, `range(steps)`, `math.ceil(h / 7)`."""
    of, _, called = ast.unparse(call.func).rpartition(".")
    reshapes = called in _RESHAPING and of not in ("", "self", "torch", "einops", "np")
    if not reshapes and f"{of}.{called}" not in (".range", "math.ceil", "math.floor", "np.ceil", "np.floor"):
        return
    plain = (ast.Name, ast.BinOp, ast.Constant, ast.operator, ast.expr_context)
    for each in call.args:
        if all(isinstance(part, plain) for part in ast.walk(each)):
            yield from (part.id for part in ast.walk(each) if isinstance(part, ast.Name))


def _operands(equation: str) -> Iterator[tuple[str, ...]]:
    """The dimensions of each operand of `bhqd,bhkd->bhqk`; none where it takes any number."""
    given = equation.replace(" ", "").partition("->")[0]
    yield from (tuple(each) for each in given.split(",") if re.fullmatch("[a-zA-Z]+", given.replace(",", "")))


def of_pattern(pattern: str) -> tuple[str, ...]:
    """The dimensions that a pattern of einops is given: `b c (h p) w -> ...`; none where it takes any number."""
    given = pattern.partition("->")[0]
    dims = re.findall(r"\(([^)]*)\)|(\w+|\.\.\.)", given)
    return () if "..." in given else tuple("*".join(group.split()) or word for group, word in dims)


def sizes(
    dims: tuple[str, ...],
    known: Callable[[str], int | None],
    free: int,
    length: int,
    batch: int,
    places: Mapping[str, int],
) -> tuple[int, ...]:
    """A number for each dimension: what is written, what is known of its name, by what it is called and where (of
    `places`, if it is there), else `free`. A height comes with a width: [B, T, H] is hidden."""

    def size(place: int, word: str) -> int:
        product = 1
        for part in word.split("*"):
            product *= one(places.get(part, place) if part else place, part)
        return product

    def one(place: int, word: str) -> int:
        if word.isdigit():
            return int(word)
        if word and (value := known(word)) is not None:
            return value
        if re.fullmatch(r"(?i)b|bs|bsz|nb?|batch\w*|\w*batch(_size)?", word) and place == 0:
            return batch
        alone = re.fullmatch("(?i)[hw]", word) and not {"h", "w"} <= {*"*".join(dims).lower().split("*")}
        if not alone and re.fullmatch(r"(?i)h|w|hh|ww|height|width|img_?[hw]|x|y", word):
            return {4: 32, 5: 8}.get(len(dims), length)
        if re.fullmatch(
            r"(?i)[bntslkm]|bs|\w*(len|length|seq|frames|num|queries|boxes|points|tokens|batch)\w*", word
        ):
            return batch if place == 0 else length
        return batch if place == 0 and not word else free

    return tuple(size(place, word) for place, word in enumerate(dims))
