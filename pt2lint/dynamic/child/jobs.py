"""The jobs a child can be given: each finds targets, then probes them."""

from __future__ import annotations

from typing import Any

from . import inputs
from .probes import Prober, failure, seed
from .targets import Target
from .wire import Wire


def do(spec: dict[str, Any], wire: Wire) -> None:
    """Do the job of the specification; whatever goes wrong is sent, never raised."""
    prober = Prober(spec, wire)
    look = prober.probe
    if spec.get("observe"):
        from . import compare, overlay

        overlay.install(spec["overlay"])
        look = compare.Observer(prober, spec, wire).observe
    wire.send("load")
    seed(0)  # models and inputs are the same from child to child
    try:
        targets = find(spec, wire, prober)
    except inputs.BadInputs as error:
        wire.send("bad_inputs", message=str(error))
        return
    except BaseException as error:
        wire.send("load_failed", error=failure(error, spec["roots"]))
        return
    wire.send("loaded", targets=[target.name for target in targets])
    for target in targets:
        if target.name not in spec["skip"]:
            look(target)


def find(spec: dict[str, Any], wire: Wire, prober: Prober) -> list[Target]:
    kind, what = spec["kind"], spec["what"]
    if kind == "inputs":
        return inputs.from_function(what)
    if kind == "file":
        return inputs.from_file(what)
    if kind == "run":
        from . import harvest

        return harvest.targets(what, spec, wire)
    if kind == "program":
        from . import harvest

        harvest.live(what, spec, wire, prober)
        return []
    from . import made_up

    return made_up.targets(what, spec, lambda text: wire.send("note", text=text))
