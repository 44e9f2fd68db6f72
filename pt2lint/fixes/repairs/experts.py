"""Experts in a loop, each given the rows that chose it: each given all rows, and what did not choose it left out."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.fixes.condition import definition
from pt2lint.fixes.imports import qualified, torch_name
from pt2lint.fixes.names import binds, fresh, reads, uses
from pt2lint.fixes.nodes import ancestors, assigned, enclosing_function, only_of, small_of, statement_of
from pt2lint.fixes.repaired import Refusal, Refused, Repaired, accepted, fix, refusing
from pt2lint.fixes.rewrite import New, replaced, rewrite
from pt2lint.fixes.text import in_parentheses, source, statements
from pt2lint.rule import FunctionCode
from pt2lint.rule.tree import callee, walk


def fixes(function: FunctionCode, node: cst.CSTNode) -> tuple[Fix, ...]:
    """The loop over all experts, where the node chooses an expert's rows, or the experts to go over."""
    return accepted(all_rows(function, node), all_rows_by_mask(function, node))


_SAID = (
    "Give each expert all rows, zero where they did not choose it, and add what it makes of those that did: no shape "
    "depends on values then. That is more work: every expert computes every row, where each row went to the few that "
    "it chose. Parameters of experts that nobody chose get a gradient of zero instead of none. It assumes that an "
    "expert computes each row by itself."
)


@dataclass(frozen=True)
class _Rows:
    """`slot, row = torch.where(mask)` in a loop: the statement, the mask as rows by slots, and the names."""

    statement: cst.SimpleStatementLine | cst.With
    mask: str
    row: str
    slot: str


@refusing
def all_rows(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`rows, slots = torch.where(chosen == i)` and `results[rows] += weights[rows, slots, None] * expert(x[rows])` as
    `results += torch.where(hit, weight * expert(x), 0)`, in a loop over all experts.

    Also with `index_add_`, and for a loop over `mask.nonzero()`, which then goes over all. Refused where the rows are
    used in any other way.
    """
    owner = enclosing_function(function, node)
    if owner is None:
        return Refusal("not in a function")
    loop = _loop(function, owner, node)
    if loop is None:
        return Refusal("no loop goes over experts here")
    return _Writer(function, owner, loop).fix()


@refusing
def all_rows_by_mask(function: FunctionCode, node: cst.CSTNode) -> Repaired:
    """`if mask.any(): results[mask] = expert(x[mask])` in a loop over experts as
    `results = torch.where(hit, expert(torch.where(hit, x, 0)), results)`; also with `+=`.

    Refused where anything else is done with the mask.
    """
    owner = enclosing_function(function, node)
    loop = _loop(function, owner, node) if owner is not None else None
    if owner is None or loop is None:
        return Refusal("no loop goes over experts here")
    return _Masked(function, loop).fix()


def _loop(function: FunctionCode, owner: cst.FunctionDef, node: cst.CSTNode) -> cst.For | None:
    """The loop in whose body the node stands, or that goes over what it makes."""
    around = next((one for one in ancestors(function, node) if isinstance(one, cst.For)), None)
    if around is not None:
        return around
    for one in walk(owner.body):
        if isinstance(one, cst.For) and isinstance(one.iter, cst.Name):
            made = definition(function, one.iter)
            if made is not None and any(part is node for part in walk(made)):
                return one
    return None


class _Writer:
    def __init__(self, function: FunctionCode, owner: cst.FunctionDef, loop: cst.For) -> None:
        self.function, self.owner, self.loop = function, owner, loop
        self.new: dict[cst.CSTNode, New] = {}
        if not isinstance(loop.body, cst.IndentedBlock) or loop.orelse is not None:
            raise Refused("the loop is of another form")
        self.body: Sequence[cst.CSTNode] = loop.body.body
        self.where, self.imports = torch_name(function, "torch.where")
        self.numbers: dict[cst.CSTNode, New] = {}  # the number of an expert, where it is read out of a tensor
        self.weights: dict[str, str] = {}  # what rows and slots select, by the name that it gets

    def fix(self) -> Repaired:
        function = self.function
        rows = self.rows()
        self.over_all(rows)
        chosen, hit = (fresh(function, name) for name in ("chosen", "hit"))
        used = False
        last: cst.CSTNode | None = None
        for statement in self.body:
            if statement in self.new or self.skips_uncounted(statement):
                continue
            if statement is rows.statement or not {rows.row, rows.slot} & (
                reads(statement) | set(binds(statement))
            ):
                continue
            if last is not None:
                raise Refused("the rows are used after the results are added")
            if self.skips_none(statement, rows):
                self.new[statement] = None
                continue
            added = self.added(statement, rows)
            inside = added[1] if added is not None else statement
            parts: dict[cst.CSTNode, New] = {
                part: number
                for part, number in self.numbers.items()
                if any(one is part for one in walk(inside))
            }
            for part in walk(inside):
                if isinstance(part, cst.Subscript) and {rows.row, rows.slot} & reads(*part.slice):
                    parts[part] = self.taken(part, rows, chosen, hit)
            left = [use for use in uses(inside) if use.name in (rows.row, rows.slot)]
            within = {id(one) for part in parts for one in walk(part)}
            if any(id(use.node) not in within for use in left):
                raise Refused("the rows are used in another way")
            if added is None:
                self.new |= parts
                continue
            used, last = True, statement
            value = source(function, replaced(added[1], parts))
            selected = f"{self.where}({hit}, {value}, 0)"
            text = f"{added[0]} += {selected}"
            made = statements(function, [text])
            # What a comment says of names that are gone is no longer so.
            gone = (rows.row, rows.slot, "index_add")
            above = [
                one
                for one in getattr(statement, "leading_lines", ())
                if one.comment is None or not any(name in one.comment.value for name in gone)
            ]
            made[0] = made[0].with_changes(leading_lines=above)
            self.new[statement] = made
        if not used:
            raise Refused("nothing is added to the rows")
        lines = [f"{hit} = {in_parentheses(rows.mask)}.any(-1, keepdim=True)"]
        if self.weights:
            lines = [f"{chosen} = {rows.mask}", f"{hit} = {chosen}.any(-1, keepdim=True)"]
            lines += [f"{name} = {weight}" for name, weight in self.weights.items()]
        for part, number in self.numbers.items():
            outer = statement_of(function, part)
            if outer not in self.new and outer is not rows.statement:
                self.new[part] = number
        made = statements(function, lines)
        made[0] = made[0].with_changes(leading_lines=rows.statement.leading_lines)
        self.new[rows.statement] = made
        return fix(_SAID, (*self.imports, *rewrite(function, self.new)), "once proven")

    def rows(self) -> _Rows:
        """The one statement of the body that reads rows and slots out of a mask."""
        found: list[_Rows] = []
        for statement in self.body:
            only = self.without_gradients(statement) or small_of(statement)
            if not isinstance(statement, cst.SimpleStatementLine | cst.With):
                continue
            if not isinstance(only, cst.Assign) or len(only.targets) != 1:
                continue
            target, mask = only.targets[0].target, self.read_mask(only.value)
            if mask is None or not isinstance(target, cst.Tuple) or len(target.elements) != 2:
                continue
            names = [one.value.value for one in target.elements if isinstance(one.value, cst.Name)]
            if len(names) != 2:
                continue
            # What selects rows alone names them.
            alone = {
                name
                for name in names
                for other in self.body
                for part in walk(other)
                if isinstance(part, cst.Subscript)
                and name in reads(*part.slice)
                and not (set(names) - {name}) & reads(*part.slice)
            }
            if len(alone) != 1:
                raise Refused("it cannot be told rows from slots")
            row = alone.pop()
            text = self.as_bools(mask)
            if names.index(row) == 1:
                text = f"{in_parentheses(text)}.T"
            found.append(
                _Rows(
                    statement,
                    text,
                    row,
                    names[1 - names.index(row)],
                )
            )
        if len(found) != 1:
            raise Refused("no rows are chosen by a mask in the loop")
        return found[0]

    def without_gradients(self, statement: cst.CSTNode) -> cst.BaseSmallStatement | None:
        """The one statement under `with torch.no_grad():`"""
        if not isinstance(statement, cst.With) or len(statement.items) != 1:
            return None
        manager = statement.items[0].item
        named = qualified(self.function, manager.func) if isinstance(manager, cst.Call) else None
        return only_of(statement.body) if named == "torch.no_grad" else None

    def read_mask(self, value: cst.BaseExpression) -> cst.BaseExpression | None:
        """The mask in `torch.where(mask)`, `mask.nonzero(as_tuple=True)`."""
        if not isinstance(value, cst.Call):
            return None
        name = qualified(self.function, value.func)
        if name == "torch.where" and len(value.args) == 1:
            return value.args[0].value
        named = [one for one in value.args if one.keyword is not None]
        plain = [one.value for one in value.args if one.keyword is None]
        if len(named) != 1 or source(self.function, named[0].value) != "True" or callee(value) != "nonzero":
            return None
        if name == "torch.nonzero":
            return plain[0] if len(plain) == 1 else None
        return value.func.value if isinstance(value.func, cst.Attribute) and not plain else None

    def as_bools(self, mask: cst.BaseExpression) -> str:
        """The mask without what leaves out a dimension that it has no more once the expert is a number, as bools."""
        call = mask
        if isinstance(call, cst.Call) and callee(call) == "squeeze" and isinstance(call.func, cst.Attribute):
            if not self.of_tensor():
                raise Refused("a dimension is left out")
            call = call.func.value
        text = source(self.function, call)
        return text if isinstance(call, cst.Comparison) else f"{in_parentheses(text)}.bool()"

    def of_tensor(self) -> bool:
        """Whether the loop goes over places of a tensor."""
        made = (
            definition(self.function, self.loop.iter)
            if isinstance(self.loop.iter, cst.Name)
            else self.loop.iter
        )
        if isinstance(made, cst.Call) and callee(made) in ("view", "flatten", "reshape"):
            made = made.func.value if isinstance(made.func, cst.Attribute) else None
        return isinstance(made, cst.Call) and callee(made) == "nonzero"

    def over_all(self, rows: _Rows) -> None:
        """A loop over the experts that were chosen goes over all: as many as the mask's first dimension holds."""
        if not self.of_tensor():
            named = self.loop.iter
            if isinstance(named, cst.Call) and callee(named) in ("range", "enumerate", "zip"):
                return
            raise Refused("the loop does not go over a fixed number of experts")
        function, loop = self.function, self.loop
        if not isinstance(loop.target, cst.Name):
            raise Refused("the loop is of another form")
        index = loop.target.value
        if (number := self.number_of(index)) is not None:
            name, statement = number
            self.new |= {loop.target: cst.Name(name), statement: None}
            index = name
        masks = {
            source(function, part.value)
            for part in walk(rows.statement)
            if isinstance(part, cst.Subscript)
            and index in reads(*part.slice)
            and isinstance(part.value, cst.Name)
        }
        if len(masks) != 1:
            raise Refused("the mask of an expert is of another form")
        mask = masks.pop()
        range_ = cst.parse_expression(f"range({mask}.shape[0])")
        if isinstance(loop.iter, cst.Name):
            made = definition(function, loop.iter)
            others = [use for use in uses(self.owner.body) if use.name == loop.iter.value and not use.binds]
            line = statement_of(function, made) if made is not None else None
            if line is None or small_of(line) is None or len(others) != 1 or made is None:
                raise Refused("the experts that were chosen are used for more")
            if mask not in reads(made):
                raise Refused("the experts do not come of the mask")
            self.new[line] = None
        elif mask not in reads(loop.iter):
            raise Refused("the experts do not come of the mask")
        self.new[loop.iter] = range_
        if number is not None:
            return
        for statement in self.body:
            only = small_of(statement)
            # `expert = expert[0]`, `expert = expert.item()`: a number already.
            if isinstance(only, cst.Assign) and source(function, only.targets[0].target) == index:
                if not self.is_number(only.value, index):
                    raise Refused("the number of the expert is made in another way")
                self.new[statement] = None
                return
            for part in walk(statement):
                if isinstance(part, cst.BaseExpression) and self.is_number(part, index):
                    self.numbers[part] = cst.Name(index)
                elif (
                    isinstance(part, cst.Attribute | cst.Subscript) and source(function, part.value) == index
                ):
                    if not any(part in one.children for one in self.numbers):
                        raise Refused("more is asked of the number of the expert")

    def number_of(self, place: str) -> tuple[str, cst.CSTNode] | None:
        """The other name that the number of an expert gets, and where, if the tensor with it is used for nothing else:
        `expert = int(place.item())`."""
        made = [(one, statement) for statement in self.body if (one := assigned(statement)) is not None]
        found = [
            (name, line) for (name, value), line in made if self.is_number(value, place) and name != place
        ]
        read = [use for use in uses(self.loop.body) if use.name == place]
        return found[0] if len(found) == len(read) == 1 else None

    def is_number(self, node: cst.BaseExpression, index: str) -> bool:
        """Whether it is the number in a tensor: `expert[0]`, `expert.item()`, `int(expert)`."""
        forms = (
            "{}[0]",
            "{}.item()",
            "int({})",
            "{}.squeeze()",
            "{}[0].item()",
            "int({}.item())",
            "int({}[0])",
        )
        return source(self.function, node) in [one.format(index) for one in forms]

    def skips_none(self, statement: cst.CSTNode, rows: _Rows) -> bool:
        """`if rows.numel() == 0: continue`"""
        if not isinstance(statement, cst.If) or statement.orelse is not None:
            return False
        test = source(self.function, statement.test).replace(" ", "")
        counts = (f"{rows.row}.numel()", f"{rows.row}.shape[0]", f"len({rows.row})", f"{rows.row}.size(0)")
        empty = {f"{count}==0" for count in counts} | {f"not{count}" for count in counts}
        return test in empty and isinstance(only_of(statement.body), cst.Continue)

    def skips_uncounted(self, statement: cst.CSTNode) -> bool:
        """`if counts[i] == 0: continue`, where the function counted by `torch.bincount`, for that alone."""
        if not isinstance(statement, cst.If) or statement.orelse is not None:
            return False
        test = statement.test
        counts = test.left if isinstance(test, cst.Comparison) else None
        if not isinstance(counts, cst.Subscript) or not isinstance(counts.value, cst.Name):
            return False
        asked = source(self.function, statement.test).replace(" ", "")
        made = definition(self.function, counts.value)
        line = statement_of(self.function, made) if made is not None else None
        counted = made is not None and any(
            isinstance(one, cst.Call) and callee(one) == "bincount" for one in walk(made)
        )
        others = [use for use in uses(self.owner.body) if use.name == counts.value.value and not use.binds]
        if not asked.endswith("]==0") or not isinstance(only_of(statement.body), cst.Continue):
            return False
        if not counted or line is None or small_of(line) is None or len(others) != 1:
            return False
        self.new |= {statement: None, line: None}
        return True

    def added(self, statement: cst.CSTNode, rows: _Rows) -> tuple[str, cst.BaseExpression] | None:
        """The results and what is added to their rows, in `results.index_add_(0, rows, value)` and
        `results[rows] += value`."""
        only = small_of(statement)
        function = self.function
        if isinstance(only, cst.AugAssign) and isinstance(only.operator, cst.AddAssign):
            target = only.target
            if (
                isinstance(target, cst.Subscript)
                and source(function, target).replace(" ", "").endswith(f"[{rows.row}]")
                and isinstance(target.value, cst.Name)
            ):
                return target.value.value, only.value
        call = only.value if isinstance(only, cst.Expr | cst.Assign) else None
        if not isinstance(call, cst.Call) or callee(call) not in ("index_add_", "index_add"):
            return None
        given = [source(function, one.value) for one in call.args]
        results = call.func.value if isinstance(call.func, cst.Attribute) else None
        if len(given) != 3 or given[:2] != ["0", rows.row] or not isinstance(results, cst.Name):
            return None
        if isinstance(only, cst.Assign) and source(function, only.targets[0].target) != results.value:
            return None
        if isinstance(only, cst.Expr) and callee(call) == "index_add":
            return None
        return results.value, call.args[2].value

    def taken(self, node: cst.Subscript, rows: _Rows, chosen: str, hit: str) -> cst.BaseExpression:
        """`x[rows]` is `x`, zero for other rows; `weights[rows, slots, None]` the sum of the weights with which a row
        chose the expert."""
        index = [source(self.function, one).rstrip(", ") for one in node.slice]
        text = source(self.function, node.value)
        while index and index[-1] == ":":
            index.pop()
        # A NaN of another row would reach the gradients of the expert's parameters.
        whole = f"{self.where}({hit}, {text}, 0)"
        if index == [rows.row]:
            return cst.parse_expression(whole)
        if index == ["None", rows.row]:
            return cst.parse_expression(f"{whole}[None]")
        if index[:2] == [rows.row, rows.slot] and index[2:] in ([], ["None"]):
            kept = ", keepdim=True" if index[2:] else ""
            weight = f"{self.where}({chosen}, {text}, 0).sum(-1{kept})"
            name = next((name for name, other in self.weights.items() if other == weight), None)
            if name is None:
                name = fresh(
                    self.function, "weight" if not self.weights else f"weight_{len(self.weights) + 1}"
                )
                self.weights[name] = weight
            return cst.Name(name)
        raise Refused("something is selected in another way")


class _Masked:
    def __init__(self, function: FunctionCode, loop: cst.For) -> None:
        self.function, self.loop = function, loop
        if not isinstance(loop.body, cst.IndentedBlock) or loop.orelse is not None:
            raise Refused("the loop is of another form")
        if not isinstance(loop.iter, cst.Call) or callee(loop.iter) not in ("range", "enumerate", "zip"):
            raise Refused("the loop does not go over a fixed number of experts")
        self.where, self.imports = torch_name(function, "torch.where")

    def fix(self) -> Repaired:
        function, new = self.function, dict[cst.CSTNode, New]()
        mask, guard, inner = self.parts()
        hit = fresh(function, "hit")
        made: list[cst.CSTNode] = []
        selected = added = asked = False
        chosen: set[str] = set()  # names of chosen rows
        for statement in inner:
            if added and mask in reads(statement):
                raise Refused("the mask is used after the results are written")
            written = self.written(statement, mask)
            inside = written[1] if written is not None else statement
            parts: dict[cst.CSTNode, New] = {
                part: self.taken(part, mask, hit)
                for part in walk(inside)
                if isinstance(part, cst.Subscript) and mask in reads(*part.slice)
            }
            asked = asked or self.asks_expert(inside, parts, chosen)
            within = {id(one) for part in parts for one in walk(part)}
            if any(use.name == mask and id(use.node) not in within for use in uses(inside)):
                raise Refused("the mask is used in another way")
            if not selected and parts:
                lines = statements(function, [f"{hit} = {mask}.unsqueeze(-1)"])
                made += [
                    lines[0].with_changes(leading_lines=getattr(statement, "leading_lines", ())),
                    statement,
                ]
                made[-1] = statement.with_changes(leading_lines=())
            else:
                made.append(statement)
            selected = selected or bool(parts)
            if written is None:
                made[-1] = replaced(made[-1], parts)
                chosen |= set(binds(statement))
                continue
            added = True
            results, _, whole = written
            value = source(function, replaced(inside, parts))
            text = f"{results} += {self.where}({hit}, {value}, 0)"
            if whole:
                text = f"{results} = {self.where}({hit}, {value}, {results})"
            line = statements(function, [text])[0]
            made[-1] = line.with_changes(leading_lines=getattr(made[-1], "leading_lines", ()))
        if not added or not asked:
            raise Refused("no rows are given to an expert")
        if guard is not None:
            new[guard] = made
        else:
            new |= dict.fromkeys(inner[1:])
            new[inner[0]] = made
        return fix(_SAID, (*self.imports, *rewrite(function, new)), "once proven")

    def asks_expert(self, inside: cst.CSTNode, parts: dict[cst.CSTNode, New], chosen: set[str]) -> bool:
        """Whether rows are given to another one at each turn, which is no function of torch: its masks may choose
        elements, not rows. What is the same at each may weigh them by each other."""
        turns = {use.name for use in uses(self.loop) if use.binds}
        return any(
            any(part in parts for given in call.args for part in walk(given.value))
            or chosen & reads(*call.args)
            for call in walk(inside)
            if isinstance(call, cst.Call)
            and turns & reads(call.func)
            and not (qualified(self.function, call.func) or "").startswith("torch.")
        )

    def parts(self) -> tuple[str, cst.If | None, Sequence[cst.CSTNode]]:
        """The mask, the `if` that asks whether it sets anything, and the statements that use it."""
        body = self.loop.body.body
        for at, statement in enumerate(body):
            if isinstance(statement, cst.If) and statement.orelse is None:
                test = source(self.function, statement.test).replace(" ", "")
                name = test.removeprefix("torch.any(").removesuffix(")").removesuffix(".any(")
                name = name.removesuffix(".sum()>0")
                if (
                    test not in (f"{name}.any()", f"torch.any({name})", f"{name}.sum()>0")
                    or not name.isidentifier()
                ):
                    continue
                if at != len(body) - 1 or not isinstance(statement.body, cst.IndentedBlock):
                    raise Refused("something follows the test of the mask")
                return name, statement, statement.body.body
        for at, statement in enumerate(body):
            only = small_of(statement)
            if isinstance(only, cst.Assign) and isinstance(only.targets[0].target, cst.Name):
                name = only.targets[0].target.value
                rest = body[at + 1 :]
                if rest and any(self.written(one, name) for one in rest):
                    return name, None, rest
        raise Refused("no mask chooses rows in the loop")

    def written(self, statement: cst.CSTNode, mask: str) -> tuple[str, cst.BaseExpression, bool] | None:
        """The results, what is written to their rows, and whether it takes their place, in `results[mask] = value`."""
        only = small_of(statement)
        if isinstance(only, cst.Assign) and len(only.targets) == 1:
            target, whole = only.targets[0].target, True
        elif isinstance(only, cst.AugAssign) and isinstance(only.operator, cst.AddAssign):
            target, whole = only.target, False
        else:
            return None
        if not isinstance(target, cst.Subscript) or not isinstance(target.value, cst.Name):
            return None
        if [source(self.function, one).rstrip(", ") for one in target.slice] != [mask]:
            return None
        return target.value.value, only.value, whole

    def taken(self, node: cst.Subscript, mask: str, hit: str) -> cst.BaseExpression:
        """`x[mask]` is `x`, zero for other rows; `weights[mask, i]` so too `weights[..., i]`."""
        index = [source(self.function, one).rstrip(", ") for one in node.slice]
        text = source(self.function, node.value)
        if index == [mask]:
            return cst.parse_expression(f"{self.where}({hit}, {text}, 0)")
        if index[0] == mask and not any(mask in reads(one) for one in node.slice[1:]):
            part = f"{in_parentheses(text)}[..., {', '.join(index[1:])}]"
            return cst.parse_expression(f"{self.where}({hit if index[-1] == 'None' else mask}, {part}, 0)")
        raise Refused("something is selected in another way")
