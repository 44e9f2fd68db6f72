"""The jobs a child can be given: each finds targets, then probes them."""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from typing import Any

import torch
import torch._dynamo.guards

from . import inputs, without_gpu
from .probes import Prober, dynamo_as_before, failure, seed
from .result_pipe import Wire
from .targets import Later, Target


def do(spec: dict[str, Any], wire: Wire) -> None:
    """Do the job of the specification; whatever goes wrong is sent, never raised.

    `only` names the targets to look at, of those that are found; with `list` none is, they are only told.
    """
    leave_untimed()
    if not spec.get("time"):
        hand_graphs_to(spec["backend"])
    for name in spec.get("captures", ()):
        if hasattr(torch._dynamo.config, name):
            setattr(torch._dynamo.config, name, True)
    prober = Prober(spec, wire)
    look = _looking(prober, spec, wire)
    wire.send("load")
    try:
        torch.empty(0, device=spec["device"])
    except Exception as error:
        wire.send(
            "bad_inputs", message=f"--device {spec['device']}: torch cannot use it here ({short(error)})"
        )
        return
    seed(0)  # models and inputs are the same from child to child
    without_gpu.install(spec["roots"], lambda text: wire.send("note", text=text))
    try:
        targets = find(spec, wire, prober)
    except inputs.BadInputs as error:
        wire.send("bad_inputs", message=str(error))
        return
    except BaseException as error:
        wire.send("load_failed", error=failure(error, spec["roots"]))
        return
    known = torch._dynamo.list_backends(None)
    if targets and spec["backend"] not in known:  # the code may have added one
        message = f"--backend {spec['backend']}: torch has none of this name, but {', '.join(sorted(known))}"
        wire.send("bad_inputs", message=message)
        return
    names = [target.name for target in targets]
    if spec.get("list"):
        wire.send("listed", targets=names, later=any(isinstance(target, Later) for target in targets))
        return
    only = spec.get("only") or (spec.get("observe") or spec.get("time") or {}).get("only") or names
    for gone in (
        []
        if any(spec.get(other) for other in ("observe", "time", "recount", "cast"))
        else sorted({*only} - {*names})
    ):
        wire.send("bad_inputs", message=f"`{spec['what']}` has no target `{gone}` any more")
    wire.send("loaded", targets=[name for name in names if name in only])
    for target in targets:
        if target.name in only and target.name not in spec["skip"]:
            with dynamo_as_before():
                made = target if isinstance(target, Target) else made_now(target, spec, wire)
                if made is not None:
                    with made.around():
                        look(made)
                del made  # before the next one is made


def _looking(prober: Prober, spec: dict[str, Any], wire: Wire) -> Callable[[Target], None]:
    """What is done with each target. What that has to change in the process is changed here, before code is loaded."""
    if spec.get("observe") or spec.get("overlay"):
        from . import overlay

        overlay.install(spec["overlay"])
    if spec.get("observe"):
        from . import compare, entropy

        # What cuBLAS has to be told before it is loaded, should deterministic algorithms be asked for.
        os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
        entropy.install()
        look: Callable[[Target], None] = compare.Observer(prober, spec, wire).observe
        if spec["observe"]["calm"]:
            from . import dropout_off

            dropout_off.install()
            look = dropout_off.holding(look)
        return look
    if spec.get("time"):
        from . import timing

        return timing.Timer(prober, spec, wire).time
    if spec.get("cast"):
        return prober.in_cast
    if spec.get("recount"):
        return prober.recount if spec["recount"]["calls"] else lambda target: None
    return prober.probe


def made_now(target: Later, spec: dict[str, Any], wire: Wire) -> Target | None:
    """The target, as it is made in every child; None where that fails, which is sent."""
    wire.send("making", name=target.name)
    seed(0)
    try:
        made = target.make()
        if made is not None:
            return made
    except inputs.BadInputs as error:
        wire.send("bad_inputs", message=str(error))
    except BaseException as error:
        wire.send("load_failed", error=failure(error, spec["roots"]))
    wire.send("target_done", name=target.name)
    return None


def leave_untimed() -> None:
    """Spare each compilation the timing of its new guards, which flushes the processor's caches (some 50 ms), and the
    record of what it took, with a copy of all settings.

    Dynamo (2.6 to 2.15) only logs the times and puts them among its metrics; the guards were checked before.
    """
    if hasattr(torch._dynamo.guards, "profile_guard_manager"):
        torch._dynamo.guards.profile_guard_manager = lambda *arguments: 0.0
    if hasattr(torch._dynamo.utils, "record_compilation_metrics"):
        torch._dynamo.utils.record_compilation_metrics = lambda *arguments: None


def hand_graphs_to(backend: str) -> None:
    """What the code itself compiles with Inductor goes to the chosen backend, too: a part that a target calls would
    take seconds for each of its graphs, in every probe, and eager runs would not be eager."""
    # What torch.compile makes of backend="inductor".
    inductor = getattr(torch, "_TorchCompileInductorWrapper", None)
    if inductor is None or backend == "inductor":
        return

    def compile_graph(self: Any, graph: torch.fx.GraphModule, given: list[Any], **options: Any) -> Any:
        return torch._dynamo.backends.registry.lookup_backend(backend)(graph, given)

    inductor.__call__ = compile_graph
    inductor.get_compiler_config = lambda self: None  # it loads Inductor


def short(error: Exception) -> str:
    return str(error).split("\n", 1)[0][:120]


def find(spec: dict[str, Any], wire: Wire, prober: Prober) -> Sequence[Target | Later]:
    kind, what = spec["kind"], spec["what"]

    def tell(name: str, why: str, example: str = "") -> None:
        wire.send("unmade", name=name, why=why, example=example)

    def lack(packages: list[str], left_out: dict[str, str]) -> None:
        wire.send("lacking", packages=packages)
        for name, why in left_out.items():
            wire.send("note", text=f"what uses {name} is not run: importing that raised {why}")

    if kind == "inputs":
        return inputs.from_function(what)
    if kind == "file":
        return inputs.from_file(what, tell, lack)
    if kind == "run":
        from . import harvest

        return harvest.targets(what, spec, wire)
    if kind == "program":
        from . import harvest

        harvest.live(what, spec, wire, prober)
        return []
    from . import made_up

    made_up.leave_the_network_alone()
    made_up.give_numpy_its_old_names(lambda text: wire.send("note", text=text))
    besides = spec.get("given", ()), spec.get("names", ())
    return made_up.targets(what, tell, lack, *besides, seconds=spec["timeout"])
