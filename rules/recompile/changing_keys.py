from __future__ import annotations

import ast
import re
from types import MappingProxyType

import libcst as cst

from pt2lint.fixes import by_hand
from pt2lint.op import Op
from pt2lint.rule.compiled_call import CompiledCall
from pt2lint.rule.loop_lengths import filled_under, keeps
from pt2lint.rule.loop_turns import Turns
from pt2lint.rule.syntax import dotted
from pt2lint.rule.tree import is_name


def is_counted(loop: cst.CompFor, turns: Turns) -> bool:
    """Whether a comprehension goes over `range(n)` of another number at each turn."""
    over = loop.iter
    ranges = isinstance(over, cst.Call) and is_name(over.func, "range")
    return isinstance(over, cst.Call) and ranges and any(turns.number(a.value) for a in over.args)


RETURN = "Return what it adds, and let the caller put that into the list"


class ChangingKeys(CompiledCall):
    """A compiled function is called with other dictionary keys, or another number of arguments, each time.

    ## What happens
    Dynamo guards on the keys of every dictionary that it goes through, and on how many values a `*args` holds: they
    decide what the graph's inputs are. Keys made of a counter, and keys or arguments that become more, are compiled
    again at every call, until the recompile limit; from then on the function runs without compiling. Tensors under
    the same keys cost nothing, whatever is in them. So is a list or a tuple that the function returns longer than
    it was given it, where the next call is given that (`y, past = model(x, past)` of a cache to which each step
    adds): a cache that is made as long as it will get, and written to, has the same length each time. Nor should the
    function add to a list that it is given (`losses.append(y)`, `stats["loss"].append(y)`) and that the caller keeps.

    ## Example
    ```python
    import torch

    @torch.compile
    def total(parts):
        return sum(parts.values())

    def run():
        for step in range(11):
            total({f"loss_{step}": torch.ones(3)})
    ```

    ## Use instead
    ```python
    import torch

    @torch.compile
    def total(parts):
        return sum(parts.values())

    def run():
        for step in range(11):
            total({"loss": torch.ones(3)})
    ```
    Where more and more tensors have to be passed, pass one that `torch.stack` made of them, marked by
    `torch._dynamo.mark_dynamic`.

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15, for a dictionary,
    `**keywords`, `*args` and a list that the function adds to.
    """

    code = "PTR210"
    name = "changing-keys"
    instead = MappingProxyType({"": "Pass it under a key that stays the same, and name it outside"})

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return any(k.startswith(("use ", "longer ", "added ")) for k in op.details)

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        for argument in self.arguments(node, op):
            if op.detail(f"longer {argument.key}") and self.is_fed_back(node, argument.value):
                self.report(
                    argument.value,
                    self.shown(op, argument.key),
                    f"`{self.text(argument.value)}` comes back longer from every call of {self.callee(op)}, and Dynamo "
                    "guards on its length: each is compiled again, until the limit",
                )
                continue
            if op.detail(f"added {argument.key}") and self.is_kept(argument.value, turns):
                shown = self.led_to(
                    self.shown(op, argument.key), op.detail(f"added {argument.key}"), "it is added to"
                )
                self.report(
                    argument.value,
                    shown,
                    f"{self.callee(op)} adds to {self.quote(argument.value)} at every call, and Dynamo guards on the "
                    "length of each list: each is compiled again, until the limit",
                    fixes=[by_hand.told(RETURN)],
                )
                continue
            key = self.key(argument.value, turns, argument.word.startswith("dict"))
            if argument.use and key is not None:
                self.say(argument.value, self.shown(op, argument.key, "the dictionary is used here"), key)
        for a in node.args:
            if a.star == "**" and op.detail("use **"):
                key = self.key(a.value, turns, True)
                if key is not None:
                    self.say(a.value, self.shown(op, "**"), key)
            elif (
                a.star == "*"
                and op.detail("use *")
                and isinstance(a.value, cst.Name)
                and turns.grows(a.value.value)
            ):
                self.report(
                    a.value,
                    self.shown(op, "*"),
                    f"`*{self.text(a.value)}` passes more arguments at every call, and Dynamo guards on their number: "
                    "each is compiled again, until the limit",
                )

    def is_kept(self, value: cst.BaseExpression, turns: Turns) -> bool:
        """Whether each turn passes the same, with what was added to it: a name that was bound before the loop, or an
        attribute that one place of the file sets, and none empties."""
        place = dotted(value)
        if not place or not keeps(turns, place):
            return False
        held = re.escape(place.rpartition(".")[2]) if "." in place else ""
        text = self.function.source
        anew = re.findall(rf"\.{held}\s*(?::[^=\n]+)?=[^=]", text) if held else ()
        emptied = held and re.search(rf"\.{held}(?:\[[^\]]*\])?\.(?:clear|pop)", text)
        return len(anew) <= 1 and not emptied

    def key(self, value: cst.BaseExpression, turns: Turns, is_dict: bool) -> cst.BaseExpression | None:
        """The first key of a dictionary as it is written that is another text at each turn, or under which a turn puts
        one thing more."""
        made = turns.meaning(value)
        if isinstance(made, cst.Dict):
            for element in made.elements:
                if isinstance(element, cst.DictElement) and (
                    turns.text(element.key) or turns.number(element.key)
                ):
                    return element.key
        if isinstance(made, cst.DictComp) and is_counted(made.for_in, turns):
            return made.key
        if isinstance(made, cst.Call) and (key := self.made_by_helper(made, turns)) is not None:
            return key
        return filled_under(turns, value.value) if is_dict and isinstance(value, cst.Name) else None

    def made_by_helper(self, call: cst.Call, turns: Turns) -> cst.BaseExpression | None:
        """The key of the dictionary that a function of the file returns, where it names what changes:
        `return {f"stage{n}": y}`."""
        tree = self.function.file_tree
        name = call.func.value if isinstance(call.func, cst.Name) else ""
        found = [d for d in tree.body if isinstance(d, ast.FunctionDef) and d.name == name] if tree else []
        if len(found) != 1 or any(a.star for a in call.args):
            return None
        returned = [part.value for part in ast.walk(found[0]) if isinstance(part, ast.Return)]
        listed = found[0].args
        given = [a.arg for a in (*listed.posonlyargs, *listed.args)]
        changing = {
            a.keyword.value if a.keyword is not None else given[i]
            for i, a in enumerate(call.args)
            if i < len(given) and turns.told(a.value)
        }
        if len(returned) == 1 and isinstance(returned[0], ast.Dict):
            for key in returned[0].keys:
                if isinstance(key, ast.Name | ast.JoinedStr):
                    if any(isinstance(part, ast.Name) and part.id in changing for part in ast.walk(key)):
                        return cst.parse_expression(ast.unparse(key))
        return None

    def say(self, node: cst.BaseExpression, op: Op, key: cst.BaseExpression) -> None:
        self.report(
            node,
            op,
            f"the key `{self.text(key)}` is another one at every call of {self.callee(op)}: each set of keys is "
            "compiled again, until the limit",
        )
