"""Attention over chunks of a sequence, one by one: over all of it at once, with a mask that keeps the chunks apart."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.purity import callee, effect
from pt2lint.fixes.rewrite import (
    New,
    Refused,
    Repaired,
    accepted,
    binds,
    block_of,
    enclosing_function,
    fix,
    fresh,
    in_parentheses,
    line,
    name_in,
    named_argument,
    qualified,
    reads,
    refusing,
    replaced,
    rewrite,
    small_of,
    source,
    statement_of,
    statements,
    torch_name,
    uses,
)
from pt2lint.rule import FunctionCode

_SDPA = "torch.nn.functional.scaled_dot_product_attention"
_MASKS = ("attention_mask", "attn_mask")


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The repair of the `.tolist()` that says how long the chunks are."""
    return accepted(one_attention(function, node))


@refusing
def one_attention(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """Queries, keys and values that are split by one list of sizes, each chunk's attention computed alone, and the
    results put together by `torch.cat`: one attention over all, masked.

    The attention is `scaled_dot_product_attention`, or what is told `attention_mask=None`. Unsafe: all pairs are
    computed, so a value that is not finite reaches other chunks, and dropout draws for all pairs.
    """
    return _Chunks(function, node).rewritten()


@dataclass
class _Attention:
    """The call that is made for each chunk; `value` is what of it is kept."""

    value: cst.BaseExpression
    call: cst.Call
    names: dict[str, str]  # what a chunk is called: the source of what it is a chunk of


class _Chunks:
    def __init__(self, function: FunctionCode, node: cst.CSTNode) -> None:
        self.function, self.node = function, node
        owner = enclosing_function(function, node)
        if owner is None or not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            raise Refused("no list of sizes is read out of a tensor")
        if node.func.attr.value != "tolist" or effect(node.func.value):
            raise Refused("no list of sizes is read out of a tensor")
        self.owner, self.sizes = owner, node.func.value
        self.new: dict[cst.CSTNode, New] = {}

    def rewritten(self) -> Repaired:
        tensors, dim, first, zipped = self.split()
        attention, target, place = self.attended(tensors, zipped)
        self.must_hold_still(tensors, first, place)
        function, query = self.function, tensors[0]
        ids = fresh(function, "chunk_ids", zipped)
        repeat, imports = torch_name(function, "torch.repeat_interleave")
        where, more = torch_name(function, "torch.where")
        lines = [f"{ids} = {repeat}({source(function, self.sizes)}, output_size={query}.shape[{dim}])"]
        same = f"{ids}[:, None] == {ids}"
        if qualified(function, attention.call.func) != _SDPA:
            both, mask = (fresh(function, name, zipped) for name in ("same_chunk", "chunk_mask"))
            lines.append(f"{both} = {same}")
            lines.append(f'{mask} = {where}({both}, 0.0, float("-inf")).to({query}.dtype)[None, None]')
        else:
            mask = same
        made = statements(function, lines)
        self.new[first] = [made[0].with_changes(leading_lines=first.leading_lines), *made[1:]]  # type: ignore[attr-defined]
        self.new[place] = line(f"{target} = {self.masked(attention, mask)}", place)
        return fix(
            "Attend to all chunks at once, with a mask that keeps them apart, so that nobody has to know their sizes. "
            "All pairs are computed: where many thousands are split, that costs more than it saves. It assumes that "
            "this is an attention, that the sizes add up, and that the values are finite: others reach all chunks. "
            "With dropout, one seed then draws other random numbers.",
            (*imports, *more, *rewrite(function, self.new)),
            "other draws",
            "once proven",
            "whole numbers",
        )

    def must_hold_still(self, tensors: Sequence[str], first: cst.CSTNode, place: cst.CSTNode) -> None:
        """Raise Refused where what is split is bound anew on the way to the attention, or not always split."""
        blocks = [block_of(self.function, one) for one in (first, place)]
        if blocks[0] is None or blocks[1] is None or blocks[0][0] is not blocks[1][0]:
            raise Refused("the attention stands in another block")
        begin = min(self.function.range(one)[:2] for one in (self.node, first))
        end = self.function.range(place)[:2]
        used = reads(self.sizes, *map(cst.parse_expression, tensors))
        for use in uses(self.owner.body):
            if use.binds and use.name in used and begin < self.function.range(use.node)[:2] < end:
                raise Refused(f"`{use.name}` is bound anew on the way")

    def split(self) -> tuple[list[str], int, cst.CSTNode, cst.Call]:
        """What is split, along which dimension, the first statement that does, and the `zip` of the chunks."""
        calls = [self.call_of(one) for one in self.given()]
        dims = {self.dim(call, 1) for call in calls}
        if len(dims) != 1:
            raise Refused("not all are split along one dimension")
        dim = dims.pop()
        parent = self.function.parent(calls[0])
        if isinstance(parent, cst.ListComp) and len(calls) == 1:
            tensors, name, statement = self.split_in_list(parent, calls[0])
            zipped = self.zip_of([name])
            if [arg.star for arg in zipped.args] != ["*"]:
                raise Refused("the chunks are not zipped")
            self.new[statement] = None
            return tensors, dim, statement, zipped
        zipped = self.zip_of([self.assigned(call)[1] for call in calls])
        if len(calls) == 1:
            calls = [self.split_of(arg.value) for arg in zipped.args]
        by_name = {self.assigned(call)[1]: call for call in calls}
        given = [arg.value.value if isinstance(arg.value, cst.Name) else "" for arg in zipped.args]
        if sorted(given) != sorted(by_name) or any(arg.star or arg.keyword for arg in zipped.args):
            raise Refused("the chunks are not zipped")
        if {self.dim(call, 1) for call in calls} != {dim} or self.zip_of(given) is not zipped:
            raise Refused("not all are split along one dimension")
        statements_ = sorted((self.assigned(call)[0] for call in calls), key=self.function.range)
        self.new |= dict.fromkeys(statements_)
        return [self.tensor(by_name[name]) for name in given], dim, statements_[0], zipped

    def split_of(self, name: cst.BaseExpression) -> cst.Call:
        """The call that splits, by a list made just like this one, into what has the name."""
        bound = [
            use.node for use in uses(self.owner.body) if use.binds and use.name == getattr(name, "value", "")
        ]
        assign = self.function.parent(self.function.parent(bound[0]) or bound[0]) if len(bound) == 1 else None
        call = assign.value if isinstance(assign, cst.Assign) else None
        wanted = source(self.function, self.node)
        for arg in call.args if isinstance(call, cst.Call) else ():
            if source(self.function, arg.value) == wanted:
                return self.call_of(arg.value)
        raise Refused("the chunks are not all split by one list")

    def given(self) -> list[cst.CSTNode]:
        """The places where the list of sizes is used; its own assignment goes, where it has one."""
        parent = self.function.parent(self.node)
        if isinstance(parent, cst.Arg):
            return [self.node]
        statement, name = self.assigned(self.node)
        self.new[statement] = None
        return self.reads(name)

    def call_of(self, given: cst.CSTNode) -> cst.Call:
        """The call that splits by the sizes."""
        arg = self.function.parent(given)
        call = self.function.parent(arg) if isinstance(arg, cst.Arg) else None
        if not isinstance(call, cst.Call) or callee(call) not in ("split", "split_with_sizes"):
            raise Refused("the sizes are given to something else than `split`")
        name = qualified(self.function, call.func)
        if (name is not None and not name.startswith("torch.")) or not isinstance(call.func, cst.Attribute):
            raise Refused("the sizes are given to something else than `split`")
        at = call.args.index(arg)
        if arg.keyword is not None or at != (0 if name is None else 1):  # type: ignore[union-attr]
            raise Refused("the sizes do not stand where they are expected")
        return call

    def tensor(self, call: cst.Call) -> str:
        """What a call splits."""
        of_torch = qualified(self.function, call.func) is not None
        node = call.args[0].value if of_torch else call.func.value  # type: ignore[attr-defined]
        if effect(node):
            raise Refused("what is split has an effect")
        return in_parentheses(source(self.function, node))

    def dim(self, call: cst.Call, sizes: int) -> int:
        """The dimension that `split` or `cat` is given after its other arguments."""
        of_torch = qualified(self.function, call.func) is not None
        rest = call.args[sizes + of_torch :] if sizes else call.args[1:]
        if not rest:
            return 0
        keyword = rest[0].keyword
        if len(rest) > 1 or (keyword is not None and keyword.value not in ("dim", "axis")):
            raise Refused("`split` is given more than a dimension")
        try:
            return int(source(self.function, rest[0].value))
        except ValueError:
            raise Refused("the dimension is not written out") from None

    def split_in_list(self, made: cst.ListComp, call: cst.Call) -> tuple[list[str], str, cst.CSTNode]:
        """`name = [torch.split(t, sizes) for t in (q, k, v)]`: what is split, the name, the statement."""
        loop = made.for_in
        each = loop.target.value if isinstance(loop.target, cst.Name) else None
        if loop.ifs or loop.inner_for_in or not isinstance(loop.iter, cst.Tuple | cst.List):
            raise Refused("what is split is not written out")
        if self.tensor(call) != each or any(use.name == each for use in uses(self.sizes)):
            raise Refused("not each is split")
        elements = [one.value for one in loop.iter.elements]
        if any(isinstance(one, cst.StarredElement) or effect(one) for one in loop.iter.elements):
            raise Refused("what is split is not written out")
        statement, name = self.assigned(made)
        return [in_parentheses(source(self.function, one)) for one in elements], name, statement

    def zip_of(self, names: Sequence[str]) -> cst.Call:
        """The one call of `zip` that all names are given to, and nothing else reads."""
        found: list[cst.CSTNode] = []
        for name in names:
            places = self.reads(name)
            arg = self.function.parent(places[0]) if len(places) == 1 else None
            call = self.function.parent(arg) if isinstance(arg, cst.Arg) else None
            if not isinstance(call, cst.Call) or source(self.function, call.func) != "zip":
                raise Refused("the chunks are used in another way than by `zip`")
            found.append(call)
        if not found or any(one is not found[0] for one in found):
            raise Refused("the chunks are used in another way than by `zip`")
        return found[0]  # type: ignore[return-value]

    def attended(
        self, tensors: Sequence[str], zipped: cst.Call
    ) -> tuple[_Attention, str, cst.SimpleStatementLine | cst.For]:
        """The attention to a chunk, what its results are bound to, and the statement that takes their place."""
        loop = self.function.parent(zipped)
        if isinstance(loop, cst.For):
            return self.in_statement(loop, tensors)
        made = self.function.parent(loop) if isinstance(loop, cst.CompFor) else None
        if not isinstance(loop, cst.CompFor) or not isinstance(made, cst.ListComp | cst.GeneratorExp):
            raise Refused("the chunks are not taken one by one")
        if loop.ifs or loop.inner_for_in or loop.asynchronous:
            raise Refused("not all chunks are taken")
        attention = self.attention(made.elt, loop.target, tensors)
        statement = self.alone(made)
        arg = self.function.parent(made)
        cat = self.function.parent(arg) if isinstance(arg, cst.Arg) else None
        if isinstance(cat, cst.Call):
            target = self.put_together(cat)
            return attention, target[1], target[0]
        _, name = self.assigned(made)
        cats, target_name = self.cat_after(statement, name)
        self.new[cats] = None
        return attention, target_name, statement

    def in_statement(
        self, loop: cst.For, tensors: Sequence[str]
    ) -> tuple[_Attention, str, cst.SimpleStatementLine | cst.For]:
        """`for q, k, v in zip(...): o, w = attention(q, k, v); outs.append(o); weights.append(w)`, then the `cat`."""
        first, *rest = [small_of(one) for one in loop.body.body]
        place = block_of(self.function, loop)
        if loop.orelse is not None or place is None or place[1] + 1 >= len(place[0]):
            raise Refused("nothing puts the results together")
        if isinstance(first, cst.Assign) and len(first.targets) == 1:
            value, bound = first.value, first.targets[0].target
            parts = [one.value for one in bound.elements] if isinstance(bound, cst.Tuple) else [bound]
            names = [one.value if isinstance(one, cst.Name) else "" for one in parts]
            taken = [self.appended(one) for one in rest]
            # A result: the list that takes it.
            kept = {source(self.function, one): into for into, one in taken}
        else:
            into, value = self.appended(first)
            names, kept = [into], {into: into}
        lists = set(kept.values())
        if isinstance(first, cst.Expr) and rest:
            raise Refused("more is done in the loop")
        if not kept or "" in names or not kept.keys() <= set(names) or len(lists) != (len(rest) or 1):
            raise Refused("more is done in the loop")
        self.drop_starts(lists, loop)
        together = next((one for one in lists if one in reads(place[0][place[1] + 1])), "")
        cat, result = self.cat_after(loop, together)
        end = self.function.range(loop)[2:]
        later = {
            use.name
            for use in uses(self.owner.body)
            if not use.binds and self.function.range(use.node)[:2] > end
        }
        if (later - {result} - lists) & set(binds(loop)):
            raise Refused("the last chunk is used after the loop")
        attention = self.attention(value, loop.target, tensors)
        self.new[cat] = None
        said = [result if kept.get(name) == together else kept.get(name, name) for name in names]
        return attention, ", ".join(said), loop

    def drop_starts(self, names: set[str], loop: cst.For) -> None:
        """Take away `a, b = [], []`, or `a = []` for each, before the loop."""
        place = block_of(self.function, loop)
        left = set(names)
        for statement in reversed(place[0][: place[1]] if place is not None else ()):
            bound, small = set(binds(statement)), small_of(statement)
            if not left or names & reads(statement):
                break
            if not names & bound:
                continue
            values = small.value if isinstance(small, cst.Assign) and len(small.targets) == 1 else None
            parts = [one.value for one in values.elements] if isinstance(values, cst.Tuple) else [values]
            if not bound <= left or any(not isinstance(one, cst.List) or one.elements for one in parts):
                break
            left -= bound
            self.new[statement] = None
        if left:
            raise Refused("the results are not kept in lists that start empty")

    def appended(self, small: cst.CSTNode | None) -> tuple[str, cst.BaseExpression]:
        """The list and the value of `list.append(value)`."""
        call = small.value if isinstance(small, cst.Expr) else None
        if (
            not isinstance(call, cst.Call)
            or callee(call) != "append"
            or len(call.args) != 1
            or not isinstance(call.func, cst.Attribute)
            or not isinstance(call.func.value, cst.Name)
        ):
            raise Refused("more is done in the loop")
        return call.func.value.value, call.args[0].value

    def attention(
        self, value: cst.BaseExpression, target: cst.BaseAssignTargetExpression, tensors: Sequence[str]
    ) -> _Attention:
        elements = target.elements if isinstance(target, cst.Tuple) else ()
        names = [one.value.value if isinstance(one.value, cst.Name) else "" for one in elements]
        if len(set(names)) != len(names) or len(names) != len(tensors) or len(names) != 3:
            raise Refused("these are not queries, keys and values")
        call = value.value if isinstance(value, cst.Subscript) else value
        if not isinstance(call, cst.Call):
            raise Refused("no attention is computed")
        given = [arg.value.value for arg in call.args if isinstance(arg.value, cst.Name)]
        read = [use.name for use in uses(value) if use.name in names]
        if sorted(read) != sorted(names) or not set(names) <= set(given):
            raise Refused("more is done with a chunk")
        keywords = {arg.keyword.value: arg.value for arg in call.args if arg.keyword is not None}
        masks = [name for name in _MASKS if name in keywords]
        causal = keywords.get("is_causal")
        if causal is not None and source(self.function, causal) != "False":
            raise Refused("the attention is causal")
        of_torch = qualified(self.function, call.func) == _SDPA
        if of_torch and sum(arg.keyword is None for arg in call.args) > 3:
            raise Refused("the attention is masked already")
        told = [source(self.function, keywords[name]) for name in masks]
        if told != ["None"] and (told or not of_torch):
            raise Refused("it is not told that there is no mask")
        return _Attention(value, call, dict(zip(names, tensors, strict=True)))

    def masked(self, attention: _Attention, mask: str) -> str:
        """The source of the attention to all chunks."""
        call, args = attention.call, []
        told = False
        for arg in call.args:
            if isinstance(arg.value, cst.Name) and arg.value.value in attention.names:
                arg = arg.with_changes(value=cst.parse_expression(attention.names[arg.value.value]))
            elif arg.keyword is not None and arg.keyword.value in _MASKS:
                arg, told = arg.with_changes(value=cst.parse_expression(mask)), True
            args.append(arg)
        if not told:
            made = named_argument("attn_mask", cst.parse_expression(mask))
            after = args[2].comma if len(args) > 3 else cst.MaybeSentinel.DEFAULT
            if len(args) == 3:
                args[2] = args[2].with_changes(comma=cst.MaybeSentinel.DEFAULT)
            args.insert(3, made.with_changes(comma=after))
        new = replaced(attention.value, {call: call.with_changes(args=args)})
        text = source(self.function, new)
        head, *tail = text.split("\n")
        if not tail:
            return text
        excess = tail[-1][: len(tail[-1]) - len(tail[-1].lstrip())]
        return "\n".join([head, *(one.removeprefix(excess) for one in tail)])

    def cat_after(self, statement: cst.CSTNode, name: str) -> tuple[cst.CSTNode, str]:
        """The statement after this one, which puts the list together, and what it binds."""
        place = block_of(self.function, statement)
        after = place[0][place[1] + 1] if place is not None and place[1] + 1 < len(place[0]) else None
        small = small_of(after) if after is not None else None
        call = small.value if isinstance(small, cst.Assign) else None
        if not isinstance(call, cst.Call):
            raise Refused("the results are used in another way")
        found, target = self.put_together(call)
        end = self.function.range(found)[2:]
        # Behind `outs = torch.cat(outs)` the name is that of the result.
        read = [one for one in self.reads(name) if target != name or self.function.range(one)[:2] < end]
        if len(read) - self.appends(name) != 1:
            raise Refused("the results are used in another way")
        given = call.args[0].value
        if not isinstance(given, cst.Name) or given.value != name:
            raise Refused("the results are used in another way")
        return found, target

    def put_together(self, call: cst.Call) -> tuple[cst.SimpleStatementLine, str]:
        """The statement `target = torch.cat(..., dim=n)`, and the target."""
        if qualified(self.function, call.func) not in ("torch.cat", "torch.concat", "torch.concatenate"):
            raise Refused("the results are not put together by `torch.cat`")
        self.dim(call, 0)
        return self.assigned(call)

    def appends(self, name: str) -> int:
        return sum(
            isinstance(parent := self.function.parent(one), cst.Attribute) and parent.attr.value == "append"
            for one in self.reads(name)
        )

    def assigned(self, value: cst.CSTNode) -> tuple[cst.SimpleStatementLine, str]:
        """The statement that only binds the value to one name, and the name."""
        statement = self.alone(value)
        target = name_in(self.function.parent(value))
        if target is None:
            raise Refused("a value on the way has no name of its own")
        return statement, target.value

    def alone(self, node: cst.CSTNode) -> cst.SimpleStatementLine:
        statement = statement_of(self.function, node)
        if not isinstance(statement, cst.SimpleStatementLine) or len(statement.body) != 1:
            raise Refused("a statement on the way does not stand alone")
        return statement

    def reads(self, name: str) -> list[cst.CSTNode]:
        return [use.node for use in uses(self.owner.body) if use.name == name and not use.binds]
