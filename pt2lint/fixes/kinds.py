"""What an expression is, as far as the interpreter and the function's own text tell.

A repair takes `kind`, a function from an expression to a word: "tensor", "tensor:bool", "tensor:float",
"tensor:int", "int", "float", "bool", "str", "none", "list of tensor", "dict of tensor", "mixed" (a tensor in some calls
and something else in others) or "unknown". What a
rule's function carries from the interpreter (FunctionCode.kinds) is believed where the interpreter is sure; where it
does not know, the function's own text is asked.
"""

from __future__ import annotations

import ast
import re
from ast import literal_eval
from collections.abc import Callable, Collection
from functools import lru_cache
from typing import TypeAlias

import libcst as cst

from pt2lint.fixes.file import file_of, kept_in
from pt2lint.fixes.imports import qualified
from pt2lint.fixes.names import uses
from pt2lint.fixes.nodes import ancestors, enclosing_function, parameters
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import is_name, says_none, walk

Kind: TypeAlias = "Callable[[cst.CSTNode], str]"


def words(text: str) -> frozenset[str]:
    """The words of a text, each once: for long lists of names."""
    return frozenset(text.split())


# Functions and methods by what they return; a method is believed only on a tensor.
TO_BOOL = words(
    "any all isnan isinf isfinite isposinf isneginf eq ne lt le gt ge less greater less_equal "
    "greater_equal logical_and logical_or logical_not logical_xor isclose signbit bool isreal"
)
TO_INT = words(
    "argmax argmin argsort bincount count_nonzero nonzero searchsorted bucketize long int short "
    "randint randperm"
)
TO_FLOAT = words(
    "sigmoid tanh exp log log1p log2 log10 sqrt rsqrt sin cos softmax log_softmax softplus gelu silu "
    "float half double bfloat16 rand randn mean std var norm erf erfinv expm1 normal dropout "
    "layer_norm linear logsumexp"
)
# Made anew in the shape and dtype of another tensor, without passing its gradient on.
LIKE = words("zeros_like ones_like full_like empty_like rand_like randn_like")
SAME = LIKE | words(
    "clamp clip clamp_min clamp_max relu neg negative abs clone detach contiguous nan_to_num "
    "masked_fill view reshape permute transpose expand expand_as "
    "unsqueeze squeeze flatten t roll flip sum prod max min amax amin cumsum maximum minimum square "
    "pow add sub mul sign floor ceil round trunc repeat narrow index_select gather masked_select cat "
    "stack where triu tril sort bernoulli mul_ add_ sub_ div_ clamp_ relu_ zero_ "
    "fill_ to type_as cpu cuda flatten matmul mm bmm einsum div true_divide unbind softsign lerp "
    "addcmul addcdiv masked_scatter"
)
MAKERS = words(
    "tensor zeros ones full empty arange linspace rand randn randint randperm eye as_tensor "
    "from_numpy scalar_tensor"
)
MADE_ANEW = {f"torch.{name}" for name in MAKERS}
_OF_NUMBERS = {f"torch.{name}" for name in words("Tensor FloatTensor DoubleTensor LongTensor")}
# Methods that tensors have and modules, arrays and containers do not; functions that take nothing else first.
TELLING = words(
    "abs clamp clip clamp_min clamp_max detach unsqueeze softmax sigmoid relu masked_fill view "
    "permute contiguous log exp sqrt tanh isnan isfinite isinf amax amin norm numel bool long type_as "
    "expand expand_as neg square masked_select new_zeros new_ones item"
)
SHAPES = words("dim size numel ndimension stride get_device element_size nelement")


def names_no_device(function: FunctionCode, value: cst.CSTNode) -> bool:
    """Whether a tensor is made on the default device, where others may lie elsewhere: `torch.zeros(n)`."""
    return (
        isinstance(value, cst.Call)
        and qualified(function, value.func) in MADE_ANEW
        and not any(arg.keyword is not None and arg.keyword.value == "device" for arg in value.args)
    )


# What is made anew, of sizes: by a function of torch, and by a method.
_MADE = {
    f"torch.{name}"
    for name in LIKE | words("zeros ones full empty rand randn Tensor FloatTensor DoubleTensor")
}
_MADE_BY = words("new new_zeros new_ones new_full new_empty")


def has_no_gradient(function: FunctionCode, node: cst.CSTNode, kind: Kind) -> bool:
    """Whether a tensor is made there that surely passes no gradient on: of `x.data`, of numbers, of whole numbers."""
    if isinstance(node, cst.Attribute):
        return node.attr.value == "data" or (is_name(node.value, "self") and _is_frozen(function, node))
    if not isinstance(node, cst.Call):
        return False
    name = qualified(function, node.func)
    if name in _MADE or (isinstance(node.func, cst.Attribute) and node.func.attr.value in _MADE_BY):
        return not any(one.star == "**" or is_name(one.keyword, "requires_grad") for one in node.args)
    if any(one.keyword is not None or one.star for one in node.args):
        return False
    given = [one.value for one in node.args]
    if kind(node) in ("tensor:int", "tensor:bool"):
        return True
    if name is None and isinstance(node.func, cst.Attribute):
        if node.func.attr.value in ("detach", "requires_grad_"):
            return node.func.attr.value == "detach"
        given.append(node.func.value)
    elif name is None or not name.startswith("torch.") or name == "torch.autograd.Variable":
        return False
    plain = ("int", "float", "bool", "str", "none")
    return name == "torch.from_numpy" or all(
        has_no_gradient(function, one, kind)
        or kind(one) in plain
        or (isinstance(one, cst.Tuple | cst.List) and all(kind(each.value) in plain for each in one.elements))
        for one in given
    )


def _is_frozen(function: FunctionCode, place: cst.Attribute) -> bool:
    """Whether the class keeps a parameter there that learns nothing: `nn.Parameter(limit, requires_grad=False)`."""
    made = kept_in(function, function.range(place)[0], place.attr.value)
    return bool(made) and all(
        isinstance(one, ast.Call)
        and any(
            word.arg == "requires_grad" and isinstance(word.value, ast.Constant) and word.value.value is False
            for word in one.keywords
        )
        for one in made
    )


def is_made_elsewhere(function: FunctionCode, place: cst.BaseExpression) -> bool:
    """Whether it is a tensor that the class makes and keeps where none of its buffers are, `self.steps =
    torch.tensor([1, 2])`: on the CPU, wherever the module is moved."""
    if not isinstance(place, cst.Attribute) or not is_name(place.value, "self"):
        return False
    return any(
        isinstance(one, ast.Call)
        and not any(word.arg == "device" for word in one.keywords)
        and qualified(function, cst.parse_expression(ast.unparse(one.func))) in MADE_ANEW | _OF_NUMBERS
        for one in kept_in(function, function.range(place)[0], place.attr.value)
    )


def is_without_gradients(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether the node stands in a function or a block that is under `torch.no_grad()` or `torch.inference_mode()`."""
    for outer in ancestors(function, node):
        managers: list[cst.BaseExpression] = []
        if isinstance(outer, cst.With):
            managers = [one.item for one in outer.items]
        elif isinstance(outer, cst.FunctionDef):
            managers = [one.decorator for one in outer.decorators]
        calls = [one if isinstance(one, cst.Call) else cst.Call(one) for one in managers]
        names = {qualified(function, one.func): one.args for one in calls}
        if not names.keys().isdisjoint(("torch.enable_grad", "torch.set_grad_enabled")):
            return False
        if any(name in names and not names[name] for name in ("torch.no_grad", "torch.inference_mode")):
            return True
        if isinstance(outer, cst.FunctionDef):
            return False
    return False


def guess(function: FunctionCode) -> Kind:
    """What the interpreter is sure of; else the kinds that the function's text gives away: annotations, torch calls,
    literals and what is made of them; names take the kind on which all their assignments agree."""
    return _Guess(function).kind


class _Guess:
    """`known` are the kinds of names, `busy` the names that are looked at, `used` those that are used as tensors."""

    def __init__(self, function: FunctionCode) -> None:
        self.function = function
        self.busy: set[str] = set()
        self.known: dict[str, str] = {}
        used = function.memo.get("used as tensors")
        if used is None:
            used = function.memo["used as tensors"] = _used_as_tensor(function)
        self.used: Collection[str] = used

    def kind(self, node: cst.CSTNode) -> str:
        arrays = _annotated_arrays(self.function)
        if arrays and any(isinstance(one, cst.Name) and one.value in arrays for one in walk(node)):
            return "unknown"
        known = from_interpreter(self.function, node)
        if known == "mixed" and isinstance(node, cst.BooleanOperation):
            return "unknown"  # its parts are asked one by one
        if known not in ("unknown", "tensor"):
            return known
        if holds_array(self.function, node):
            return "unknown"  # in eager mode it is no tensor
        word = self.from_text(node)
        if known == "tensor":
            return word if word.startswith("tensor") else known
        tested = [op for op in self.function.ops_at(node) if op.name == "test tensor"]
        if word == "unknown" and tested and not any(op.detail("array") for op in tested):
            # A flag may be a bool of Python in the calls of which nothing is known.
            options = told(self.function, node).split(" | ") if isinstance(node, cst.Name) else []
            return "mixed" if "unknown" in options and len(options) > 1 else "tensor"
        return word

    def from_text(self, node: cst.CSTNode) -> str:
        """What the text tells: of literals and names here, of what is made of others by `made`."""
        if isinstance(node, cst.Integer):
            return "int"
        if isinstance(node, cst.Float):
            return "float"
        if isinstance(node, cst.SimpleString | cst.FormattedString | cst.ConcatenatedString):
            return "str"
        if isinstance(node, cst.Name):
            if node.value in ("True", "False"):
                return "bool"
            return "none" if node.value == "None" else self.of_name(node)
        if isinstance(node, cst.Call):
            return self.of_call(node)
        return self.made(node)

    def made(self, node: cst.CSTNode) -> str:
        """An operation, a choice, an item or an attribute of other expressions."""
        kind = self.kind
        if isinstance(node, cst.UnaryOperation):
            inner = kind(node.expression)
            return "bool" if isinstance(node.operator, cst.Not) else inner
        if isinstance(node, cst.BinaryOperation):
            return _arithmetic(kind(node.left), kind(node.right), isinstance(node.operator, cst.Divide))
        if isinstance(node, cst.Comparison):
            return self.of_comparison(node)
        if isinstance(node, cst.BooleanOperation):
            sides = [kind(node.left), kind(node.right)]
            return sides[0] if sides[0] == sides[1] else "unknown"
        if isinstance(node, cst.IfExp):
            return _agree([kind(node.body), kind(node.orelse)])
        if isinstance(node, cst.Subscript):
            inner = kind(node.value)
            return inner if inner.startswith("tensor") else inner.rpartition(" of ")[2] or "unknown"
        if isinstance(node, cst.Attribute) and (inner := kind(node.value)).startswith("tensor"):
            if node.attr.value in ("data", "T", "mT", "real", "imag", "grad"):
                return inner
            return "int" if node.attr.value == "ndim" else "unknown"
        return "unknown"

    def of_comparison(self, node: cst.Comparison) -> str:
        operators = [one.operator for one in node.comparisons]
        if any(isinstance(one, cst.Is | cst.IsNot | cst.In | cst.NotIn) for one in operators):
            return "bool"
        sides = [self.kind(node.left), *(self.kind(one.comparator) for one in node.comparisons)]
        if any(side.startswith("tensor") for side in sides):
            return "tensor:bool" if len(sides) == 2 else "unknown"
        return "unknown" if "unknown" in sides else "bool"

    def of_call(self, node: cst.Call) -> str:
        if isinstance(node.func, cst.Name) and node.func.value in ("int", "float", "bool", "len", "str"):
            return {"len": "int"}.get(node.func.value, node.func.value)
        if isinstance(node.func, cst.Name) and node.func.value in _ANSWERS:
            return "bool"
        name = qualified(self.function, node.func)
        if name is not None:
            if not name.startswith("torch."):
                return "unknown"
            last = name.rpartition(".")[2]
            if name in ("torch.equal", "torch.allclose"):
                return "bool"
            return _returns(last, self.kind(node.args[0].value) if node.args else "unknown", True)
        if isinstance(node.func, cst.Attribute):
            receiver = self.kind(node.func.value)
            if receiver.startswith("tensor"):
                if node.func.attr.value in ("max", "min", "sort") and node.args:
                    return "unknown"  # a pair, where a dimension is given
                return _returns(node.func.attr.value, receiver, False)
        return "unknown"

    def of_name(self, node: cst.Name) -> str:
        if node.value in self.known:
            return self.known[node.value]
        owner = enclosing_function(self.function, node)
        if owner is None or node.value in self.busy:
            return "unknown"
        self.busy.add(node.value)
        kinds = self.bound_in(owner, node.value)
        self.known.pop(node.value, None)
        self.busy.discard(node.value)
        if node.value in self.used and all(one == "unknown" or one.startswith("tensor") for one in kinds):
            kinds = [one if one != "unknown" else "tensor" for one in kinds]
        if not self.busy:
            self.known[node.value] = _agree(kinds)
            return self.known[node.value]
        return _agree([one for one in kinds if one != "unknown"] or kinds)

    def bound_in(self, owner: cst.FunctionDef, name: str) -> list[str]:
        """The kinds of what the function binds the name to, as a parameter or in its body."""
        kinds = []
        for param in parameters(owner):
            if param.name.value == name:
                note = param.annotation
                annotated = note is not None and _names_tensor(
                    self.function.module.code_for_node(note.annotation)
                )
                kinds.append("tensor" if annotated else "unknown")
        # What is made of the name itself comes last, and takes it for what the other values say.
        bound = [
            (_made_of_itself(self.function, one, name), one) for one in _targets(owner.body).get(name, ())
        ]
        for itself, target in sorted(bound, key=lambda pair: pair[0]):
            if itself:
                self.known[name] = _agree(kinds)
            kinds.append(_bound(self.function, target, self.kind))
        return kinds


# Python's own functions that answer with a bool, whatever they are given.
_ANSWERS = frozenset(words("all any callable hasattr isinstance issubclass"))

_WORDS = words("int float bool str none dict list tuple")


def told(function: FunctionCode, node: cst.CSTNode) -> str:
    """The interpreter's own word for an expression (Op.args); "" where it has none."""
    words_ = function.memo.get("kinds")
    if words_ is None:
        words_ = function.memo["kinds"] = function.kinds() if function.kinds is not None else {}
    if not words_:
        return ""
    try:
        return words_.get(function.range(node), "")
    except KeyError:
        return ""  # made by a repair: it stands nowhere


def may_be_array(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether what was noted there may be of an array of NumPy's in eager mode, which torch's functions do not take."""
    return any(op.detail("array") for op in function.ops_at(node))


def holds_array(function: FunctionCode, node: cst.CSTNode) -> bool:
    """Whether the interpreter says that it may be an array of NumPy's, or the annotation of an argument does."""
    if isinstance(node, cst.Name) and node.value in _annotated_arrays(function):
        return True
    return any(one.startswith("array") for one in told(function, node).split(" | "))


_ARRAY = re.compile(r"ndarray|array_?like", re.IGNORECASE)


def _annotated_arrays(function: FunctionCode) -> Collection[str]:
    """The arguments whose annotation says that they may be arrays, also by a name that the file gives it
    (`Values = np.ndarray | torch.Tensor`), where the function neither asks what they are nor converts them. Who calls
    it here may give tensors: in eager mode others need not."""
    known: Collection[str] | None = function.memo.get("annotated arrays")
    if known is not None:
        return known
    found: set[str] = set()
    function.memo["annotated arrays"] = found
    if not _ARRAY.search(function.source):
        return found
    named: set[str] = set()
    for line in file_of(function).tree.body:
        if isinstance(line, ast.Assign) and len(line.targets) == 1 and isinstance(line.targets[0], ast.Name):
            text = ast.unparse(line.value)
            if _ARRAY.search(text) or named & {*re.findall(r"\w+", text)}:
                named.add(line.targets[0].id)
    for owner in walk(function.module):
        for given in parameters(owner) if isinstance(owner, cst.FunctionDef) else ():
            note = function.module.code_for_node(given.annotation.annotation) if given.annotation else ""
            if _ARRAY.search(note) or named & {*re.findall(r"\w+", note)}:
                found.add(given.name.value)
    for part in walk(function.module) if found else ():
        if isinstance(part, cst.Call) and part.args and isinstance(part.args[0].value, cst.Name):
            name, word = part.args[0].value.value, getattr(part.func, "attr", part.func)
            asks = isinstance(word, cst.Name) and word.value in ("isinstance", "is_tensor")
            bound = next((one for one in ancestors(function, part) if isinstance(one, cst.Assign)), None)
            made = [use.name for to in bound.targets for use in uses(to)] if bound is not None else []
            if asks or name in made:
                found.discard(name)
    return found


def from_interpreter(function: FunctionCode, node: cst.CSTNode) -> str:
    """The interpreter's word for an expression in the words of repairs; "unknown" where it is not sure."""
    word = told(function, node)
    if not word:
        return "unknown"
    options = {_simple(one) for one in word.split(" | ")}
    if len(options) == 1:
        return options.pop()
    tensors = {one for one in options if one.startswith("tensor")}
    if tensors == options:
        return "tensor"
    return "mixed" if tensors and options - tensors - {"unknown", "none"} else "unknown"


def _simple(word: str) -> str:
    if word.endswith("?"):
        return "unknown"
    if word.startswith("constant "):
        try:
            return type(literal_eval(word.removeprefix("constant "))).__name__
        except (ValueError, SyntaxError):
            return "unknown"
    if word in ("list of tensor", "tuple of tensor", "dict of tensor"):
        return word
    word = word.partition(" of ")[0]
    return word if word in _WORDS or word.startswith("tensor") else "unknown"


def may_be_none(function: FunctionCode, name: str, at: cst.CSTNode) -> bool:
    """Whether the code shows that the name may hold None where the statement `at` is reached.

    It does where a test around the statement asks for that, where the interpreter saw it at a later place, and where
    a later test asks for it; not where what is surely a tensor was assigned right before.
    """
    inner: cst.CSTNode = at
    while (outer := function.parent(inner)) is not None and not isinstance(inner, cst.FunctionDef):
        if isinstance(outer, cst.IndentedBlock) and _is_made(function, name, outer, inner):
            return False
        if isinstance(outer, cst.If) and inner is outer.body:
            given = _asks_for_none(outer.test).get(name)
            if given is not None:
                return given
        inner = outer
    end = function.range(at)[2:]
    for use in uses(inner):
        if use.name == name and use.binds and function.range(use.node)[:2] < function.range(at)[:2]:
            target = function.parent(use.node)
            assign = function.parent(target) if isinstance(target, cst.AssignTarget) else target
            value = getattr(assign, "value", None)
            if says_none(value):
                return True
        if use.name == name and not use.binds and function.range(use.node)[:2] >= end:
            if "none" in told(function, use.node).split(" | "):
                return True
            parent = function.parent(use.node)
            if isinstance(parent, cst.Comparison) and name in _asks_for_none(parent):
                return True
    return False


def _is_made(function: FunctionCode, name: str, block: cst.IndentedBlock, at: cst.CSTNode) -> bool:
    """Whether the last statement of the block before `at` that binds the name assigns it what is computed."""
    before = block.body[: next(i for i, one in enumerate(block.body) if one is at)]
    last = next((one for one in reversed(before) if name in _targets(one)), None)
    small = last.body[0] if isinstance(last, cst.SimpleStatementLine) and len(last.body) == 1 else None
    if not isinstance(small, cst.Assign) or not isinstance(small.targets[0].target, cst.Name):
        return False
    word = told(function, small.value)
    known = word.startswith("tensor") and "none" not in word and not word.endswith("?")
    return known or isinstance(small.value, cst.BinaryOperation)


def _asks_for_none(test: cst.BaseExpression) -> dict[str, bool]:
    """The names of which the test, where it holds, says that they are None (True), or that they are not."""
    if isinstance(test, cst.BooleanOperation) and isinstance(test.operator, cst.And):
        return _asks_for_none(test.left) | _asks_for_none(test.right)
    if isinstance(test, cst.Comparison) and len(test.comparisons) == 1 and isinstance(test.left, cst.Name):
        (one,) = test.comparisons
        if says_none(one.comparator) and isinstance(one.operator, cst.Is | cst.IsNot):
            return {test.left.value: isinstance(one.operator, cst.Is)}
    return {}


@lru_cache(maxsize=32)
def _targets(body: cst.CSTNode) -> dict[str, list[cst.CSTNode]]:
    """Where each name is bound."""
    found: dict[str, list[cst.CSTNode]] = {}
    for use in uses(body):
        if use.binds:
            found.setdefault(use.name, []).append(use.node)
    return found


def _used_as_tensor(function: FunctionCode) -> set[str]:
    """Names of which the function calls a method that only tensors have, or that it gives to a function of
    torch that takes a tensor first."""
    found: set[str] = set()
    for node in walk(function.module):
        if not isinstance(node, cst.Call):
            continue
        name = qualified(function, node.func) or ""
        subject: cst.CSTNode | None = None
        if name.startswith("torch.") and name.count(".") == 1:
            if name.removeprefix("torch.") in TELLING and node.args:
                subject = node.args[0].value
        elif not name and isinstance(node.func, cst.Attribute) and node.func.attr.value in TELLING:
            subject = node.func.value
        if isinstance(subject, cst.Name):
            found.add(subject.value)
    return found


def _names_tensor(annotation: str) -> bool:
    """`torch.Tensor`, also with None; not a container of tensors."""
    names = annotation.strip("\"'").replace("Optional[", "").replace("]", "").replace(" ", "").split("|")
    return {name.rpartition(".")[2] for name in names} <= {"Tensor", "None"} and names != ["None"]


def _returns(name: str, first: str, function: bool) -> str:
    if name in TO_BOOL:
        return "tensor:bool"
    if name in TO_INT:
        return "tensor:int"
    if name in TO_FLOAT:
        return "tensor:float"
    if name in ("sum", "prod", "cumsum") and first in ("tensor:bool", "tensor:int"):
        return "tensor:int"
    if name in SAME:
        keeps = name not in ("to", "type_as", "where", "cat", "stack", "einsum")
        return first if keeps and first.startswith("tensor") else "tensor"
    if function and name in MAKERS:
        return "tensor"
    if not function and name in SHAPES:
        return "int"
    if not function and name == "item":
        return {"tensor:bool": "bool", "tensor:int": "int", "tensor:float": "float"}.get(first, "unknown")
    return "unknown"


def _arithmetic(left: str, right: str, division: bool) -> str:
    tensors = [side for side in (left, right) if side.startswith("tensor")]
    if tensors:
        if "tensor:float" in tensors or division:
            return "tensor:float"
        return tensors[0] if left == right or (len(tensors) == 1 and "int" in (left, right)) else "tensor"
    if "float" in (left, right) and {left, right} <= {"float", "int", "bool"}:
        return "float"
    return "int" if left == right == "int" and not division else "unknown"


def _agree(kinds: list[str]) -> str:
    if not kinds or "unknown" in kinds:
        return "unknown"
    if len(set(kinds)) == 1:
        return kinds[0]
    return "tensor" if all(kind.startswith("tensor") for kind in kinds) else "unknown"


def _made_of_itself(function: FunctionCode, target: cst.CSTNode, name: str) -> bool:
    known: dict[cst.CSTNode, bool] = function.memo.setdefault("made of themselves", {})
    if target not in known:
        known[target] = _takes(function, target, name)
    return known[target]


def _takes(function: FunctionCode, target: cst.CSTNode, name: str) -> bool:
    statement = function.parent(target)
    if isinstance(statement, cst.AssignTarget):
        statement = function.parent(statement)
    value = getattr(statement, "value", None)
    return isinstance(value, cst.CSTNode) and any(use.name == name for use in uses(value) if not use.binds)


def _bound(function: FunctionCode, target: cst.CSTNode, kind: Kind) -> str:
    """The kind of what is bound to a target."""
    parent = function.parent(target)
    if isinstance(parent, cst.AssignTarget):
        parent = function.parent(parent)
    if isinstance(parent, cst.Assign | cst.AnnAssign | cst.NamedExpr) and parent.value is not None:
        return kind(parent.value)
    if isinstance(parent, cst.AugAssign):
        return _arithmetic(kind(parent.value), "unknown", isinstance(parent.operator, cst.DivideAssign))
    return "unknown"
