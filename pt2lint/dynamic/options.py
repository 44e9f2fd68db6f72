"""What `--verify` can be told."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, fields
from difflib import get_close_matches
from typing import Any


@dataclass(frozen=True, slots=True)
class VerifyOptions:
    """Options of the dynamic pass.

    inputs: "MODULE:FUNCTION" names (MODULE dotted or a path); the function returns (callable, args, kwargs)
    or a
        list of them, and findings in every file under PATHS are judged by these calls.
    targets: the same, from `[tool.pt2lint.verify]`; used where `inputs` and `run` are not given.
    run: a command line without the interpreter ("train.py --steps 2", "-m pytest tests/test_model.py"), run
    to
        record how it calls what is compiled.
    timeout: seconds for one child process to load, again for each target that it probes, and for all searches of
        made-up inputs in a file together.
    memory: MiB that one child and its own children may use together, in the table also a size such as "8G"; None is
        80 % of the machine's.
    python: interpreter that has torch; None is the running one if it has torch, else the project's
    environment.
    backend: what torch.compile hands graphs to; "eager" stops at the layer that breaks graphs.
    device: moves modules and inputs, as in torch's `.to()`; None leaves them.
    jobs: child processes at a time.
    modes: "train" and "eval", for modules; other callables run once as they are.
    made_up: whether inputs may be made up where none are found.
    further: whether to call again with further inputs, to see recompilations.
    environment: (name, value) of variables for the child processes; in the table {NAME = "value"}.
    gpus: names for CUDA_VISIBLE_DEVICES, of which each target that runs has one for itself.
    """

    inputs: tuple[str, ...] = ()
    targets: tuple[str, ...] = ()
    run: str | None = None
    timeout: float = 300.0
    memory: int | None = None
    python: str | None = None
    backend: str = "eager"
    device: str | None = None
    jobs: int = 1
    modes: tuple[str, ...] = ("train", "eval")
    made_up: bool = True
    further: bool = True
    environment: tuple[tuple[str, str], ...] = ()
    gpus: tuple[str, ...] = ()


_WORDS = {
    list: "a list of strings",
    str: "a text",
    int: "a whole number",
    bool: "true or false",
    dict: 'a table, as in {TOKENIZERS_PARALLELISM = "false"}',
}
_SIZE = re.compile(r"(\d{1,9}(?:\.\d{1,9})?)\s*([KMGT])?(?:i?B)?", re.ASCII | re.IGNORECASE)
_TYPES: dict[str, tuple[type, ...]] = {
    "inputs": (list, tuple), "targets": (list, tuple), "modes": (list, tuple),
    "run": (str,), "python": (str,), "backend": (str,), "device": (str,),
    "timeout": (int, float), "memory": (int, str), "jobs": (int,),
    "made_up": (bool,), "further": (bool,), "environment": (dict, tuple), "gpus": (list, tuple),
}  # fmt: skip


def options_from(table: Mapping[str, Any], **given: Any) -> VerifyOptions:
    """Options from a `[tool.pt2lint.verify]` table (keys with - or _) and what the command line gave on top.

    `given` values that are None or empty count as not given. Raises ValueError, worded for the user, for an
    unknown key or a value of the wrong type.
    """
    values: dict[str, Any] = {}
    for key, value in table.items():
        name = key.replace("-", "_")
        if name not in _TYPES:
            known = [field.name.replace("_", "-") for field in fields(VerifyOptions)]
            near = get_close_matches(name.replace("_", "-"), known, n=1)
            told = f"did you mean `{near[0]}`?" if near else "its keys are " + ", ".join(known)
            raise ValueError(f"has no key `{key}`; {told}")
        word = "a number" if float in _TYPES[name] else _WORDS[_TYPES[name][0]]
        if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and bool not in _TYPES[name]):
            raise ValueError(f"`{key}` should be {word}, not {value!r}")
        if isinstance(value, dict):
            value = tuple((name_, text) for name_, text in value.items())
            if not all(isinstance(text, str) for _, text in value):
                raise ValueError(f'`{key}` should hold strings, as in {{TOKENIZERS_PARALLELISM = "false"}}')
            values[name] = value
            continue
        items = list(value) if isinstance(value, (list, tuple)) else []
        if not all(isinstance(item, str) for item in items):
            raise ValueError(f"`{key}` should be a list of strings, not {value!r}")
        values[name] = tuple(items) if list in _TYPES[name] else value
    for name, value in given.items():
        if value is not None and value != [] and value != ():
            if name == "environment":  # what is given stands beside the table's
                value = tuple({**dict(values.get(name, ())), **dict(value)}.items())
            values[name] = tuple(value) if isinstance(value, list) else value
    if isinstance(values.get("memory"), str):
        values["memory"] = mebibytes(values["memory"])
    options = VerifyOptions(**values)
    if not options.timeout > 0 or options.jobs < 1 or (options.memory is not None and options.memory < 1):
        raise ValueError("`timeout`, `memory` and `jobs` should be positive")
    if not set(options.modes) <= {"train", "eval"} or not options.modes:
        raise ValueError("`modes` should name `train`, `eval` or both")
    return options


def mebibytes(text: str) -> int:
    """A size such as 8G, 1.5 GiB or 512M (a number alone: MiB) in MiB; raises ValueError for anything else."""
    found = _SIZE.fullmatch(text.strip())
    if found is None:
        raise ValueError(f'`memory` should be a size such as "8G" or "512M", not "{text}"')
    factor = {"K": 1 / 1024, "M": 1, "G": 1024, "T": 1024 * 1024}[(found[2] or "M").upper()]
    return int(float(found[1]) * factor)
