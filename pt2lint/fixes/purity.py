"""What may be run although the program would not have run it, and what may not.

`torch.where` evaluates both sides. That is the same program only where the side not taken has no effect,
raises nothing, and has a finite gradient: the gradient of the side not taken is multiplied by zero, and
zero times infinity is NaN.
"""

from __future__ import annotations

from collections.abc import Collection

import libcst as cst

from pt2lint.fixes.imports import qualified
from pt2lint.fixes.kinds import Kind, words
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, children, says_none, walk

# Keeps shape and dtype and passes the gradient on. A side that does not (`zeros_like`) cuts the tensor off where it is
# taken; selected, the tensor gets a gradient of zero instead, which is NaN further up wherever what made the tensor has
# an infinite gradient of its own.
CONNECTED = words("clamp clip clamp_min clamp_max relu neg negative clone nan_to_num")
# Defined for every input, with a gradient that is finite (or masked) for every input.
TOTAL = CONNECTED | words(
    "detach zeros_like ones_like full_like isnan isinf isfinite any all logical_not logical_and logical_or finfo iinfo"
)
# Cheap: one pass over the data.
CHEAP = TOTAL | words(
    "abs absolute exp expm1 log log1p log2 log10 sqrt rsqrt sigmoid tanh sin cos pow square "
    "reciprocal sign floor ceil round trunc frac maximum minimum max min where add sub mul div "
    "true_divide softplus gelu silu leaky_relu elu hardtanh fmod remainder lerp addcmul sum mean amax "
    "amin norm std var prod masked_fill eq ne lt le gt ge logical_xor isposinf isneginf dim size "
    "numel contiguous tensor zeros ones full new_zeros new_ones new_full new_tensor scalar_tensor "
    "unsqueeze squeeze heaviside erf atan arctan sinh cosh softmax log_softmax cumsum flip expand_as"
)
CONVERSIONS = words("float half double bfloat16 long int bool to type_as type")
# The gradient is infinite, or NaN, at some inputs.
SINGULAR = words(
    "exp expm1 log log1p log2 log10 sqrt rsqrt reciprocal pow div true_divide norm std fmod remainder "
    "prod sinh cosh lerp square mul"
)
# What changes an object in place, by the name of the method.
_MUTATING = words(
    "append extend insert pop update remove clear setdefault popitem sort reverse write writelines "
    "discard register_buffer register_parameter register_forward_hook requires_grad_ backward step "
    "zero_grad seed setattr put push"
)
_EFFECTS = words("print open input exec eval setattr delattr next breakpoint")
RANDOM = words(
    "rand randn randint randperm bernoulli multinomial normal dropout rand_like randn_like "
    "randint_like poisson alpha_dropout feature_dropout dropout1d dropout2d dropout3d feature_alpha_dropout "
    "uniform exponential geometric cauchy log_normal random"
)


_VIEWS = words(
    "view reshape permute transpose expand unsqueeze squeeze flatten t T mT detach contiguous narrow "
    "split chunk unbind select diagonal to float type_as as_strided unfold swapaxes"
)


def is_view(name: str) -> bool:
    """Whether a method, or a function of torch, may give a tensor that shares its argument's storage."""
    return name.rpartition(".")[2] in _VIEWS


def effect(node: cst.CSTNode) -> str | None:
    """The first thing below the node that has an effect or leaves the straight line, in a reader's words."""
    if isinstance(node, cst.FunctionDef | cst.Lambda):
        return None
    found: str | None = None
    if isinstance(node, cst.Call):
        found = _effect_of_call(node)
    elif isinstance(node, cst.Expr):
        if isinstance(node.value, cst.Call) and callee(node.value) == "add":
            found = "`add` changes an object in place"  # a set's; a tensor's would be for nothing
    elif isinstance(node, cst.AssignTarget | cst.AnnAssign):
        found = _assigned(node.target)
    return found or _STATEMENTS.get(type(node)) or next(filter(None, map(effect, children(node))), None)


def _effect_of_call(node: cst.Call) -> str | None:
    name = callee(node)
    in_place = name.endswith("_") and not name.endswith("__")
    if isinstance(node.func, cst.Attribute) and (in_place or name in _MUTATING):
        return f"`{name}` changes an object in place"
    if name in _EFFECTS:
        return f"`{name}` has an effect"
    writes = any(arg.keyword is not None and arg.keyword.value == "out" for arg in node.args)
    return "`out=` writes into a tensor" if writes else None


def _assigned(target: cst.CSTNode) -> str | None:
    if isinstance(target, cst.Subscript):
        return "an element is assigned"
    if isinstance(target, cst.Attribute):
        return "an attribute is assigned"
    parts = target.elements if isinstance(target, cst.Tuple | cst.List) else ()
    return next(filter(None, (_assigned(one.value) for one in parts)), None)


_STATEMENTS: dict[type[cst.CSTNode], str] = {
    cst.AugAssign: "an augmented assignment changes its target in place",
    cst.Del: "`del` removes something",
    cst.Global: "a global is declared",
    cst.Nonlocal: "a nonlocal is declared",
    cst.Yield: "it yields",
    cst.Await: "it awaits",
    cst.Raise: "it raises",
    cst.Assert: "it asserts",
    cst.Return: "it returns from the middle",
    cst.Break: "it leaves a loop",
    cst.Continue: "it goes on with the next turn of a loop",
    cst.Try: "it holds a `try`",
    cst.With: "it holds a `with`",
    cst.NamedExpr: "a walrus binds a name",
    cst.ClassDef: "it defines a class",
    cst.Import: "it imports",
    cst.ImportFrom: "it imports",
}


def draws(function: FunctionCode, *nodes: cst.CSTNode) -> bool | None:
    """Whether something below the nodes draws random numbers; None where a call is not known, as a module's may."""
    found: set[bool | None] = set()
    for one in (one for node in nodes for one in walk(node) if isinstance(one, cst.Call)):
        known, name = qualified(function, one.func), callee(one)
        if name.rstrip("_") in RANDOM and (known is None or known.startswith("torch.")):
            found.add(True)
        elif known is not None and known.split(".")[0] not in ("torch", "math"):
            found.add(None)
        elif known is None and (name not in CHEAP | CONVERSIONS or isinstance(one.func, cst.Name)):
            found.add(None if name not in ("len", "float", "int", "bool") else False)
    return True if True in found else None if None in found else False


def costly(function: FunctionCode, node: cst.CSTNode, kind: Kind, taken: Collection[str] = ()) -> str | None:
    """Why an expression must not be evaluated on both sides: it is not known to be cheap, pure and total in
    the sense that it raises nothing the other side would not have raised. None where it may. `taken` are elements
    that were taken before the branch."""
    found: str | None = None
    if isinstance(node, cst.Lambda):
        return "a lambda cannot be selected element by element"
    if isinstance(node, cst.Call):
        found = _cost_of_call(function, node)
    elif isinstance(node, cst.Subscript):
        text = function.module.code_for_node(node)
        indices = [one.slice.value for one in node.slice if isinstance(one.slice, cst.Index)]
        if text not in taken and not all(map(_is_harmless_index, indices)):
            found = f"`{text}` may raise where the program would not have got to it"
    elif isinstance(node, cst.BinaryOperation):
        division = isinstance(node.operator, cst.Divide | cst.FloorDivide | cst.Modulo)
        plain = not any(kind(side).startswith("tensor") for side in (node.left, node.right))
        if isinstance(node.operator, cst.MatrixMultiply):
            found = "a matrix product is too dear to be computed on both sides"
        elif division and plain and number(node.right) in (None, 0):
            found = "a division of plain numbers may raise"
    elif isinstance(node, cst.Await):
        found = "it awaits"
    elif isinstance(node, cst.ListComp | cst.GeneratorExp):
        found = "a comprehension is not known to be cheap"
    return found or next(
        filter(None, (costly(function, child, kind, taken) for child in children(node))), None
    )


def _cost_of_call(function: FunctionCode, node: cst.Call) -> str | None:
    name, known = callee(node), qualified(function, node.func)
    if known is None and isinstance(node.func, cst.Name) and name not in ("float", "len"):
        return f"`{name}(...)` is not known to be cheap and free of effects"
    if known is not None and not known.startswith("torch."):
        return f"`{known}` is not known to be cheap and free of effects"
    if name in CONVERSIONS and not (known is None and isinstance(node.func, cst.Name)):
        return f"`{name}` may give this side another dtype"
    if name not in CHEAP and not (known is None and name in ("float", "len")):
        text = function.module.code_for_node(node.func)
        return f"`{text}(...)` is not known to be cheap and free of effects"
    return None


def _is_harmless_index(node: cst.BaseExpression) -> bool:
    return isinstance(node, cst.Ellipsis) or says_none(node)


def number(node: cst.BaseExpression) -> float | None:
    """The value of a number literal (with a sign)."""
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        inner = number(node.expression)
        return None if inner is None else -inner
    if isinstance(node, cst.Integer | cst.Float):
        value = float(node.evaluated_value)
        return value if abs(value) < 2.0**31 else None
    return None


def of_number(function: FunctionCode, node: cst.BaseExpression) -> cst.BaseExpression | None:
    """The `0.0` of `torch.tensor(0.0, device=x.device)`, of no dtype but that of a tensor."""
    if not isinstance(node, cst.Call) or qualified(function, node.func) != "torch.tensor" or not node.args:
        return None
    first, *others = node.args
    plain = number(first.value) is not None and not first.keyword and not first.star
    for one in others:
        word = one.keyword.value if one.keyword is not None else ""
        of_tensor = isinstance(one.value, cst.Attribute) and one.value.attr.value == "dtype"
        plain = plain and (word in ("device", "requires_grad") or (word == "dtype" and of_tensor))
    return first.value if plain else None


def singular(node: cst.CSTNode, products: bool = True) -> bool:
    """Whether the gradient of something below the node may be infinite or NaN where it is not selected. `products`:
    count those too, whose gradient is infinite only where a factor is."""
    return any(_may_be_infinite(one, products) for one in walk(node))


def _may_be_infinite(node: cst.CSTNode, products: bool) -> bool:
    if isinstance(node, cst.Call):
        return callee(node) in SINGULAR
    if not isinstance(node, cst.BinaryOperation):
        return False
    if isinstance(node.operator, cst.Divide):
        return number(node.right) in (None, 0)
    if isinstance(node.operator, cst.Multiply):
        return products and number(node.left) is None and number(node.right) is None
    if isinstance(node.operator, cst.Modulo | cst.FloorDivide):
        return products and number(node.right) in (None, 0)
    return isinstance(node.operator, cst.Power)


def alike(function: FunctionCode, node: cst.BaseExpression, name: str, kind: Kind) -> bool:
    """Whether the expression surely has the shape and dtype of the float tensor `name`, raises nothing for
    any value of it, and has a gradient that stays finite where it is not selected."""
    if isinstance(node, cst.Name):
        return node.value == name
    if isinstance(node, cst.UnaryOperation) and isinstance(node.operator, cst.Minus):
        return alike(function, node.expression, name, kind)
    if isinstance(node, cst.BinaryOperation):
        left, right = node.left, node.right
        if isinstance(node.operator, cst.Add | cst.Subtract | cst.Multiply):
            if number(left) is not None:
                return alike(function, right, name, kind)
            if number(right) is not None:
                return alike(function, left, name, kind)
            both = alike(function, left, name, kind) and alike(function, right, name, kind)
            return both and not isinstance(node.operator, cst.Multiply)
        if isinstance(node.operator, cst.Divide):
            return number(right) not in (None, 0) and alike(function, left, name, kind)
        return False
    if not isinstance(node, cst.Call):
        return False
    known, called = qualified(function, node.func), callee(node)
    if called not in CONNECTED:
        return False
    rest = list(node.args)
    if known is not None and known.startswith("torch."):
        if not rest or rest[0].keyword is not None:
            return False
        base, rest = rest[0].value, rest[1:]
    elif known is None and isinstance(node.func, cst.Attribute):
        base = node.func.value
    else:
        return False
    return alike(function, base, name, kind) and all(
        number(arg.value) is not None
        and (arg.keyword is None or arg.keyword.value in ("min", "max", "nan", "posinf", "neginf"))
        for arg in rest
    )
