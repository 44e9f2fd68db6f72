# ruff: noqa
"""torch.compile that compiles nothing, or not what its author thinks."""

import copy
import io
import pickle

import torch
from torch import nn


class _Model(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)

    def generate(self, x):
        return self.linear(x) * 2


class _CompilesItself(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def prepare(self, compile):
        self = compile(self)

    def forward(self, x):
        return self.linear(x)


def _graphs(compile, run):
    run()
    return f"{compile.graphs()} graphs"


_x = torch.ones(2, 4)


def result_discarded_module(compile):
    """`torch.compile(model)` whose result is thrown away"""
    model = _Model()
    compile(model)
    return "1 graphs", _graphs(compile, lambda: model(_x))


def result_discarded_function(compile):
    """`torch.compile(function)` whose result is thrown away"""

    def f(x):
        return x * 2

    compile(f)
    return "1 graphs", _graphs(compile, lambda: f(_x))


def result_used(compile):
    """`model = torch.compile(model)`"""
    model = _Model()
    model = compile(model)
    return "1 graphs", _graphs(compile, lambda: model(_x))


def self_rebound(compile):
    """`self = torch.compile(self)` in a method"""
    model = _CompilesItself()
    model.prepare(compile)
    return "1 graphs", _graphs(compile, lambda: model(_x))


def in_place_compile(compile):
    """`model.compile()`"""
    model = _Model()
    model.compile(backend=compile.backend)
    return "1 graphs", _graphs(compile, lambda: model(_x))


def in_place_compile_result(compile):
    """`model = model.compile()`, which returns None"""
    model = _Model().compile(backend="eager")
    return "a module", "None" if model is None else "a module"


def other_method(compile):
    """a method other than `forward` of a compiled module"""
    model = compile(_Model())
    return "1 graphs", _graphs(compile, lambda: model.generate(_x))


def other_method_compiled(compile):
    """`model.generate = torch.compile(model.generate)`"""
    model = _Model()
    model.generate = compile(model.generate)
    return "1 graphs", _graphs(compile, lambda: model.generate(_x))


def forward_called_directly(compile):
    """`compiled.forward(x)` instead of `compiled(x)`"""
    model = compile(_Model())
    return "1 graphs", _graphs(compile, lambda: model.forward(_x))


def forward_called_directly_in_place(compile):
    """`model.forward(x)` after `model.compile()`"""
    model = _Model()
    model.compile(backend=compile.backend)
    return "1 graphs", _graphs(compile, lambda: model.forward(_x))


def submodule_called(compile):
    """`compiled.linear(x)`, a submodule of a compiled module"""
    model = compile(_Model())
    return "1 graphs", _graphs(compile, lambda: model.linear(_x))


def compiled_before_replaced(compile):
    """a submodule replaced after compiling: the compiled model sees the new one"""
    model = _Model()
    compiled = compile(model)
    compiled(_x)
    model.linear = nn.Linear(4, 4)
    return str(model(_x).sum().item()), str(compiled(_x).sum().item())


def state_dict_prefix(compile):
    """keys of a compiled module's `state_dict()`"""
    return "linear.weight", next(iter(compile(_Model()).state_dict()))


def state_dict_prefix_in_place(compile):
    """keys of `state_dict()` after `model.compile()`"""
    model = _Model()
    model.compile(backend="eager")
    return "linear.weight", next(iter(model.state_dict()))


def state_dict_loaded_plain(compile):
    """a compiled module's `state_dict()` loaded into a plain one with `strict=False`"""
    saved = {k: torch.zeros_like(v) for k, v in compile(_Model()).state_dict().items()}
    model = _Model()
    model.load_state_dict(saved, strict=False)
    return "weights loaded", "weights loaded" if model.linear.weight.abs().sum() == 0 else "nothing loaded"


def named_parameters_prefix(compile):
    """names of a compiled module's parameters (weight decay by name)"""
    return "linear.weight", next(compile(_Model()).named_parameters())[0]


def isinstance_of_class(compile):
    """`isinstance(compiled, Model)`"""
    return "True", str(isinstance(compile(_Model()), _Model))


def class_name(compile):
    """`type(compiled).__name__`"""
    return "_Model", type(compile(_Model())).__name__


def attribute_set_on_wrapper(compile):
    """`compiled.scale = 3` and `model.scale`"""
    model = _Model()
    compile(model).scale = 3
    return "3", str(getattr(model, "scale", "not set"))


def training_mode_set_on_wrapper(compile):
    """`compiled.eval()` and `model.training`"""
    model = _Model()
    compile(model).eval()
    return "False", str(model.training)


def deepcopy_of_compiled(compile):
    """`copy.deepcopy(compiled)` shares no weights"""
    compiled = compile(_Model())
    other = copy.deepcopy(compiled)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    return "0.0", str(other(_x).abs().sum().item())


def pickled(compile):
    """`pickle.dumps(compiled)`"""
    model = torch.compile(_Model(), backend="eager")
    try:
        pickle.dumps(model)
    except Exception as error:
        return "pickled", type(error).__name__
    return "pickled", "pickled"


def saved_whole(compile):
    """`torch.save(compiled)` and `torch.load`"""
    model = torch.compile(_Model(), backend="eager")
    buffer = io.BytesIO()
    try:
        torch.save(model, buffer)
        buffer.seek(0)
        loaded = torch.load(buffer, weights_only=False)
    except Exception as error:
        return "OptimizedModule", type(error).__name__
    return "OptimizedModule", type(loaded).__name__


def no_grad_decorator(compile):
    """`torch.compile` of a function decorated by `torch.no_grad()`: needs its result gradients?"""

    @torch.no_grad()
    def f(x):
        return x * 2

    y = compile(f)(torch.ones(2, requires_grad=True))
    return "False", str(y.requires_grad)


def disabled_by_config(compile):
    """`torch._dynamo.config.disable = True`"""
    with torch._dynamo.config.patch(disable=True):
        f = compile(lambda x: x * 2)
        return "1 graphs", _graphs(compile, lambda: f(_x))


def disabled_by_stance(compile):
    """`torch.compiler.set_stance("force_eager")` left on"""
    f = compile(lambda x: x * 2)
    with torch.compiler.set_stance("force_eager"):
        return "1 graphs", _graphs(compile, lambda: f(_x))


def disabled_by_argument(compile):
    """`torch.compile(f, disable=True)`"""
    f = compile(lambda x: x * 2, disable=True)
    return "1 graphs", _graphs(compile, lambda: f(_x))


def decorated_disable(compile):
    """`torch.compiler.disable` on what is compiled"""

    @torch.compiler.disable
    def f(x):
        return x * 2

    g = compile(f)
    return "1 graphs", _graphs(compile, lambda: g(_x))


def generator_compiled(compile):
    """`torch.compile` of a generator function"""

    def rows(x):
        for k in range(2):
            yield x * k

    f = compile(rows)
    return "1 graphs", _graphs(compile, lambda: list(f(_x)))


def async_compiled(compile):
    """`torch.compile` of an `async def`"""

    async def f(x):
        return x * 2

    def drive():
        try:
            compile(f)(_x).send(None)
        except StopIteration:
            pass

    return "1 graphs", _graphs(compile, drive)


def whole_frame_skipped(compile):
    """a function whose graph break lies in a `try`: nothing is compiled"""

    def f(x):
        try:
            y = x * 2
            print("step")
            return y + 1
        except ValueError:
            return x

    g = compile(f)
    return "1 graphs", _graphs(compile, lambda: g(_x))


def errors_suppressed(compile):
    """`suppress_errors = True`: a backend that fails is not noticed"""

    def broken(graph, inputs):
        raise RuntimeError("backend")

    with torch._dynamo.config.patch(suppress_errors=True):
        f = torch.compile(lambda x: x * 2, backend=broken)
        try:
            f(_x)
        except Exception as error:
            return "an error", "an error"
    return "an error", "no error, runs eagerly"


def limit_reached(compile):
    """the ninth string: it runs eagerly from then on"""
    f = compile(lambda x, text: x * len(text))
    for n in range(12):
        f(_x, "a" * (n + 1))
    return "12 graphs", f"{compile.graphs()} graphs"


def mark_dynamic_on_static(compile):
    """`mark_dynamic` on a dimension that the code makes constant"""

    def f(x):
        return x + torch.ones(2, 4)

    x = torch.ones(2, 4)
    torch._dynamo.mark_dynamic(x, 0)
    try:
        compile(f)(x)
    except Exception as error:
        return "compiles", type(error).__name__
    return "compiles", "compiles"


def disable_discarded(compile):
    """`torch.compiler.disable(function)` whose result is thrown away: is the function traced?"""
    traced = []

    def inner(x):
        traced.append(torch.compiler.is_compiling())
        return x * 2

    torch.compiler.disable(inner)
    compile(lambda x: inner(x) + 1)(_x)
    return "[False]", str(traced)


def disable_on_plain_class(compile):
    """`@torch.compiler.disable` on a class that is no module: is its method traced?"""
    traced = []

    @torch.compiler.disable
    class Helper:
        def double(self, x):
            traced.append(torch.compiler.is_compiling())
            return x * 2

    helper = Helper()
    compile(lambda x: helper.double(x) + 1)(_x)
    return "[False]", str(traced)


def compiled_forward_copied(compile):
    """`copy.deepcopy` after `model.forward = torch.compile(model.forward)`: weights of its own"""
    model = _Model()
    model.forward = compile(model.forward)
    other = copy.deepcopy(model)
    with torch.no_grad():
        for p in other.parameters():
            p.zero_()
    return "own weights", "own weights" if other(_x).abs().sum() == 0 else "the original's weights"


def in_place_copied(compile):
    """`copy.deepcopy` after `model.compile()`"""
    model = _Model()
    model.compile(backend=compile.backend)
    other = copy.deepcopy(model)
    return "1 graphs", _graphs(compile, lambda: other(_x))


def in_place_saved(compile):
    """`torch.save` and `torch.load` of a module after `model.compile()`"""
    model = _Model()
    model.compile(backend=compile.backend)
    buffer = io.BytesIO()
    torch.save(model, buffer)
    buffer.seek(0)
    loaded = torch.load(buffer, weights_only=False)
    return "1 graphs", _graphs(compile, lambda: loaded(_x))


def under_vmap(compile):
    """`torch.vmap(torch.compile(f))`"""
    return "1 graphs", _graphs(compile, lambda: torch.vmap(compile(lambda x: x * 2))(_x))


def under_grad(compile):
    """`torch.func.grad(torch.compile(f))`"""
    return "1 graphs", _graphs(compile, lambda: torch.func.grad(compile(lambda x: (x * 2).sum()))(_x))


def vmap_compiled(compile):
    """`torch.compile(torch.vmap(f))`"""
    return "1 graphs", _graphs(compile, lambda: compile(torch.vmap(lambda x: x * 2))(_x))


def children_of_compiled(compile):
    """names of `named_children()` of a compiled module"""
    return "linear", " ".join(name for name, _ in compile(_Model()).named_children())


def failure_in_try(compile):
    """a backend that fails, in `try: torch.compile(f) except Exception`"""

    def broken(graph, inputs):
        raise RuntimeError("backend")

    try:
        f = torch.compile(lambda x: x * 2, backend=broken)
        said = "not caught"
    except Exception:
        said = "caught"
    try:
        f(_x)
    except Exception:
        pass
    return "caught", said


def moved_after(compile):
    """`torch.compile(model).to(...)` is compiled"""
    model = compile(_Model()).to("cpu").eval()
    return "1 graphs", _graphs(compile, lambda: model(_x))


def loaded_after(compile):
    """`load_state_dict` into the original after the first compiled call"""
    model = _Model()
    compiled = compile(model)
    compiled(_x)
    model.load_state_dict({k: torch.zeros_like(v) for k, v in model.state_dict().items()})
    return "0.0", str(compiled(_x).abs().sum().item())
