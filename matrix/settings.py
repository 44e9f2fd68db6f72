"""Which settings torch has: the names in torch._dynamo.config, torch._inductor.config and torch._functorch.config.

    PYTHON matrix/settings.py      add what the torch that runs this has to pt2lint/rule/settings.json

Assigning one that is not there raises AttributeError, and so does torch.compile (RuntimeError) for such an option of
inductor. Under "names" each has a sign for each version under "torch", oldest first: "B" where it is, "." where not.
"""

import importlib
import json
from pathlib import Path

import torch

OUTPUT = Path(__file__).resolve().parent.parent / "pt2lint" / "rule" / "settings.json"
HOLDERS = ("torch._dynamo.config", "torch._functorch.config", "torch._inductor.config")


def settings(holder):
    """The names of a module of settings; `triton.cudagraphs` of those in a class of it."""
    return sorted(importlib.import_module(holder)._config)


def merged(known, version, found):
    """What was known, with what this version has in its place."""
    names = {holder: dict(known["names"].get(holder, {})) for holder in HOLDERS}
    versions = known["torch"]
    place = versions.index(version) if version in versions else sum(old < version for old in versions)
    replaced = version in versions
    for holder in HOLDERS:
        for name in {*names[holder], *found[holder]}:
            signs = names[holder].get(name, "." * len(versions))
            sign = "B" if name in found[holder] else "."
            names[holder][name] = signs[:place] + sign + signs[place + replaced :]
        names[holder] = dict(sorted(names[holder].items()))
    return {"torch": sorted([*versions, *([] if replaced else [version])]), "names": names}


def main():
    known = json.loads(OUTPUT.read_bytes()) if OUTPUT.exists() else {"torch": [], "names": {}}
    version = [int(part) for part in torch.__version__.split("+")[0].split(".")[:2]]
    data = merged(known, version, {holder: settings(holder) for holder in HOLDERS})
    holders = []
    for holder, names in data["names"].items():
        rows = ",\n".join(f"{json.dumps(name)}: {json.dumps(signs)}" for name, signs in names.items())
        holders.append(f"{json.dumps(holder)}: {{\n{rows}\n}}")
    text = f'{{"torch": {json.dumps(data["torch"])},\n"names": {{\n' + ",\n".join(holders) + "\n}}\n"
    OUTPUT.write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main()
