"""What torch's own functions, methods and modules return: the generated table, as values."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pt2lint.static.values import (
    BOOL,
    FLOAT,
    INT,
    NONE,
    OBJECT,
    STR,
    UNKNOWN,
    Instance,
    Py,
    Seq,
    Tensor,
    Value,
    join_all,
    truth,
)

Origin = tuple[str, int, str] | None

# torch.FloatTensor and its kin, as constructors and in annotations.
TYPED_TENSORS = {
    "torch.Tensor": None,
    "torch.FloatTensor": "float",
    "torch.DoubleTensor": "float",
    "torch.HalfTensor": "float",
    "torch.BFloat16Tensor": "float",
    "torch.LongTensor": "int",
    "torch.IntTensor": "int",
    "torch.ShortTensor": "int",
    "torch.ByteTensor": "int",
    "torch.CharTensor": "int",
    "torch.BoolTensor": "bool",
    "torch.nn.Parameter": None,
    "torch.nn.parameter.Parameter": None,
    "torch.nn.Buffer": None,
}
_FLOATS = ("float", "double", "half", "bfloat16", "float16", "float32", "float64")
_INTS = ("int", "long", "short", "uint8", "int8", "int16", "int32", "int64")
DTYPES = {
    **{f"torch.{n}": "float" for n in _FLOATS},
    **{f"torch.{n}": "int" for n in _INTS},
    "torch.bool": "bool",
}
# Functions whose default dtype is floating point, or follows from Python numbers.
_CONVERT = {"bool": "bool", "long": "int", "int": "int", "short": "int"} | dict.fromkeys(
    ("float", "double", "half", "bfloat16"), "float"
)
_SIMPLE: dict[str, Value] = {
    "bool": BOOL,
    "int": INT,
    "float": FLOAT,
    "number": FLOAT,
    "str": STR,
    "dtype": Py("dtype"),
    "device": Py("device"),
    "none": NONE,
    "any": UNKNOWN,
}


class TorchTypes:
    """Answers "what does a call of NAME return?" from torch_table.json."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.returns: dict[str, Any] = table["returns"]
        self.modules: dict[str, str] = table["modules"]
        self.attributes: dict[str, str] = table["attributes"]

    @classmethod
    def load(cls) -> TorchTypes:
        import json

        return cls(json.loads((Path(__file__).parent.parent / "torch_table.json").read_bytes()))

    def value(
        self,
        words: str,
        origin: Origin,
        sure: bool = True,
        owner: Value | None = None,
        dtype: str | None = None,
    ) -> Value:
        """The value that the table's words stand for."""
        simple = _SIMPLE.get(words)
        if simple is not None:
            return simple
        if "|" in words and len(alternatives := _split(words, "|")) > 1:
            return join_all(self.value(w, origin, sure, owner) for w in alternatives)
        if words.startswith("tuple("):
            return Seq([self.value(w, origin, sure, owner) for w in _split(words[6:-1], ",")], None, "tuple")
        if words.startswith("tensors"):
            tensor = Tensor(None, origin, sure)
            count = words[8:]
            return Seq([tensor] * int(count), None, "tuple") if count else Seq(None, tensor, "tuple")
        if words.startswith("tensor"):
            return Tensor(dtype or words[7:] or None, origin, sure)
        if words == "self":
            return owner if owner is not None else Tensor(None, origin, sure)
        if words == "size":
            return Seq(None, INT, "tuple")
        if words.startswith("data:"):
            known = words[5:]
            if known in ("bool", "int", "float", "number"):
                return Py("float" if known == "number" else known, read=True)
            return Seq(None, Py("object", read=True)) if known in ("list", "any") else OBJECT
        return UNKNOWN

    def call(
        self,
        name: str,
        args: list[Value],
        kwargs: dict[str, Value],
        origin: Origin,
        owner: Value | None = None,
    ) -> Value | None:
        """What calling `name` returns, or None if the table does not list it."""
        words = self.returns.get(name)
        if words is None:
            return None
        if isinstance(words, dict):
            chosen = words.get("", "any")
            for parameter, rule in words.items():
                if not parameter:
                    continue
                position, value = rule
                given = kwargs.get(parameter)
                if given is None and position is not None and position < len(args):
                    given = args[position]
                if given is None or isinstance(given, Tensor):
                    continue
                if truth(given) is False and isinstance(given, Py) and given.type in ("bool", "none"):
                    continue
                chosen = value
                break
            words = chosen
        sure = not any(isinstance(a, Tensor) and not a.sure for a in args)
        if owner is None and args:
            owner = args[0]
        if isinstance(owner, Tensor) and not owner.sure:
            sure = False
        dtype = self._dtype(name, args, kwargs, owner)
        return self.value(words, origin, sure, owner, dtype)

    def _dtype(
        self, name: str, args: list[Value], kwargs: dict[str, Value], owner: Value | None
    ) -> str | None:
        """The dtype class of the result where an argument decides it."""
        wanted = kwargs.get("dtype")
        if wanted is None and name in ("torch.Tensor.to", "torch.Tensor.type"):
            wanted = next((a for a in args if isinstance(a, Py) and a.type == "dtype"), None)
            if wanted is None and any(isinstance(a, Tensor) for a in args):
                return next((a.dtype for a in args if isinstance(a, Tensor)), None)
            if (
                wanted is None
                and isinstance(owner, Tensor)
                and args
                and all(isinstance(a, Py) and a.type in ("device", "str") for a in args)
            ):
                return owner.dtype
        if isinstance(wanted, Py) and wanted.type == "dtype" and isinstance(wanted.const, str):
            return wanted.const
        last = name.rsplit(".", 1)[-1]
        if last in _CONVERT and name.startswith("torch.Tensor."):
            return _CONVERT[last]
        if wanted is None and isinstance(owner, Tensor) and last in _KEEPS_DTYPE:
            return owner.dtype
        return None


# Shape operations and the like: the result holds the same elements.
_KEEPS_DTYPE = frozenset(
    "view reshape permute transpose t unsqueeze squeeze flatten expand expand_as repeat contiguous clone detach "
    "flip roll narrow select index_select gather chunk split unbind movedim swapaxes view_as reshape_as cpu cuda "
    "repeat_interleave masked_fill tile zeros_like ones_like empty_like full_like new_zeros new_ones new_full "
    "bitwise_not bitwise_and bitwise_or bitwise_xor masked_select triu tril cat stack".split()
)


def _split(text: str, separator: str) -> list[str]:
    """Split at separators outside parentheses."""
    parts, depth, start = [], 0, 0
    for i, c in enumerate(text):
        if c == "(":
            depth += 1
        elif c == ")":
            depth -= 1
        elif c == separator and depth == 0:
            parts.append(text[start:i])
            start = i + 1
    parts.append(text[start:])
    return parts


def module_instance(name: str) -> Instance:
    return Instance(None, name)
