from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.fixes.by_hand import told
from pt2lint.op import Op
from pt2lint.rule.compiled_call import Argument, CompiledCall, are_numbers
from pt2lint.rule.loop_lengths import length
from pt2lint.rule.loop_turns import Turns

ANEW = "compiled again, until the limit"
LONGER = f"is longer at every call, and Dynamo guards on its length: each length is {ANEW}"
PICK = "Pick what the number picks where nothing is compiled, and pass that"
AS_TENSOR = (
    "Pass the number as a tensor of one dimension, and read and write with `index_select` and `index_copy_`"
)
OFFERS = {
    "index": PICK,
    "array": PICK,
    "place": AS_TENSOR,
    "row": AS_TENSOR,
    "constant": "Compute with tensors what keeps the number as a constant, or change it in few steps",
    "read": "Pass the number as a tensor",
}
LISTED = "Pass one tensor that `torch.stack` or padding makes of the list, with its length marked as dynamic"
TENSORS_ARE_INPUTS = (2, 15)  # from here on no number in a 0-dim tensor is a constant
ENDS = "once Dynamo keeps a symbol for the number, the graph ends there (GB0112)"


class UnrolledNumber(CompiledCall):
    """A number that changes from call to call decides what is compiled.

    ## What happens
    A number that only enters the arithmetic costs one recompilation, since Dynamo then makes it an input of the
    graph. It cannot where the number decides what the graph is: how often `for _ in range(n)` turns, which element
    of a list or dictionary is taken, or of a tensor beside other dimensions (`cache[:, n] = x`), into how many
    parts `chunk` or `split` cuts, or where torch keeps the number as a constant, as it does with the `p` of
    `dropout`, `label_smoothing`, `eps`, `momentum`, the bounds of `uniform_` and the `scale` of attention, or where
    Python's `math.exp`, `math.log` and others compute with it, for which Dynamo has no symbol (it has one for
    `math.sqrt`, `math.cos` and `**`), or one of 55 functions of NumPy's (`np.exp(-step / 100)`, `np.sqrt(n)`,
    `np.clip(n, 0, 5)`), which makes an array of it. Every new number is then compiled again, until the recompile
    limit, and from then on the function runs without compiling. The same goes for every number under
    `dynamic=False`, and for a list that is longer at every call, or a tuple that holds it. An element of a NumPy
    array that such a number picks, as a schedule's (`self.temperatures[epoch]`), ends the graph from the second
    number on (GB0112).

    A 0-dim tensor on the CPU does not help where it picks an element, alone or beside others: before 2.15 Dynamo takes
    the number in `torch.tensor(n)`, or in `t` of `for t in torch.arange(1000)`, for a constant as well
    (`self.alphas[t]`, `cache[:, n] = x`); on a GPU it ends the graph (torch 2.11). Nothing asks for the number of
    `cache.index_copy_(1, n, x)`, `index_select` and `F.embedding`, nor of a tensor of one dimension,
    `torch.tensor([n])`.

    ## Example
    ```python
    import torch

    @torch.compile
    def smooth(x, steps):
        for _ in range(steps):
            x = (x + x.roll(1)) / 2
        return x

    def run():
        x = torch.arange(5.0)
        for steps in range(1, 12):
            smooth(x, steps)
    ```

    ## Use instead
    Compile what one iteration does:
    ```python
    import torch

    @torch.compile
    def smooth_once(x):
        return (x + x.roll(1)) / 2

    def run():
        x = torch.arange(5.0)
        for steps in range(1, 12):
            y = x
            for _ in range(steps):
                y = smooth_once(y)
    ```
    An element that a number picks is better picked outside and passed; a rate that is scheduled is best changed
    in few steps, or computed with tensors: `x * (torch.rand_like(x) > p) / (1 - p)` for a tensor `p`.

    ## Versions
    Measured over 11 calls: 8 recompilations, and then eager, on torch 2.6, 2.9, 2.13 and 2.15, for a number given
    to `range`, that indexes or slices a list, a dictionary or a `ModuleList`, or that `chunk`, `split`, `one_hot`,
    `linspace`, `diag`, `dropout`, `cross_entropy`, `huber_loss`, `triplet_margin_loss`, `layer_norm`, `batch_norm`,
    `scaled_dot_product_attention`, `interpolate` (its factor), `normal`, `normal_`, `bernoulli_` or `uniform_` is
    given, for any number with `dynamic=False` (on 2.6 a float costs 1), and for a list that grows. An index of a NumPy
    array: on 2.13 one recompilation, and the graph ends from then on; fine where the array is a tensor. On 2.13 also
    8 for `x[:, n]`, read or written (1 for `x[n]` and for slices), for `x[:, t]` and `x[t]` with `t = torch.tensor(n)`
    (on 2.6 and 2.9 too, none on 2.15, nor for `x.index_select(0, t)`), for the kernel of a pooling or `unfold`, the
    groups of `group_norm`, `quantile`, `matrix_power` and the offset of `diagonal`; on all four 8 for `math.exp`,
    `log`, `log10`, `log1p`, `pow`, `erf`, `hypot`, `fmod`, `gamma`, `asinh` and others, 1 for `math.sqrt`, `log2`,
    `sin`, `cos`, `tanh`, `floor`; on all four 8 too for an int or a float at each place of 55 functions of NumPy's,
    `np.sqrt`, `np.cos`, `np.power`, `np.maximum` and `np.clip` among them, with `dynamic=True` too. Of numbers
    alone, `np.where` ends the graph, and so do `np.hypot` and `np.logaddexp`, which fail on 2.6.
    """

    code = "PTR207"
    name = "unrolled-number"
    instead = MappingProxyType(
        {
            "": "Compile what one iteration does, and loop outside; what a number picks can be picked outside "
            "and passed"
        }
    )

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return any(k.startswith("use ") for k in op.details)

    def looked_at(self, node: cst.Call, op: Op) -> None:
        grown = [a for a in self.arguments(node, op) if a.use and op.detail(f"grown {a.key}")]
        for argument in grown:
            self.say(op, argument, LONGER, "")
        if not grown:
            super().looked_at(node, op)

    def called(self, node: cst.Call, op: Op, turns: Turns) -> None:
        fixed = op.detail("compile dynamic") == "constant False"
        for argument in (*self.arguments(node, op), *self.spread(node, op)):
            value, use = argument.value, argument.use
            if not use:
                continue
            if use in ("place", "row") and self.is_whole_tensor(argument, op, turns):
                self.say(
                    op,
                    argument,
                    f"is a 0-dim tensor by which {self.callee(op)} picks from another: on the CPU Dynamo takes "
                    f"the number in it for a constant, and each is {ANEW}; on a GPU the graph ends there; as a "
                    "tensor of one dimension it costs nothing",
                    use,
                )
                continue
            if argument.word.startswith(("list", "tuple")) and is_grown(value, turns):
                self.say(op, argument, LONGER, "")
            elif (
                argument.word.startswith("list")
                and use == "iterated"
                and (by := self.sized(op, argument.key, turns))
            ) or (argument.word.startswith("list") and (by := length(turns, value))):
                self.say(
                    op,
                    argument,
                    f"has another length with `{by}`, and Dynamo guards on that: each is {ANEW}",
                    "",
                )
            elif self.is_number(argument, turns) and (turns.number(value) or turns.fraction(value)):
                why = self.why(use, op)
                if why:
                    costs = ENDS if use == "array" else f"each number is {ANEW}"
                    self.say(op, argument, f"is another number at every call, and {why}: {costs}", use)
                elif fixed and (self.function.target > (2, 6) or not turns.fraction(value)):
                    self.say(
                        op,
                        argument,
                        f"is another number at every call, and with `dynamic=False` each is {ANEW}",
                        use,
                    )

    def is_whole_tensor(self, argument: Argument, op: Op, turns: Turns) -> bool:
        """Whether it is a 0-dim tensor on the CPU that holds another number at every call: `torch.tensor(n)`, `t` of
        `for t in torch.arange(12):`."""
        if self.function.target >= TENSORS_ARE_INPUTS:
            return False
        number = self.in_tensor(argument.value)
        if number is not None and turns.number(number):
            return True
        changes = turns.item(argument.value) or turns.picks(argument.value)
        return bool(op.detail(f"whole {argument.key}")) and changes

    def in_tensor(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """The number in `torch.tensor(n)` on the CPU. In a list, `torch.tensor([n])`, it is not asked for."""
        if not isinstance(value, cst.Call) or self.text(value.func) != self.local_name("torch.tensor"):
            return None
        number = value.args[0].value if value.args and not value.args[0].star else None
        elsewhere = any(a.keyword is not None and a.keyword.value == "device" for a in value.args)
        return None if elsewhere or isinstance(number, (cst.List, cst.Tuple)) else number

    def is_number(self, argument: Argument, turns: Turns) -> bool:
        if "tensor" in argument.word and not argument.word.startswith(("list", "tuple")):
            return False
        plain = argument.word.startswith(("int", "float", "constant "))
        return (
            (plain and " | " not in argument.word)
            or are_numbers(argument.word)
            or turns.of_counts_alone(argument.value)
        )

    def why(self, use: str, op: Op) -> str:
        if use == "range":
            return f"a loop in {self.callee(op)} runs that often"
        if use == "index":
            return f"{self.callee(op)} takes the element of a list or dictionary by it"
        if use == "place":
            return f"{self.callee(op)} picks from a tensor by it, beside other dimensions"
        if use == "array":
            return f"{self.callee(op)} takes the element of a NumPy array by it"
        if use.startswith("constant "):
            return f"`{use.removeprefix('constant ')}` keeps it as a constant"
        return ""

    def say(self, op: Op, argument: Argument, what: str, use: str) -> None:
        op = self.shown(
            op,
            argument.key,
            "is used here" if use in ("", "row", "read") else "decides here what is compiled",
        )
        offer = LISTED if use == "" and "length" in what else OFFERS.get(use.partition(" ")[0], "")
        fixes = [told(offer)] if offer else ()
        self.report(argument.value, op, f"`{self.text(argument.value)}` {what}", fixes=fixes)


def is_grown(value: cst.BaseExpression, turns: Turns) -> bool:
    """Whether a turn makes the list longer, or one that it holds: `history`, `tuple(history)`, `(h, *history)`."""
    if isinstance(value, cst.Name):
        return turns.grows(value.value)
    if isinstance(value, cst.Call) and isinstance(value.func, cst.Name) and len(value.args) == 1:
        return value.func.value in ("list", "tuple") and is_grown(value.args[0].value, turns)
    parts = value.elements if isinstance(value, cst.Tuple | cst.List) else ()
    return any(isinstance(part, cst.StarredElement) and is_grown(part.value, turns) for part in parts)
