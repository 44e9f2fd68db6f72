# ruff: noqa
"""Parts of torch that few people use, entry by entry of PyTorch's registry of graph breaks."""

import functools
import threading

import torch
import torch.utils._pytree as pytree
from torch import Tensor, nn

try:
    import numpy as np
except ImportError:
    np = None


class _Tagged(Tensor):
    """A subclass that uses `__torch_function__` as it comes."""


class _Overrides(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        return super().__torch_function__(func, types, args, kwargs or {})

    def add(self, other):
        return torch.sub(self, other)

    @property
    def shape(self):
        return super().shape

    scale = functools.cached_property(lambda self: 2)
    odd = functools.partial(int, 3)
    is_cuda = functools.partial(int, 3)


class _Refuses(Tensor):
    @classmethod
    def __torch_function__(cls, func, types, args=(), kwargs=None):
        if func is torch.add:
            return NotImplemented
        return super().__torch_function__(func, types, args, kwargs or {})


class _WithNew(Tensor):
    @staticmethod
    def __new__(cls, data, scale):
        return Tensor._make_subclass(cls, data)

    def __init__(self, data, scale):
        self.scale = scale


class _Scripted(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)

    def forward(self, x):
        return self.linear(x)


class _Bare(nn.Module):
    def __init__(self):
        pass

    def forward(self, x):
        return x + 1


class _CountsCalls(nn.Module):
    def __init__(self):
        super().__init__()
        self.linear = nn.Linear(4, 4)
        self.names = {}

    def forward(self, x):
        self.extra = nn.ReLU()
        return x + len(list(self.parameters()))


class _Boxed:
    def __init__(self, value):
        self.value = value


class _Registered:
    def __init__(self, value):
        self.value = value


pytree.register_pytree_node(
    _Registered, lambda r: ((r.value,), None), lambda values, _: _Registered(values[0])
)

_scripted = torch.jit.script(_Scripted().requires_grad_(False))
_traced = torch.jit.trace(_Scripted().requires_grad_(False), torch.ones(4, 4))
_list = nn.ModuleList([nn.ReLU(), nn.Tanh()])
_dict = nn.ModuleDict({"a": nn.ReLU(), "b": nn.Tanh()})
_parameters = nn.ParameterList([nn.Parameter(torch.ones(4)), nn.Parameter(torch.zeros(4))]).requires_grad_(
    False
)
_linear = nn.Linear(4, 4).requires_grad_(False)
_weight = torch.ones(4, 4, requires_grad=True)
_half = torch.ones(4, 4)
_generator = torch.Generator()
_subclass = torch.ones(4, 4).as_subclass(_Tagged)
_overriding = torch.ones(4, 4).as_subclass(_Overrides)
_refusing = torch.ones(4, 4).as_subclass(_Refuses)
_jagged = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)], layout=torch.jagged)
_strided = torch.nested.nested_tensor([torch.ones(2), torch.ones(3)])
_sparse = torch.eye(3).to_sparse()
_local = threading.local()
_local.scale = 2
_removable = _linear.register_forward_hook(lambda *a: None)
_handle = None
_event = torch.Event("cpu") if hasattr(torch, "Event") else None
_nonstrict = getattr(torch._dynamo, "nonstrict_trace", None)
_array = np and np.array([1.0, 2.0])
_objects = np and np.array([{}, []], dtype=object)
_texts = np and np.array(["a", "b"])
_record = np and np.zeros(2, dtype=[("a", float)])


@torch._dynamo.assume_constant_result
def _constant(value):
    return 2


def _in_graph(x):
    return x + 1


torch._dynamo.allow_in_graph(_in_graph)


def as_subclass_parameter(x: Tensor):
    """`x.as_subclass(nn.Parameter)`"""
    return x.as_subclass(nn.Parameter) + 1


def subclass_made_with_arguments(x: Tensor):
    """`C(x, 2)` of a tensor subclass with `__new__`"""
    return _WithNew(x, 2) + 1


def subclass_made_of_list(x: Tensor):
    """`C([1.0, 2.0])` of a tensor subclass"""
    return _Tagged([1.0, 2.0]).sum() + x


def subclass_method_overridden(x: Tensor):
    """An overridden method of a tensor subclass"""
    return _overriding.add(x)


def subclass_attribute_odd(x: Tensor):
    """An overridden attribute of a tensor subclass that is a partial"""
    return x + _overriding.is_cuda()


def subclass_grad(x: Tensor):
    """`.grad` and `.grad_fn` of a tensor subclass"""
    return x + (_overriding.grad is None) + (_overriding.grad_fn is None)


def subclass_refuses(x: Tensor):
    """`__torch_function__` returns NotImplemented, in a `try`"""
    try:
        return torch.add(_refusing, x)
    except TypeError:
        return x


def function_mode(x: Tensor):
    """A TorchFunctionMode of one's own"""
    with _Mode():
        return x + 1


class _Mode(torch.overrides.TorchFunctionMode):
    def __torch_function__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def dispatch_mode(x: Tensor):
    """A TorchDispatchMode of one's own"""
    with _Dispatch():
        return x + 1


from torch.utils._python_dispatch import TorchDispatchMode


class _Dispatch(TorchDispatchMode):
    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        return func(*args, **(kwargs or {}))


def tensor_random(x: Tensor):
    """`x.random_()`"""
    return x.clone().random_() * 0


def tensor_uniform_from(x: Tensor):
    """`x.uniform_(from=0, to=1)` by keyword"""
    return x.clone().uniform_(**{"from": 0, "to": 1}) * 0


def tensor_set_two(x: Tensor):
    """`x.set_(storage, offset, size, stride)`"""
    y = x.clone()
    y.set_(y.untyped_storage(), 0, (2,), (1,))
    return y


def tensor_resize_as(x: Tensor):
    """`x.resize_as_(y)`"""
    return x.clone().resize_as_(x[:2])


def tensor_wrong_arguments(x: Tensor):
    """`torch.sum(x, nothing=1)`, in a `try`"""
    try:
        return torch.sum(x, nothing=1)
    except TypeError:
        return x + 1


def tensor_data_dtype(x: Tensor):
    """`x.data = x.data.double()`"""
    x.data = x.data.double()
    return x + 1


def tensor_retain_grad(x: Tensor):
    """`y.retain_grad()`"""
    y = _weight * 2
    y.retain_grad()
    return x + y


def tensor_inplace_view(x: Tensor):
    """`x.unsqueeze_(0)` of an input through torch.ops"""
    torch.ops.aten.unsqueeze_(x, 0)
    return x + 1


def tensor_inplace_view_function(x: Tensor):
    """`torch.t_(x)`-like functions on an input"""
    return torch.squeeze_copy(x) + torch.Tensor.t_(x)


def tensor_device_mismatch(x: Tensor):
    """Tensors of two devices, in a `try`"""
    try:
        return x + torch.ones(4, 4, device="meta")
    except RuntimeError:
        return x + 1


def out_wrong_shape(x: Tensor):
    """`out=` of another shape"""
    out = torch.empty(0)
    return torch.add(x, 1, out=out)


def out_transposed(x: Tensor):
    """`out=` a transposed tensor"""
    out = torch.empty(4, 4).t()
    return torch.add(x, 1, out=out)


def out_pair(x: Tensor):
    """`out=` a pair of wrong shapes"""
    values, indices = torch.empty(0), torch.empty(0, dtype=torch.long)
    return torch.sort(x, out=(values, indices))[0]


def parameter_of_list(x: Tensor):
    """`nn.Parameter(None)`"""
    return x + (nn.Parameter().numel() == 0)


def parameter_flag_of_tensor(x: Tensor, m: Tensor):
    """`nn.Parameter(x, requires_grad=tensor)`"""
    return nn.Parameter(x, requires_grad=bool(m.any())) * 2


def nested_strided(x: Tensor):
    """`torch.nested.nested_tensor([...])`, strided"""
    return torch.nested.nested_tensor([x[0], x[1]], layout=torch.strided).to_padded_tensor(0.0)


def sparse_made_outside(x: Tensor):
    """A sparse tensor made outside"""
    return x.sum() + _sparse.to_dense()


def script_module(x: Tensor):
    """A `torch.jit.script`ed module is called"""
    return _scripted(x)


def trace_module(x: Tensor):
    """A `torch.jit.trace`d module is called"""
    return _traced(x)


def module_list_by_tensor(x: Tensor, i: Tensor):
    """`modules[tensor]` of a list made outside"""
    return _list[i[1]](x)


def parameter_list_by_tensor(x: Tensor, i: Tensor):
    """`parameters[tensor]`"""
    return x + _parameters[i[1]]


def module_half(x: Tensor):
    """`module.double()`"""
    return _linear.double()(x.double()).float() + _linear.float()(x)


def module_register_parameter(x: Tensor):
    """`module.register_parameter` inside"""
    _linear.register_parameter("more", nn.Parameter(torch.ones(4)))
    return x + _linear.more


def module_hook_removed(x: Tensor):
    """`handle.remove()` of a hook added outside"""
    _removable.remove()
    return x + 1


def module_hook_global(x: Tensor):
    """A tensor hook's handle is kept in a global"""
    global _handle
    y = _weight * 2
    _handle = y.register_hook(lambda g: g * 2)
    return y + x


def module_hook_branches(x: Tensor):
    """A tensor hook that branches on a stride"""
    y = _weight * 2
    y.register_hook(lambda g: g * 2 if g.is_contiguous() else g)
    return y + x


def generator_object_made(x: Tensor):
    """`torch.Generator()` made inside"""
    return x + torch.rand(4, generator=torch.Generator()) * 0


def generator_object_seeded(x: Tensor):
    """`generator.manual_seed(0)`"""
    _generator.manual_seed(0)
    return x + 1


def generator_object_given(x: Tensor):
    """`torch.rand(4, generator=generator)`"""
    return x + torch.rand(4, generator=_generator) * 0


def script_function_made(x: Tensor):
    """`torch.jit.script(f)` made inside"""
    return torch.jit.script(_in_graph)(x)


def compile_decorated_inside(x: Tensor):
    """`@torch.compile(backend="eager")` inside"""

    @torch.compile(backend="eager")
    def inner(y):
        return y + 1

    return inner(x)


def disable_inside(x: Tensor):
    """`torch.compiler.disable(f)` inside"""
    return torch.compiler.disable(lambda y: y + 1)(x)


def dynamo_skip_frame(x: Tensor):
    """`torch._dynamo.skip_frame()`"""
    torch._dynamo.skip_frame()
    return x + 1


def dynamo_step_unsupported(x: Tensor):
    """`torch._dynamo.step_unsupported()`"""
    y = x + 1
    torch._dynamo.step_unsupported()
    return y * 2


def dynamo_comptime(x: Tensor):
    """`comptime.graph_break()`"""
    from torch._dynamo.comptime import comptime

    comptime.graph_break()
    return x + 1


def dynamo_mark_dynamic(x: Tensor):
    """`torch._dynamo.mark_dynamic` inside"""
    torch._dynamo.mark_dynamic(x, 0)
    return x + 1


def dynamo_constant_result_object(x: Tensor):
    """An `assume_constant_result` function is given a list of tensors"""
    return x + _constant([x + 1])


def dynamo_constant_result_function(x: Tensor):
    """An `assume_constant_result` function is given a function"""
    return x + _constant(lambda: x)


def dynamo_nonstrict(x: Tensor):
    """A `nonstrict_trace`d function is given an object"""
    return _nonstrict(_boxed_plus)(_Boxed(x)) if _nonstrict else _boxed_plus(_Boxed(x))


def _boxed_plus(box):
    return box.value + 1


_nonstrict_boxed = _nonstrict(_boxed_plus) if _nonstrict else _boxed_plus
_nonstrict_object = _nonstrict(lambda x: _Boxed(x)) if _nonstrict else _Boxed


def dynamo_nonstrict_result(x: Tensor):
    """A function under `nonstrict_trace` returns an object"""
    return _nonstrict_object(x).value + 1


@torch._dynamo.allow_in_graph
def _allowed_number(x):
    return "a" if x.dim() == 0 else 3.0


@torch._dynamo.allow_in_graph
def _allowed_text(x):
    return "abc"


def check_message_of_method(x: Tensor):
    """`torch._check(condition, function made outside)`"""
    torch._check(x.dim() == 2, _message)
    return x + 1


def _message():
    return "a"


def check_tensor_all(x: Tensor):
    """`torch._check_tensor_all(mask)`"""
    torch._check_tensor_all(x > -5)
    return x + 1


def get_device_module_odd(x: Tensor):
    """`torch.get_device_module("nothing")`, in a `try`"""
    try:
        torch.get_device_module("nothing")
    except RuntimeError:
        return x + 1
    return x


def accelerator_stream(x: Tensor):
    """`torch.accelerator.current_stream()`, in a `try`"""
    try:
        torch.accelerator.current_stream("nothing")
    except (RuntimeError, AttributeError):
        return x + 1
    return x


def event_method(x: Tensor):
    """`torch.Event` made on the CPU, in a `try`"""
    try:
        torch.Event("cpu").elapsed_time(None)
    except (RuntimeError, TypeError, AttributeError):
        return x + 1
    return x


def profiler_object_returned(x: Tensor):
    """A profiler is returned"""
    return x + 1, torch.profiler.profile()


def annotate_break(x: Tensor):
    """A break in `torch.fx.traceback.annotate`"""
    with torch.fx.traceback.annotate({"a": 1}):
        x = x + 1
        print("a")
    return x


def no_grad_enter_called(x: Tensor):
    """`torch.no_grad().__enter__()`"""
    context = torch.no_grad()
    context.__enter__()
    y = x + 1
    context.__exit__(None, None, None)
    return y


def sdpa_params(x: Tensor):
    """`torch.backends.cuda.SDPAParams`"""
    q = x.view(1, 1, 4, 4)
    params = torch.backends.cuda.SDPAParams(q, q, q, None, 0.0, False, False)
    return x + torch.backends.cuda.can_use_flash_attention(params)


def deterministic_warn_only(x: Tensor):
    """`torch.use_deterministic_algorithms(False, warn_only=True)`"""
    torch.use_deterministic_algorithms(False, warn_only=True)
    return x + 1


def default_dtype_set(x: Tensor):
    """`torch.set_default_dtype(torch.float32)`"""
    torch.set_default_dtype(torch.float32)
    return x + 1


def numpy_method(x: Tensor):
    """`array.tobytes()`"""
    return x + len(x.numpy().tobytes())


def numpy_flags(x: Tensor):
    """`array.flags`"""
    return x + bool(x.numpy().flags["C_CONTIGUOUS"])


def numpy_version(x: Tensor):
    """`array.__version__`, in a `try`"""
    try:
        return x + len(x.numpy().__version__)
    except AttributeError:
        return x + 1


def numpy_as_objects(x: Tensor):
    """`array.astype(object)`"""
    return x + len(x.numpy().astype(object))


def numpy_of_objects(x: Tensor):
    """An array of objects made outside"""
    return x + len(_objects)


def numpy_of_texts(x: Tensor):
    """An array of texts made outside"""
    return x + len(_texts[0])


def numpy_record(x: Tensor):
    """A structured array made outside"""
    return x + _record["a"].sum()


def numpy_info(x: Tensor):
    """`np.finfo(array.dtype)`"""
    return x + np.finfo(x.numpy().dtype).eps


def numpy_function_method(x: Tensor):
    """`np.add.reduce(array)`"""
    return x + np.add.reduce(x.numpy()).sum()


def numpy_vectorize(x: Tensor):
    """`np.vectorize(abs)(array)`"""
    return x + torch.from_numpy(np.vectorize(abs)(_array)).sum()


def size_by_tensor(x: Tensor, i: Tensor):
    """`x.shape[tensor]`"""
    return x + x.shape[i[1]]


def vmap_branch(x: Tensor):
    """`torch.vmap` over a function that breaks"""

    def inner(row):
        torch._dynamo.graph_break()
        return row + 1

    return torch.vmap(inner)(x)


def op_without_meta(x: Tensor):
    """A custom operator without a fake implementation"""
    return torch.ops.pt2lint_matrix.plain(x)


_library = torch.library.Library("pt2lint_matrix", "DEF")
_library.define("plain(Tensor x) -> Tensor")
_library.impl("plain", lambda x: x + 1, "CPU")
_library.define("rows(Tensor x) -> Tensor")
_library.impl("rows", lambda x: x[x > 0], "CPU")
_library.define("many(Tensor x) -> Tensor")
_library.define("many.other(Tensor x, int y) -> Tensor")
_library.impl("many", lambda x: x + 1, "CompositeImplicitAutograd")


def op_packet(x: Tensor):
    """An overloaded custom operator called by its packet, wrongly, in a `try`"""
    try:
        return torch.ops.pt2lint_matrix.many(x, "a")
    except (RuntimeError, TypeError):
        return torch.ops.pt2lint_matrix.many(x)


def fx_wrapped(x: Tensor):
    """`torch.fx.symbolic_trace(f)` inside"""
    return torch.fx.symbolic_trace(_in_graph)(x)


def export_inside(x: Tensor):
    """`torch.export.export` inside"""
    torch.export.export(_linear, (x,))
    return x + 1


@torch.library.custom_op("pt2lint_matrix::doubled", mutates_args=())
def _doubled(x: Tensor) -> Tensor:
    return x * 2


@_doubled.register_fake
def _(x):
    return torch.empty_like(x)


class _Fixed:
    def __init__(self, value):
        self.value = value

    def __eq__(self, other):
        return isinstance(other, _Fixed) and self.value == other.value

    def __hash__(self):
        return hash(self.value)


if hasattr(pytree, "register_constant"):
    pytree.register_constant(_Fixed)

_elsewhere = {"__name__": "elsewhere"}
exec("def keep(y):\n    global handle\n    handle = y.register_hook(lambda g: g)\n    return y", _elsewhere)
_keep = _elsewhere["keep"]
_fixed_plus = (
    _nonstrict(lambda x, fixed: x + fixed.value) if _nonstrict else (lambda x, fixed: x + fixed.value)
)
_optimizer = torch.optim.SGD([_weight], lr=0.0)
_counted_list = []


def tensor_real_assigned(x: Tensor):
    """`y.real = tensor`"""
    y = x + 1
    y.real = x
    return y


def tensor_hook_kept_elsewhere(x: Tensor):
    """A tensor hook's handle is kept in another module's global"""
    return _keep(_weight * 2) + x


def nonstrict_constant_made(x: Tensor):
    """A function under `nonstrict_trace` is given a registered constant made inside"""
    return _fixed_plus(x, _Fixed(2))


def ntuple_of_object(x: Tensor):
    """`torch.nn.modules.utils._pair(object)`"""
    from torch.nn.modules.utils import _pair

    return x + len(_pair(_linear))


def nested_of_one_tensor(x: Tensor):
    """`torch.nested.nested_tensor(tensor)`"""
    if not torch.compiler.is_compiling():
        return x
    return torch.nested.nested_tensor(x, layout=torch.jagged)


def get_device_module_too_many(x: Tensor):
    """`torch.get_device_module("cpu", 1)`, in a `try`"""
    try:
        torch.get_device_module("cpu", 1)
    except TypeError:
        return x + 1
    return x


def accelerator_stream_too_many(x: Tensor):
    """`torch.accelerator.current_stream(0, 1)`, in a `try`"""
    try:
        torch.accelerator.current_stream(0, 1)
    except (TypeError, AttributeError):
        return x + 1
    return x


def function_mode_popped(x: Tensor):
    """`torch._C._pop_torch_function_stack()` of none"""
    if not torch.compiler.is_compiling():
        return x
    torch._C._pop_torch_function_stack()
    return x + 1


def numpy_info_of_array(x: Tensor):
    """`np.finfo(array)`"""
    if not torch.compiler.is_compiling():
        return x
    return x + np.finfo(x.numpy()).eps


def numpy_to_int(x: Tensor):
    """`int(array)`"""
    return x + int(x.sum().numpy())


def wrap_triton_too_many(x: Tensor):
    """`torch.library.wrap_triton(1, 2)`"""
    if not torch.compiler.is_compiling():
        return x
    return torch.library.wrap_triton(_in_graph, 2)(x)


def guard_scalar_of_tensor(x: Tensor):
    """`torch.fx.experimental.symbolic_shapes.guard_scalar(tensor)`"""
    if not torch.compiler.is_compiling():
        return x
    from torch.fx.experimental.symbolic_shapes import guard_scalar

    return x + guard_scalar(x)


def optimizer_after_mutation(x: Tensor):
    """`optimizer.step()` after an attribute of a parameter was set"""
    _weight.grad = torch.ones_like(_weight)
    _optimizer.step()
    return x + 1


def module_share_memory(x: Tensor):
    """`module.share_memory()`"""
    _linear.share_memory()
    return x + 1


def module_dir(x: Tensor):
    """`dir(module)`"""
    return x + len(dir(_linear)) * 0
