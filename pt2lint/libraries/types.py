"""isinstance: which values are of the types that libraries define."""

from __future__ import annotations

import builtins

from pt2lint.static.values import OUTSIDE, Class, Dict, Ext, Func, Instance, Py, Seq, Tensor, Value

NUMBERS = {"builtins.int", "builtins.float"}


def is_instance(value: Value, names: tuple[str, ...], foreign: bool) -> bool | None:
    """isinstance(value, any of the named types), where it can be told.

    `foreign` says that the value is an object of a class of the project with bases outside of it.
    """
    if "builtins.type" in names and _is_class(value):
        return True
    if isinstance(value, Tensor):
        return _tensor(value, names)
    if isinstance(value, Py):
        if value.type == "object":
            return None
        if value.type == "bool":
            return bool({"builtins.bool", "builtins.int"} & set(names)) or _unless_foreign(names)
        if value.type in ("int", "float"):
            if f"builtins.{value.type}" in names:
                return True
            return None if NUMBERS & set(names) else _unless_foreign(names)
        return f"builtins.{value.type}" in names or _unless_foreign(names)
    if isinstance(value, Seq):
        if f"builtins.{'tuple' if value.type == 'args' else value.type}" in names:
            return True
        plain = value.type in ("list", "tuple", "set", OUTSIDE) and _all(names, "builtins.", "torch.Tensor")
        return False if plain and not {"builtins.list", "builtins.tuple"} & set(names) else None
    if isinstance(value, Dict):
        return True if "builtins.dict" in names else False if _all(names, "builtins.", "torch.") else None
    if isinstance(value, (Instance, Func, Class)) and _all(names, "builtins.", "torch.Tensor", "numpy."):
        return None if foreign else False
    return None


def _is_class(value: Value) -> bool:
    if not isinstance(value, Ext) or value.receiver is not None:
        return isinstance(value, Class)
    owner, _, name = value.name.rpartition(".")
    if owner == "builtins":
        return isinstance(getattr(builtins, name, None), type)
    return owner.startswith("torch") and name[:1].isupper()


def _tensor(value: Tensor, names: tuple[str, ...]) -> bool | None:
    if value.array:
        return "numpy.ndarray" in names
    if "torch.Tensor" in names:
        return True
    perhaps = any(
        n == "torch.nn.Parameter" or (n.startswith("torch.") and n.endswith("Tensor")) for n in names
    )
    return None if perhaps else False


def _unless_foreign(names: tuple[str, ...]) -> bool | None:
    return False if _all(names, "builtins.", "torch.", "numpy.") else None


def _all(names: tuple[str, ...], *starts: str) -> bool:
    return all(n.startswith(starts) for n in names)
