# ruff: noqa
"""Gradients, torch.cond and its kin, entry by entry of PyTorch's registry of graph breaks.

What these operators refuse they refuse without torch.compile too (they compile what they are given), so such a case
asks for it only when it is compiled.
"""

import functools

import torch
from torch import Tensor, nn
from torch.compiler import is_compiling

try:
    from torch._higher_order_ops import associative_scan, map, scan, while_loop
except ImportError:
    from torch._higher_order_ops import while_loop
    from torch._higher_order_ops.associative_scan import associative_scan
    from torch._higher_order_ops.scan import scan
    from torch._higher_order_ops.map import map


class _Base(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2


class _Vjp(_Base):
    @staticmethod
    def vjp(ctx, g):
        return g * 2


class _Jvp(_Base):
    @staticmethod
    def jvp(ctx, g):
        return g * 2


class _PartialForward(_Base):
    forward = staticmethod(functools.partial(lambda scale, ctx, x: x * scale, 2))


class _PartialBackward(_Base):
    backward = staticmethod(functools.partial(lambda scale, ctx, g: g * scale, 2))


class _BuiltinForward(torch.autograd.Function):
    forward = staticmethod(torch.add)

    @staticmethod
    def backward(ctx, g):
        return g


class _ClassmethodForward(torch.autograd.Function):
    @classmethod
    def forward(cls, ctx, x):
        return x * 2

    @classmethod
    def backward(cls, ctx, g):
        return g * 2


class _Dirty(_Base):
    @staticmethod
    def forward(ctx, x):
        x.add_(1)
        ctx.mark_dirty(x)
        return x


class _DirtyNotReturned(_Base):
    @staticmethod
    def forward(ctx, x):
        y = x.clone()
        x.add_(1)
        ctx.mark_dirty(x)
        return y


class _NotDifferentiable(_Base):
    @staticmethod
    def forward(ctx, x):
        y = x * 2
        ctx.mark_non_differentiable(y)
        return y


class _NoMaterialized(_Base):
    @staticmethod
    def forward(ctx, x):
        ctx.set_materialize_grads(False)
        return x * 2


class _KeepsContext(_Base):
    @staticmethod
    def forward(ctx, x):
        _kept.append(ctx)
        return x * 2


class _MoreInputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, y):
        return x * y

    @staticmethod
    def backward(ctx, g):
        return g, g


class _KeywordOnly(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x, *, scale=2):
        return x * scale

    @staticmethod
    def backward(ctx, g):
        return g


class _ReadsInputs(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_backward(x)
        return x * 2 + ctx.needs_input_grad[0]

    @staticmethod
    def backward(ctx, g):
        (x,) = ctx.saved_tensors
        return g * x


class _SavesTwice(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx.save_for_forward(x)
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g


_kept = []
_weight = torch.ones(4, 4, requires_grad=True)
_computed = (torch.ones(4, requires_grad=True) * 2).sum()
_computed_twice = torch.ones(4, requires_grad=True) * 2
_edge = torch.autograd.graph.get_gradient_edge(torch.ones(4, requires_grad=True) * 2)
_linear = nn.Linear(4, 4)
_module_with_state = nn.BatchNorm1d(4)
_counter = {"n": 0}
_list = [1]
_compiled = torch.compile(lambda v: v.sum(), backend="eager")


def function_with_vjp(x: Tensor):
    """An `autograd.Function` with `vjp`"""
    return _Vjp.apply(x.detach().requires_grad_()).detach() if False else _Vjp.apply(x * _weight)


def function_with_jvp(x: Tensor):
    """An `autograd.Function` with `jvp`"""
    return _Jvp.apply(x * _weight)


def function_with_partial_forward(x: Tensor):
    """An `autograd.Function` whose `forward` is a partial"""
    return _PartialForward.apply(x)


def function_with_partial_forward_and_gradient(x: Tensor):
    """An `autograd.Function` whose `forward` is a partial, with a gradient"""
    return _PartialForward.apply(x * _weight)


def function_other_method(x: Tensor):
    """`Function.name`-like: an odd method of an `autograd.Function`"""
    return x + len(_Base.mro())


def function_dirty_not_returned(x: Tensor):
    """`ctx.mark_dirty` of an input that is not returned"""
    if not is_compiling():
        return x
    return _DirtyNotReturned.apply(x * _weight)


def function_not_differentiable(x: Tensor):
    """`ctx.mark_non_differentiable`"""
    return _NotDifferentiable.apply(x * _weight)


def function_keeps_context(x: Tensor):
    """`forward` keeps its `ctx` in a list"""
    return _KeepsContext.apply(x * _weight)


def function_same_input_twice(x: Tensor):
    """`Function.apply(x, x)`"""
    y = x * _weight
    return _MoreInputs.apply(y, y)


def function_keyword(x: Tensor):
    """`Function.apply(x=x)`"""
    if not is_compiling():
        return x
    return _KeywordOnly.apply(x * _weight, scale=3)


def grad_of_edge(x: Tensor):
    """`torch.autograd.grad` with a gradient edge"""
    y = x * _weight
    return torch.autograd.grad(y.sum(), torch.autograd.graph.get_gradient_edge(y))[0]


def backward_inputs(x: Tensor):
    """`loss.backward(inputs=[weight])`"""
    (x * _weight).sum().backward(inputs=[_weight])
    return x + 1


def queue_callback(x: Tensor):
    """`torch.autograd.Variable._execution_engine.queue_callback` inside a hook"""
    if not is_compiling():
        return x
    torch.autograd.Variable._execution_engine.queue_callback(lambda: None)
    return x + 1


def engine_method(x: Tensor):
    """A method of autograd's engine"""
    return x + torch.autograd.Variable._execution_engine.is_checkpoint_valid()


def func_linearize(x: Tensor):
    """`torch.func.linearize`"""
    value, move = torch.func.linearize(torch.sin, x)
    return value + move(x)


def func_stack_module_state(x: Tensor):
    """`torch.func.stack_module_state` inside"""
    parameters, _ = torch.func.stack_module_state([_linear, _linear])
    return x + parameters["bias"][0]


def cond_plain(x: Tensor):
    """`torch.cond`"""
    return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, (x,))


def cond_in_place(x: Tensor):
    """`torch.cond`, a branch changes its operand in place"""
    if not is_compiling():
        return x
    return torch.cond(x.sum() > 0, lambda v: v.add_(1) * 2, lambda v: v - 1, (x,))


def cond_returns_operand(x: Tensor):
    """`torch.cond`, a branch returns its operand"""
    if not is_compiling():
        return x
    return torch.cond(x.sum() > 0, lambda v: v, lambda v: v - 1, (x,))


def cond_side_effect(x: Tensor):
    """`torch.cond`, a branch appends to a list"""
    if not is_compiling():
        return x

    def true(v):
        _list.append(1)
        return v + 1

    return torch.cond(x.sum() > 0, true, lambda v: v - 1, (x,))


def cond_prints(x: Tensor):
    """`torch.cond`, a branch prints"""
    if not is_compiling():
        return x

    def true(v):
        print("a")
        return v + 1

    return torch.cond(x.sum() > 0, true, lambda v: v - 1, (x,))


def cond_module_changes(x: Tensor):
    """`torch.cond`, a branch sets an attribute of a module"""
    if not is_compiling():
        return x

    def true(v):
        _linear.scale = 2
        return v + 1

    return torch.cond(x.sum() > 0, true, lambda v: v - 1, (x,))


def cond_returns_text(x: Tensor):
    """`torch.cond`, branches return text"""
    if not is_compiling():
        return x
    return torch.cond(x.sum() > 0, lambda v: (v + 1, "a"), lambda v: (v - 1, "a"), (x,))[0]


def cond_operands_number(x: Tensor):
    """`torch.cond(..., operands=x)` without a tuple"""
    if not is_compiling():
        return x
    return torch.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1, x)


def cond_predicate_list(x: Tensor):
    """`torch.cond([])`, a list as predicate"""
    if not is_compiling():
        return x
    return torch.cond([x], lambda v: v + 1, lambda v: v - 1, (x,))


def cond_not_callable(x: Tensor):
    """`torch.cond` with a tensor as a branch"""
    if not is_compiling():
        return x
    return torch.cond(x.sum() > 0, x, lambda v: v - 1, (x,))


def while_plain(x: Tensor):
    """`while_loop`"""
    return while_loop(lambda v: v.sum() < 20, lambda v: (v + 1,), (x,))[0]


def while_condition_shape(x: Tensor):
    """`while_loop`, the condition is no scalar"""
    if not is_compiling():
        return x
    return while_loop(lambda v: v < 20, lambda v: (v + 1,), (x,))[0]


def while_condition_constant(x: Tensor):
    """`while_loop`, the condition is always true"""
    if not is_compiling():
        return x
    return while_loop(lambda v: True, lambda v: (v + 1,), (x,))[0]


def while_extra_inputs(x: Tensor):
    """`while_loop` with additional inputs that are no tuple"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.while_loop(lambda v: v.sum() < 20, lambda v: (v + 1,), (x,), x)[0]


def scan_plain(x: Tensor):
    """`scan`"""
    return scan(lambda a, b: (a + b, a + b), x[0], x)[1]


def scan_one_result(x: Tensor):
    """`scan`, the function returns one value"""
    if not is_compiling():
        return x
    return scan(lambda a, b: a + b, x[0], x)[1]


def scan_operator(x: Tensor):
    """`torch.ops.higher_order.scan` with a plain function"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(lambda a, b: (a + b, a + b), [x[0]], [x], ())[1]


def scan_operator_no_list(x: Tensor):
    """`torch.ops.higher_order.scan` over a tensor"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(functools.partial(_plus, combine_fn=_plus_two), [x[0]], x, ())[1]


def _plus(a, b, combine_fn=None):
    return [a + b, a + b]


def _plus_two(a, b):
    return a + b


def scan_operator_no_init(x: Tensor):
    """`torch.ops.higher_order.scan` with an `init` that is a tensor"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(functools.partial(_plus, combine_fn=_plus_two), x[0], [x], ())[1]


def scan_operator_empty_init(x: Tensor):
    """`torch.ops.higher_order.scan` with an empty `init`"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(functools.partial(_plus, combine_fn=_plus_two), [], [x], ())[1]


def scan_operator_extra(x: Tensor):
    """`torch.ops.higher_order.scan` with additional inputs that are a tensor"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(functools.partial(_plus, combine_fn=_plus_two), [x[0]], [x], x)[1]


def associative_operator(x: Tensor):
    """`torch.ops.higher_order.associative_scan` over a tensor"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(_plus_two, x, ())


def associative_operator_extra(x: Tensor):
    """`torch.ops.higher_order.associative_scan` with additional inputs that are a tensor"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(_plus_two, [x], x)


def associative_operator_numbers(x: Tensor):
    """`torch.ops.higher_order.associative_scan` over numbers"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(_plus_two, [1, 2], ())


def map_plain(x: Tensor):
    """`map` over rows"""
    return map(lambda row: row + 1, x)


def map_with_keyword(x: Tensor):
    """`torch.ops.higher_order.map_impl` with a keyword"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.map_impl(_plus_two, [x], (x,), scale=2)


def checkpoint_side_effect(x: Tensor):
    """`torch.utils.checkpoint` of a function that appends to a list"""

    def block(v):
        _list.append(1)
        return v * 2

    return torch.utils.checkpoint.checkpoint(block, x * _weight, use_reentrant=False)


def checkpoint_prints(x: Tensor):
    """`torch.utils.checkpoint` of a function that prints"""

    def block(v):
        print("a")
        return v * 2

    return torch.utils.checkpoint.checkpoint(block, x * _weight, use_reentrant=False)


def checkpoint_sequential(x: Tensor):
    """`torch.utils.checkpoint.checkpoint_sequential`"""
    return torch.utils.checkpoint.checkpoint_sequential(
        nn.Sequential(nn.ReLU(), nn.Tanh()), 2, x, use_reentrant=False
    )


def strict_mode_given_list(x: Tensor):
    """`torch._higher_order_ops.strict_mode` is given a list"""
    if not is_compiling():
        return x
    from torch._higher_order_ops.strict_mode import strict_mode

    return strict_mode(lambda v: v[0] + 1, ([x],))


def out_dtype_keyword(x: Tensor):
    """`torch._higher_order_ops.out_dtype` with a keyword"""
    if not is_compiling():
        return x
    from torch._higher_order_ops.out_dtype import out_dtype

    return out_dtype(torch.ops.aten.mm.default, torch.float32, x, mat2=x)


def invoke_subgraph_direct(x: Tensor):
    """`torch._higher_order_ops.invoke_subgraph` called directly"""
    if not is_compiling():
        return x
    from torch._higher_order_ops import invoke_subgraph

    return invoke_subgraph(_plus_two, "a", (x, x))


def nested_region(x: Tensor):
    """`torch.compiler.nested_compile_region`"""
    return _region(x)


def _region_body(x):
    return x + 1


_region = getattr(torch.compiler, "nested_compile_region", lambda f: f)(_region_body)


_region_in_place = getattr(torch.compiler, "nested_compile_region", lambda f: f)(lambda x: x.add_(1) * 2)


def nested_region_of_partial(x: Tensor):
    """`torch.compiler.nested_compile_region` of a partial"""
    return _region_partial(x)


_region_partial = getattr(torch.compiler, "nested_compile_region", lambda f: f)(
    functools.partial(_region_body)
)


def flex_attention_score(x: Tensor):
    """`flex_attention` with a score function"""
    from torch.nn.attention.flex_attention import flex_attention

    q = x.view(1, 1, 4, 4)
    return flex_attention(q, q, q, score_mod=lambda score, b, h, i, j: score + 1)


def flex_attention_prints(x: Tensor):
    """`flex_attention` with a score function that prints"""
    from torch.nn.attention.flex_attention import flex_attention

    def score(score, b, h, i, j):
        print("a")
        return score

    if not is_compiling():
        return x
    q = x.view(1, 1, 4, 4)
    return flex_attention(q, q, q, score_mod=score)


class _AsksGradient(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 if g.is_contiguous() else g


class _AsksNeed(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g * 2 if g.requires_grad else g


class _SetsNonDifferentiable(torch.autograd.Function):
    @staticmethod
    def forward(ctx, x):
        ctx._materialize_non_diff_grads = False
        return x * 2

    @staticmethod
    def backward(ctx, g):
        return g


class _Boxed:
    value = 1


_boxed = _Boxed()
_prints = torch.compile(lambda v: (print("a"), v.sum())[1], backend="eager")


def function_sets_materialize(x: Tensor):
    """`forward` sets `ctx._materialize_non_diff_grads`"""
    return _SetsNonDifferentiable.apply(x * _weight)


def func_grad_of_compiled_that_breaks(x: Tensor):
    """`torch.func.grad` outside of the graph, of a compiled function that breaks"""
    return torch.compiler.disable(torch.func.grad(_prints))(x)


def cond_operator_too_few(x: Tensor):
    """`torch.ops.higher_order.cond` without operands"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.cond(x.sum() > 0, lambda v: v + 1, lambda v: v - 1)


def cond_operator_object(x: Tensor):
    """`torch.ops.higher_order.cond` with an object as operand"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.cond(x.sum() > 0, lambda v: x + 1, lambda v: x - 1, (_boxed,))


def associative_operator_empty(x: Tensor):
    """`torch.ops.higher_order.associative_scan` over nothing"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(_plus_two, [x[:0]], ())


def associative_operator_nothing(x: Tensor):
    """`torch.ops.higher_order.associative_scan`, the function returns an empty tuple"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(lambda a, b: (), [x], ())


def associative_operator_structure(x: Tensor):
    """`torch.ops.higher_order.associative_scan`, the function returns more"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.associative_scan(lambda a, b: (a + b, a * b), [x], ())


def scan_operator_empty(x: Tensor):
    """`torch.ops.higher_order.scan` over nothing"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.scan(functools.partial(_plus, combine_fn=_plus_two), [x[0]], [x[:0]], ())[1]


def map_operator_empty(x: Tensor):
    """`torch.ops.higher_order.map_impl` over nothing"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.map_impl(lambda v: v + 1, [x[:0]], ())


def set_grad_operator_keyword(x: Tensor):
    """`torch.ops.higher_order.wrap_with_set_grad_enabled` with a keyword"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.wrap_with_set_grad_enabled(False, _region_body, x=x)


def set_grad_operator_tensor(x: Tensor):
    """`torch.ops.higher_order.wrap_with_set_grad_enabled` with a tensor as its flag"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.wrap_with_set_grad_enabled(x.sum() > 0, _region_body, x)


def set_grad_operator_closure(x: Tensor):
    """`torch.ops.higher_order.wrap_with_set_grad_enabled` of a closure"""
    if not is_compiling():
        return x
    y = x + 1
    return torch.ops.higher_order.wrap_with_set_grad_enabled(False, lambda v: v + y, x)


def autocast_operator_keyword(x: Tensor):
    """`torch.ops.higher_order.wrap_with_autocast` with a keyword"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.wrap_with_autocast("cpu", torch.bfloat16, True, False, _region_body, x=x)


def autocast_operator_tensor(x: Tensor):
    """`torch.ops.higher_order.wrap_with_autocast` with a tensor as its flag"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.wrap_with_autocast(
        "cpu", torch.bfloat16, x.sum() > 0, False, _region_body, x
    )


def autocast_operator_closure(x: Tensor):
    """`torch.ops.higher_order.wrap_with_autocast` of a closure"""
    if not is_compiling():
        return x
    y = x + 1
    return torch.ops.higher_order.wrap_with_autocast("cpu", torch.bfloat16, True, False, lambda v: v + y, x)


def hints_operator_bare(x: Tensor):
    """`torch.ops.higher_order.hints_wrapper` without hints"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.hints_wrapper(_region_body, (x,), {})


def strict_mode_keyword(x: Tensor):
    """`torch.ops.higher_order.strict_mode` with a keyword"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.strict_mode(_region_body, (x,), scale=2)


def unsupported_operator(x: Tensor):
    """A higher-order operator that Dynamo does not know"""
    if not is_compiling():
        return x
    return torch.ops.higher_order.run_const_graph(_region_body, (x,))


def _takes_object(x, box):
    return x + box.value


_region_of_object = getattr(torch.compiler, "nested_compile_region", lambda f: f)(_takes_object)
