"""torch.compile itself: what compiles, what is kept out of a graph, and what asks whether it is being compiled."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.model import Library
from pt2lint.static.values import (
    UNKNOWN,
    Class,
    Ext,
    Func,
    Instance,
    Partial,
    Seq,
    Value,
    Wrapped,
    is_none,
    truth,
)

LEAVES = "torch._dynamo.eval_frame._NullDecorator"


def compile(call: Call) -> Value:
    """torch.compile(model), or, of its other arguments alone, a decorator."""
    target = call.args[0] if call.args else call.kwargs.get("model")
    leaves = truth(call.kwargs.get("disable", UNKNOWN)) is True
    if target is None or is_none(target) is True:
        if leaves:
            return Ext(LEAVES)
        decorator = Ext("torch.compile")
        return Partial(decorator, [], call.kwargs) if call.kwargs else decorator
    return target if leaves else call.compile(target)


def leave(call: Call) -> Value:
    """What `torch.compile(disable=True)` returns gives back what it is given; from compiled code that is traced."""
    return call.args[0] if call.args else UNKNOWN


def optimize(call: Call) -> Value:
    """torch._dynamo.optimize(backend): what compiles the callable that it is given next."""
    return Ext("torch.compile")


def disable(call: Call) -> Value:
    return Wrapped("disabled", call.args[0]) if call.args else Ext("torch.compiler.disable")


def opaque(call: Call) -> Value:
    if call.args and isinstance(call.args[0], Func):
        return Wrapped("opaque", call.args[0])
    return Ext("torch.library.")


SCRIPTED = "torch.jit.ScriptModule"


def script(call: Call) -> Value:
    """Dynamo traces the function that was scripted or traced by torch.jit (so on torch 2.6 to 2.15), but no module."""
    scripted = call.args[0] if call.args else UNKNOWN
    if isinstance(scripted, Func):
        return scripted
    module = isinstance(scripted, Seq) or (
        isinstance(scripted, Instance) and (scripted.cls is None or call.is_module_class(Class(scripted.cls)))
    )
    return Instance(None, SCRIPTED, True) if module else opaque(call)


def load_script(call: Call) -> Value:
    return Instance(None, SCRIPTED, True)


def load_extension(call: Call) -> Value:
    """What torch builds from C++ and loads: a module of compiled functions."""
    return Ext("torch.utils.cpp_extension.loaded")


ASKING = ("is_compiling", "is_dynamo_compiling")
ASKS = (
    "torch.compiler.is_compiling",
    "torch.compiler.is_dynamo_compiling",
    "torch._dynamo.is_compiling",
    "torch._utils.is_compiling",
)
# torch.compile is a function: what people look for there is in torch.compiler,
OF_COMPILER = (
    "allow_in_graph",
    "assume_constant_result",
    "cudagraph_mark_step_begin",
    "disable",
    *ASKING,
    "list_backends",
    "reset",
    "set_stance",
)
# and what they look for in torch.compiler, some of it in torch._dynamo alone.
OF_DYNAMO = ("explain", "graph_break", "mark_dynamic", "mark_static", "mark_unbacked", "maybe_mark_dynamic")
# What says something of a function to the compiler, measured on 2.6, 2.9, 2.13 and 2.15.
TELLS = ("disable", "allow_in_graph", "assume_constant_result")
LOADS = ("torch.utils.cpp_extension.load", "torch.utils.cpp_extension.load_inline")
MARKERS = ("torch._dynamo", "torch._dynamo.decorators")
# What they decorate is put into the graph as it is. A leaf function runs at each call (measured on 2.13 and 2.15); the
# others are traced by what compiles the graph: they print once, and end the graph where values decide.
IN_GRAPH = tuple(
    f"{home}.{name}"
    for home in ("torch.compiler", *MARKERS)
    for name in ("allow_in_graph", "nonstrict_trace", "leaf_function")
)

LIBRARY = Library(
    "torch.compile",
    given="tensors",
    closed=True,
    objects=True,
    # As an attribute (of what it is, its file's imports tell), as text (`getattr(torch, "compile")`), as a setting.
    mentions=(
        r"\.\s*compile\b",
        r"\bcompiler\s*\.\s*disable\b",
        "'compile['\"]",
        '"compile[\'"]',
        r"_dynamo\b",
        "TORCHDYNAMO",
        "TORCH_COMPILE_",
        "TORCH_LOGS",
        "set_stance",
    ),
    returns={
        **dict.fromkeys(ASKS, "true"),
        "torch.compiler.is_exporting": "false",
        "torch._dynamo.config.patch": "instance torch._dynamo.config.patch",
    },
    knows={"torch._dynamo", "torch._inductor"}.__contains__,
    modules={SCRIPTED: "any"},
    breaks={
        f"{home}.{name}": "it tells the compiler something, which has to be said before the compiled code runs"
        for home in ("torch.compiler", "torch._dynamo")
        for name in TELLS
    },
    roles={
        "scripted": (SCRIPTED,),
        "compiles": ("torch.compile", "torch.compiler.compile", "torch._dynamo.optimize"),
        "holds settings": (
            "torch._dynamo.config",
            "torch._functorch.config",
            "torch._inductor.config",
            "torch._inductor.config.*",
        ),
        # transformers' and others', which pass on what torch says.
        "asks whether compiled": (*ASKS, "*.is_torchdynamo_compiling", *(f"*.{name}" for name in ASKING)),
        "not there": (
            *(f"torch.compile.{name}" for name in (*OF_COMPILER, *OF_DYNAMO)),
            *(f"torch.compiler.{name}" for name in OF_DYNAMO),
        ),
        "disables": (
            "torch.compiler.disable",
            "torch._dynamo.disable",
            "torch._disable_dynamo",
            "torch._dynamo.eval_frame.disable",
        ),
        "opaque": (
            *(f"{name}*" for name in IN_GRAPH),
            "torch.compiler.assume_constant_result*",
            "torch._dynamo.assume_constant_result*",
            "torch.compiler.substitute_in_graph*",
            "torch.library.*",
        ),
        "scripts a method": ("torch.jit.script_method*",),
        "defines operators": ("torch.library.custom_op", "torch.library.triton_op"),
        "defines untraced operators": ("torch.library.custom_op",),
        "registers fakes": ("torch.library.register_fake", "torch.library.impl_abstract"),
        "traces modules": ("torch.jit.script", "torch.jit.trace", "torch.fx.symbolic_trace"),
        "marks sizes before": tuple(
            f"{m}.{n}" for m in MARKERS for n in ("mark_dynamic", "maybe_mark_dynamic")
        ),
        "marks sizes": tuple(f"{m}.{n}_*" for m in MARKERS for n in ("mark", "maybe_mark")),
    },
    handlers={
        **dict.fromkeys(LOADS, load_extension),
        "torch.compile": compile,
        "torch.compiler.compile": compile,
        LEAVES: leave,
        "torch._dynamo.optimize": optimize,
        "torch._dynamo.optimize_assert": optimize,
        "torch.compiler.disable": disable,
        "torch._dynamo.disable": disable,
        **dict.fromkeys(("torch.jit.script", "torch.jit.trace", "torch.jit.freeze"), script),
        "torch.jit.load": load_script,
        "torch.library.custom_op": opaque,
        **dict.fromkeys(IN_GRAPH, opaque),
        "torch.compiler.assume_constant_result": opaque,
        "torch._dynamo.assume_constant_result": opaque,
    },
    measured="matrix/constructs/python_code.py, matrix/silent/compiling.py",
)
