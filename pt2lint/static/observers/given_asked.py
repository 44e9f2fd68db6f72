"""What else code asks of a module that it is given, or of its state: the name of its class, whether it is there, and
what stands before its names."""

from __future__ import annotations

import ast
from collections.abc import Callable, Iterable, Iterator
from typing import TYPE_CHECKING

from pt2lint.static.interpreter.syntax import dotted
from pt2lint.static.source.nodes import below, is_name, last_word, parameters_in, parts, walk
from pt2lint.static.values import UNKNOWN, Func, Instance, Seq, Value, options

if TYPE_CHECKING:
    from pt2lint.static.observers.given_modules import Found, Look

NAMES = ("__name__", "__qualname__")
HELD = "module"  # where a wrapper that spreads a module keeps it
LOOKS_UP = ("get", "setdefault", "pop")  # of a dictionary
IN_WORDS = ("__repr__", "__str__")
# What may test something for truth, or hand on what does.
_TESTS = frozenset((ast.If, ast.While, ast.IfExp, ast.Assert, ast.UnaryOp, ast.BoolOp, ast.Call))


def asked(look: Look, knows: tuple[str, ...], compiles: Callable[[], bool]) -> Found:
    """`knows` are the words of files that know of the wrapper of torch.compile; whether this one wraps modules itself,
    `compiles` tells."""
    if look.function.name not in IN_WORDS:
        yield from _class_names(look)
    yield from _truths(look, knows, compiles)
    yield from _prefixes(look, compiles)


def _class_names(look: Look) -> Found:
    """`type(model).__name__` of a given module, by which something is looked up, compared or filed."""
    if not any(node.attr in NAMES for node in parts(look.function, ast.Attribute)):
        return
    for node in _but_messages(look, look.function.body):
        if not isinstance(node, ast.Attribute) or node.attr not in NAMES:
            continue
        place = _whose_class(node.value)
        if place is None or not _is_module(look, place):
            continue
        if look.calls("saves tensors") or look.calls("loads tensors") or _looks_up(look, node):
            yield "class of given", node, {"name": dotted(place) or ""}


def _whose_class(node: ast.expr) -> ast.expr | None:
    """`model` of `model.__class__` and of `type(model)`."""
    if isinstance(node, ast.Attribute) and node.attr == "__class__":
        return node.value
    if isinstance(node, ast.Call) and is_name(node.func, "type"):
        return node.args[0] if len(node.args) == 1 else None
    return None


def _but_messages(look: Look, body: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """The nodes of statements that do not only make a text for people to read."""
    says = look.at.models.last_words("says")
    nodes = list(body)
    while nodes:
        node = nodes.pop()
        if isinstance(node, ast.Raise):
            continue
        if isinstance(node, ast.Call):
            if last_word(node.func) in says:
                continue
        yield node
        nodes += [node.test] if isinstance(node, ast.Assert) else below(node)


def _looks_up(look: Look, asked: ast.expr) -> bool:
    """Whether the text is compared, or is a key, by itself or by the name that it is assigned to."""
    names = {
        target.id
        for one in parts(look.function, ast.Assign)
        if one.value is asked
        for target in one.targets
        if isinstance(target, ast.Name)
    }

    def is_it(node: ast.AST) -> bool:
        return node is asked or (isinstance(node, ast.Name) and node.id in names)

    for node in _but_messages(look, look.function.body):
        if isinstance(node, ast.Compare):
            sides = [node.left, *node.comparators]
            if any(map(is_it, sides)) and not any(
                _whose_class(getattr(s, "value", s)) for s in sides if s is not asked
            ):
                return True
        elif isinstance(node, ast.Subscript) and is_it(node.slice):
            return True
        elif isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.args:
            if node.func.attr in LOOKS_UP and is_it(node.args[0]):
                return True
    return False


def _truths(look: Look, knows: tuple[str, ...], compiles: Callable[[], bool]) -> Found:
    """`model or self.model`, `if model:` of a given module; in a file that compiles, or calls what knows of it."""
    for node in walk(look.function):
        if node.__class__ not in _TESTS:
            continue
        for tested in _tested(node):
            if _is_module(look, tested) and (compiles() or _unwraps(look, knows)):
                yield "truth of given", tested, {"name": dotted(tested) or ""}
        if isinstance(node, ast.Call):
            first = [one for one in _given_first(node) if look.is_given(one)]
            for tested in first if first and _takes_off(look, node.func, knows) else ():
                yield "truth of given", tested, {"name": dotted(tested) or ""}


def _tested(node: ast.AST) -> Iterator[ast.expr]:
    """What is tested for truth there, by name. Of `model or self.model` the first, where the second is a module."""
    tests: list[ast.expr] = []
    if isinstance(node, ast.If | ast.While | ast.IfExp | ast.Assert):
        tests = [node.test]
    elif isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.Not):
        tests = [node.operand]
    elif isinstance(node, ast.BoolOp):
        tests = node.values[:-1]
    yield from (test for test in tests if isinstance(test, ast.Name | ast.Attribute))


def _prefixes(look: Look, compiles: Callable[[], bool]) -> Found:
    """`{k.replace("module.", ""): v for k, v in state.items()}`: what DistributedDataParallel puts before the names is
    taken off, where torch.compile puts something, too; in a file that takes modules out of wrappers, or compiles some:
    what only converts a published state meets no compiled one."""
    keys = dict(_keys(look)) if look.frame.module.says(f".{HELD}") or compiles() else {}
    makes = bool(parts(look.function, ast.DictComp)) or any(
        isinstance(part.ctx, ast.Store) for part in parts(look.function, ast.Subscript)
    )
    for node in _but_messages(look, look.function.body) if keys and makes else ():
        if not isinstance(node, ast.Call) or not isinstance(node.func, ast.Attribute) or not node.args:
            continue
        key, does = node.func.value, node.func.attr
        if not _is_prefix(node.args[0]):
            continue
        if does == "startswith" and isinstance(
            key, ast.Subscript
        ):  # `next(iter(state.items()))[0]`, for all of them
            cut = next((name for name in keys if _cuts(look, name)), "")
            if cut and keys[cut].partition(".")[0] in {n.id for n in walk(key) if isinstance(n, ast.Name)}:
                yield "strip given", node, {"name": keys[cut], "does": does}
                return
        if not isinstance(key, ast.Name) or key.id not in keys:
            continue
        if does in ("replace", "removeprefix") or (does == "startswith" and _cuts(look, key.id)):
            yield "strip given", node, {"name": keys[key.id], "does": does}
            return


def _keys(look: Look) -> Iterator[tuple[str, str]]:
    """The names of keys of a state that the function is given, or reads from a file, and whose those are."""
    for one in walk(look.function):
        if not isinstance(one, ast.For | ast.comprehension):
            continue
        over, target = look.made(one.iter), one.target
        if isinstance(over, ast.Call) and isinstance(over.func, ast.Attribute):
            if over.func.attr == "items" and isinstance(target, ast.Tuple) and target.elts:
                target = target.elts[0]
            over = over.func.value if over.func.attr in ("items", "keys") else over
        root = (dotted(over) or "").partition(".")[0]
        if isinstance(target, ast.Name) and root and (root in look.given or _reads_states(look)):
            yield target.id, dotted(over) or ""


def _reads_states(look: Look) -> bool:
    """Whether the function reads files of tensors, or has a module load a state."""
    loads = look.at.models.last_words("loads state")
    return look.calls("loads tensors") or any(
        isinstance(call.func, ast.Attribute) and call.func.attr in loads
        for call in parts(look.function, ast.Call)
    )


def _is_prefix(node: ast.expr) -> bool:
    return isinstance(node, ast.Constant) and node.value in ("module.", "module")


def _cuts(look: Look, key: str) -> bool:
    """Whether something is left out at the front of the key: `key[7:]`, `key[len("module."):]`."""
    return any(
        isinstance(part.value, ast.Name)
        and part.value.id == key
        and isinstance(part.slice, ast.Slice)
        and part.slice.lower is not None
        and part.slice.upper is None
        for part in parts(look.function, ast.Subscript)
    )


def _given_first(call: ast.Call) -> Iterator[ast.expr]:
    """`model` of `unwrap(accelerator, model or self.model)`."""
    for argument in (*call.args, *(k.value for k in call.keywords)):
        if isinstance(argument, ast.BoolOp) and isinstance(argument.op, ast.Or):
            yield from (one for one in argument.values[:-1] if isinstance(one, ast.Name | ast.Attribute))


def _is_module(look: Look, place: ast.expr) -> bool:
    """Whether the function is given a module there: by its annotation, as one of a list, or by what is done with it."""
    if isinstance(place, ast.Name):
        if place.id in look.given and place.id != look.me:
            said = _annotated(look, place.id)
            if isinstance(said, Instance) and look.at.models.plays(said.external or "", "trains"):
                return False  # an optimizer, which may have a `train()` as well
            return _are_some(look, said) or look.is_used_as_module(place)
        over = {one.id for one in look.gone_over(place.id) if isinstance(one, ast.Name)}
        listed = [_annotated(look, name) for name in over & look.given]
        return any(isinstance(many, Seq) and _are_some(look, many.elem) for many in listed)
    held = look.is_given(place) and not look.at.classes.is_module(look.frame.cls)
    return held and not look.is_made(place) and look.is_used_as_module(place)


def _annotated(look: Look, name: str) -> Value:
    """What the function says that it is given by the name."""
    said = next((a.annotation for a in parameters_in(look.function.args) if a.arg == name), None)
    return look.at.types.annotation(said, look.frame) if said is not None else UNKNOWN


def _are_some(look: Look, value: Value) -> bool:
    return any(_is_one(look, one) for one in options(value))


def _is_one(look: Look, value: Value) -> bool:
    if not isinstance(value, Instance):
        return False
    if value.external is not None:
        models, name = look.at.models, value.external
        return models.makes_modules(name) or models.plays(name, "class of models")
    return look.at.classes.is_module(value.cls)


def _unwraps(look: Look, knows: tuple[str, ...]) -> bool:
    """Whether the function calls what takes the wrapper off."""
    return any(_takes_off(look, node.func, knows) for node in parts(look.function, ast.Call))


def _takes_off(look: Look, func: ast.expr, knows: tuple[str, ...]) -> bool:
    """Whether it is a function of the project that knows of the wrapper."""
    callee = look.value(func) if isinstance(func, ast.Name) else None
    return (
        isinstance(callee, Func)
        and any(map(callee.module.says, knows))
        and any(word.startswith(knows) for word in _words(callee.node))
    )


def _words(function: ast.AST) -> Iterator[str]:
    for node in walk(function):
        if isinstance(node, ast.Attribute):
            yield node.attr
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            yield node.value
