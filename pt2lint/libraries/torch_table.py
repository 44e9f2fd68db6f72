"""What torch's own functions, methods and modules return, as torch_table.json has it (tools/torch_table.py)."""

from __future__ import annotations

import json
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any

from pt2lint.libraries.words import Origin, value_of
from pt2lint.static.values import Ext, Py, Seq, Tensor, Value, kind_of, truth

# Methods that convert to a class of dtypes.
_CONVERT = {"bool": "bool", "long": "int", "int": "int", "short": "int"} | dict.fromkeys(
    ("float", "double", "half", "bfloat16"), "float"
)

# Types of Python that torch takes for dtypes.
_TYPES = {f"builtins.{kind}": kind for kind in ("bool", "int", "float")}

# Parameters of `torch.where` that are given tensors; a tensor in the place of another one is none of its.
TENSORS = ("input", "other", "self")

# Shape operations and the like: the result holds the same elements.
_KEEPS_DTYPE = frozenset(
    "view reshape permute transpose t unsqueeze squeeze flatten expand expand_as repeat contiguous clone detach "
    "flip roll narrow select index_select gather chunk split unbind movedim swapaxes view_as reshape_as cpu cuda "
    "repeat_interleave masked_fill tile zeros_like ones_like empty_like full_like new new_zeros new_ones new_full "
    "new_empty new_tensor "
    "bitwise_not bitwise_and bitwise_or bitwise_xor masked_select triu tril cat stack".split()
)


class TorchTable:
    """Answers "what does a call of NAME return?"."""

    def __init__(self, table: Mapping[str, Any]) -> None:
        self.returns: dict[str, Any] = table["returns"]
        self.modules: dict[str, str] = table["modules"]
        self.attributes: dict[str, str] = table["attributes"]
        self.fields: dict[str, list[str]] = table["fields"]
        self._namespaces: set[str] = set()  # in which there are some, once somebody asked

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
                if given is None or (isinstance(given, Tensor) and parameter not in TENSORS):
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
        value = value_of(words, origin, sure, owner, dtype)
        if isinstance(value, Seq):
            value.fields = tuple(self.fields.get(name.replace("torch.Tensor.", "torch."), ()))
        return value

    def _dtype(
        self, name: str, args: list[Value], kwargs: dict[str, Value], owner: Value | None
    ) -> str | None:
        """The dtype class of the result where an argument decides it."""
        wanted = kwargs.get("dtype")
        if wanted is None and name in ("torch.Tensor.to", "torch.Tensor.type"):
            wanted = next((a for a in args if _says_dtype(a)), None)
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
            return str(kind_of(wanted.const))
        if isinstance(wanted, Ext) and _says_dtype(wanted):
            return _TYPES[wanted.name]
        last = name.rsplit(".", 1)[-1]
        if last in _CONVERT and name.startswith("torch.Tensor."):
            return _CONVERT[last]
        if wanted is None and isinstance(owner, Tensor) and last in _KEEPS_DTYPE:
            return owner.dtype
        return None

    def lists(self, name: str) -> bool:
        """Whether torch has a function or a namespace of that name."""
        if not self._namespaces:
            for listed in self.returns:
                while (listed := listed.rpartition(".")[0]) and listed not in self._namespaces:
                    self._namespaces.add(listed)
        return name in self.returns or name in self._namespaces

    def takes_tensor_first(self, name: str) -> bool:
        """Whether a function is also a method of tensors, and so takes its tensor first."""
        words = self.returns.get(name)
        if words is None:
            return False
        if isinstance(words, dict):
            words = words.get("", "")
        return f"torch.Tensor.{name.rsplit('.', 1)[-1]}" in self.returns and words.startswith("tensor")


def _says_dtype(value: Value) -> bool:
    return value.name in _TYPES if isinstance(value, Ext) else isinstance(value, Py) and value.type == "dtype"


@cache
def table() -> TorchTable:
    return TorchTable(json.loads((Path(__file__).parent / "torch_table.json").read_bytes()))
