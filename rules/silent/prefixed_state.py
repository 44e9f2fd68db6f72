from __future__ import annotations

import libcst as cst

from pt2lint.finding import Fix
from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.given_module import ask_original, inside, loaded_back, severity, told_alone
from pt2lint.rule.syntax import names

DECIDES = ("_orig_mod", "compile")
STATE = "state_dict"  # the parameter of load_state_dict


class PrefixedState(Rule):
    """The `state_dict()` of a module wrapped by `torch.compile` has `_orig_mod.` before every key.

    ## What happens
    `torch.compile(model)` returns a module that holds the original as `_orig_mod`, and its parameters are
    named after that. A checkpoint saved from it loads only into a module that is wrapped the same way:
    `load_state_dict` of the plain model fails, and with `strict=False` it silently loads nothing. After
    `model.encoder = torch.compile(model.encoder)` the same goes for the keys of that part.
    The other way about, `load_state_dict` of the wrapped module fails for the plain model's `state_dict()`, and with
    `strict=False` loads nothing: a note, where the state comes from elsewhere.

    `model.compile()` compiles in place and leaves the names alone; the original's `state_dict()` has them too. In
    `DistributedDataParallel` the keys begin with `module._orig_mod.`. A file that itself mentions `_orig_mod` knows
    about it: nothing is reported there, but for a note where it takes the module out of the wrapper, says nothing
    of names, and saves the state of the wrapper nevertheless; and where it saves the state of the module inside, and
    loads into the wrapper what no module of the function gave. Where another file of the package, or of the folder of a
    script, takes the prefix off the names, it is a note.

    A function that is given a module and saves its state may be given a compiled one. Where its file compiles
    modules itself that is reported; elsewhere it is a note. So is a state that is read from a file: who saved it
    may have compiled the module, or who loads it, and not the other one; and so is what takes the prefix of
    `DistributedDataParallel` off the keys (`key.replace("module.", "")`), and not this one, in a file that asks
    wrappers for their `module`. A state is followed to where it is loaded (`best =
    copy.deepcopy(compiled.state_dict())`, then `model.load_state_dict(best)`), and through `AveragedModel`.

    A part that is replaced by what was compiled (`self.encoder = torch.compile(self.encoder)` in a module,
    `agent.model = torch.compile(agent.model)` where the file keeps states) is a note: the state has other names from
    then on than one that was saved before, or without compiling. A file that asks for the wrapper's class,
    `OptimizedModule`, knows of it too; so does a class that is made from one whose file mentions `_orig_mod`. Parts
    that are replaced one by one are a note as well (`model.blocks[i] = torch.compile(block)`,
    `layers.register_module(name, torch.compile(block))`) of a module that the function is given, or where the file
    keeps states.

    Adapters that `peft.get_peft_model` puts into a wrapped module are named after the wrapper, too. Saved, they load
    into the plain model without an error, and none of them is set: a warning says that keys are missing. Compile what
    `get_peft_model` returns.

    ## Example
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    def run():
        model = torch.compile(Net())
        model(torch.ones(3))
        return list(model.state_dict())
    ```

    ## Use instead
    ```python
    import torch

    class Net(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.layer = torch.nn.Linear(3, 3)

        def forward(self, x):
            return self.layer(x)

    def run():
        model = Net()
        model.compile()
        model(torch.ones(3))
        return list(model.state_dict())
    ```

    ## Versions
    Measured: prefixed on torch 2.6, 2.9, 2.13 and 2.15.
    """

    code = "PTS303"
    name = "prefixed-state"
    ops = (
        "attribute of compiled",
        "state of compiled part",
        "load plain state",
        "state of given",
        "load of given",
        "strip given",
        "replace part",
        "adapt compiled",
    )
    anywhere = True

    @classmethod
    def accepts(cls, op: Op) -> bool:
        if op.name != "attribute of compiled":
            return not op.region
        name = op.detail("name") == "constant 'state_dict'"
        knows = op.detail("aware") == "of the prefix"
        return name and not op.region and not knows and not op.detail("method")

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if op.name == "state of compiled part":
            part = op.detail("part").removeprefix("constant ").strip("'")
            listed = op.detail("listed") == "yes"
            start, held = (f"{part}.0._orig_mod.", f"{part}[0]") if listed else (f"{part}._orig_mod.", part)
            self.report(
                node,
                op,
                f"{self.quote(node)} has keys that start with `{start}`, as torch.compile wrapped `{held}`: "
                f"they do not load into the plain model; `{held}.compile()` keeps the names",
            )
            return
        if op.name == "adapt compiled":
            self.report(
                node,
                op,
                f"{self.quote(node)} names the adapters after the wrapper of torch.compile: what is saved of them has "
                "`_orig_mod.` in its keys, which the plain model leaves out on loading; compile what this returns",
            )
            return
        if op.name == "load plain state":
            self.loaded_into(node, op)
            return
        if op.name == "state of given":
            self.given(node, op)
            return
        if op.name == "load of given":
            self.read(node, op)
            return
        if op.name == "strip given":
            self.stripped(node, op)
            return
        if op.name == "replace part":
            self.replaced(node, op)
            return
        call = self.function.parent(node)
        if not isinstance(node, cst.Attribute) or not isinstance(call, cst.Call) or call.func is not node:
            return
        outer = self.function.parent(call)
        if isinstance(outer, cst.Attribute) and self.stays(outer):
            return
        if isinstance(outer, cst.Subscript):
            return  # one of them is looked up: PTS317 tells of it
        if isinstance(outer, cst.Arg):
            outer = self.function.parent(outer)
            if isinstance(outer, cst.Call) and self.text(outer.func).endswith("deepcopy"):
                return  # kept for this very module
            if isinstance(outer, cst.Call) and self.text(outer.func).endswith("load_state_dict"):
                return  # told there, where the other module is known
        if op.detail("aware") and not self.is_forgotten(node):
            return
        within = op.detail("within")
        self.report(
            node,
            op,
            f"the keys of {self.quote(call)} start with `{within}_orig_mod.`, as the module is wrapped by "
            "torch.compile: they do not load into the plain model; `model.compile()` keeps the names",
            severity="note" if op.detail("aware") else None,
            fixes=self.with_loads(
                self.text(node.value),
                ask_original(
                    self,
                    node,
                    op,
                    "Ask the original: checkpoints saved from here on have the model's own names.",
                ),
            ),
        )

    def with_loads(self, place: str, fixes: list[Fix]) -> list[Fix]:
        """The fixes; told alone where the file loads what it saves into the wrapped module, which would fail then."""
        line = loaded_back(self.function.source, place) if fixes else 0
        if not line:
            return fixes
        says = (
            f"Ask the original, here and where the state is loaded (line {line}): its names are others then"
        )
        return [self.fix(f"{says}.", by_hand=True)]

    def is_forgotten(self, asked: cst.Attribute) -> bool:
        """Whether a file that takes the module out of its wrapper elsewhere saves this state as it is."""
        if "_orig_mod" in self.text(asked.value) or (
            f"{self.text(asked.value)}._orig_mod.state_dict" in self.function.source
        ):
            return False
        here, saved = self.function.parent(asked), False
        while here is not None:
            if isinstance(here, cst.Call):
                saved = saved or self.text(here.func).rpartition(".")[2].startswith("save")
            if isinstance(here, cst.If | cst.IfExp) and any(word in self.text(here) for word in DECIDES):
                return False  # asked of what was not compiled
            here = self.function.parent(here)
        return saved

    def given(self, node: cst.CSTNode, op: Op) -> None:
        """What is saved of a module that the function is given, which its caller may have compiled."""
        name = op.detail("name")
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        if any(self.accepts(o) and o.name == self.ops[0] for o in self.function.ops_at(node.func)):
            return  # told as what this code compiles itself
        outer = self.function.parent(node)
        if isinstance(outer, cst.Attribute) and self.stays(outer):
            return
        self.report(
            node,
            op,
            f"the keys of {self.quote(node)} start with `_orig_mod.` where torch.compile wrapped `{name}`: what is "
            "saved does not load into the plain model",
            severity=severity(op),
            fixes=self.with_loads(
                name,
                [
                    self.fix(
                        "Ask the original, where there is a wrapper.",
                        self.edit(node.func.value, inside(name)),
                        by_hand=told_alone(op),
                    )
                ],
            ),
        )

    def read(self, node: cst.CSTNode, op: Op) -> None:
        """What is loaded from a file, whose keys have the prefix where a compiled module was saved."""
        if not isinstance(node, cst.Call) or not isinstance(node.func, cst.Attribute):
            return
        name = self.text(node.func.value)
        given = [a.value for a in node.args if not a.star and (a.keyword is None or a.keyword.value == STATE)]
        if not given:
            return
        state = given[0]
        does = "loads nothing" if self.lax(node) else "fails"
        plain = f'{{key.removeprefix("_orig_mod."): value for key, value in {self.text(state)}.items()}}'
        self.report(
            node,
            op,
            f"{self.quote(node)} {does} where torch.compile wrapped either the module that was saved or `{name}`: the "
            "keys of the one have `_orig_mod.` in them, and those of the other do not",
            severity="note",
            fixes=[
                self.fix(
                    "Take the prefix out of the keys, and load into the module inside the wrapper.",
                    self.edit(node.func.value, inside(name)),
                    self.edit(state, plain),
                    by_hand=told_alone(op),
                )
            ],
        )

    def stripped(self, node: cst.CSTNode, op: Op) -> None:
        """`key.replace("module.", "")`: the other wrapper's prefix stays."""
        if any(o.name == "load of given" for o in self.function.ops):
            return  # told where it is loaded
        says = "Take that prefix off, too"
        fix = self.fix(f'{says}: `.removeprefix("_orig_mod.")` of each key.', by_hand=True)
        if op.detail("does") != "startswith":
            edit = self.edit(node, f'{self.text(node)}.removeprefix("_orig_mod.")')
            fix = self.fix(f"{says}.", edit, by_hand=told_alone(op))
        self.report(
            node,
            op,
            f"{self.quote(node)} takes off what DistributedDataParallel puts before the keys, and leaves `_orig_mod.` "
            "where torch.compile wrapped the module that was saved",
            severity="note",
            fixes=[fix],
        )

    def replaced(self, node: cst.CSTNode, op: Op) -> None:
        """`self.net = torch.compile(self.net)`: states of before, or without compiling, have other names."""
        if not isinstance(node, cst.Attribute):
            self.replaced_in_turn(node, op)
            return
        statement = self.function.parent(self.function.parent(node) or node)
        if not isinstance(statement, cst.Assign):
            return
        whose = self.text(node.value)
        start = f"{node.attr.value}." if op.detail("owner") == "module" else ""
        says = f"the state of {self.quote(node.value)}" if start else f"the state of {self.quote(node)}"
        place = f"{whose}.{node.attr.value}"
        instead = "" if op.detail("torch") else f"; `{place}.compile()` keeps the names"
        maybe = op.detail("may be") == "a method"
        if maybe:
            says = f"where `{place}` is a module, {says}"
        self.report(
            statement,
            op,
            f"{says} has keys that start with `{start}_orig_mod.` from here on: one that was saved before, or without "
            f"compiling, no longer loads{instead}",
            severity="note",
            fixes=self.in_place(statement, place, written=not maybe) if instead else [],
        )

    def replaced_in_turn(self, node: cst.CSTNode, op: Op) -> None:
        """`model.blocks[i] = torch.compile(block)`, `model.layers.register_module(name, torch.compile(block))`"""
        part = op.detail("listed")
        statement = self.function.parent(self.function.parent(node) or node)
        if isinstance(statement, cst.Assign):
            node = statement
        instead = f"; `{part}.compile()` keeps the names" if part and not op.detail("torch") else ""
        self.report(
            node,
            op,
            f"{self.quote(node)} puts `_orig_mod.` into the keys of the state from here on: one that was saved before, "
            f"or without compiling, no longer loads{instead}",
            severity="note",
            fixes=self.in_place(node, part) if instead else [],
        )

    def in_place(self, replaces: cst.CSTNode, part: str, written: bool = True) -> list[Fix]:
        """`model.net = torch.compile(model.net, mode=m)`, `setattr(model, name, torch.compile(net, mode=m))` ->
        `net.compile(mode=m)`"""
        says = "Compile the module in place: its names, and those of its state, stay."
        made = replaces.value if isinstance(replaces, cst.Assign) else None
        if isinstance(replaces, cst.Call) and replaces.args:
            made = replaces.args[-1].value
        if not written or not isinstance(made, cst.Call) or not made.args:
            return [self.fix(says, by_hand=True)]
        first, *others = made.args
        alone = not isinstance(replaces, cst.Assign) or len(replaces.targets) == 1
        if not alone or self.text(first.value) != part or not all(a.keyword for a in others):
            return [self.fix(says, by_hand=True)]
        options = ", ".join(f"{a.keyword.value}={self.text(a.value)}" for a in others if a.keyword)
        return [self.fix(says, self.edit(replaces, f"{part}.compile({options})"))]

    def stays(self, taken: cst.Attribute) -> bool:
        """Whether `state_dict().values()` or the like leaves the names behind, or keeps them for this very module, as
        `{k: v.clone() for k, v in model.state_dict().items()}` does, and a loop over them that looks up averages."""
        if taken.attr.value != "items":
            return True
        here: cst.CSTNode | None = taken
        while here is not None and not isinstance(here, cst.DictComp | cst.BaseStatement):
            here = self.function.parent(here)
        if isinstance(here, cst.For):
            return self.looks_up(here)
        if not isinstance(here, cst.DictComp):
            return False
        return not isinstance(here.key, cst.Name) or any(n.value == "clone" for n in names(here.value))

    def looks_up(self, loop: cst.For) -> bool:
        """`for k, v in model.state_dict().items(): average[k].lerp_(v, 0.1)`, of names that are there already."""
        key = names(loop.target)[0].value
        looked_up = [self.looked_up(one) for one in names(loop.body) if one.value == key]
        return None not in looked_up and any(isinstance(one, cst.Attribute) for one in looked_up)

    def looked_up(self, key: cst.Name) -> cst.CSTNode | None:
        """What stands around `average[key]`, None where the key is no such index."""
        here: cst.CSTNode | None = key
        for kind in (cst.Index, cst.SubscriptElement, cst.Subscript):
            here = self.function.parent(here) if here is not None else None
            if not isinstance(here, kind):
                return None
        return self.function.parent(here) if here is not None else None

    def loaded_into(self, load: cst.CSTNode, op: Op) -> None:
        """`compiled.load_state_dict(plain.state_dict())`"""
        if not isinstance(load, cst.Call) or not isinstance(load.func, cst.Attribute):
            return
        if op.detail("from") == "compiled":
            self.loaded_from(load, op)
            return
        if op.detail("from") == "elsewhere":
            self.passed_over(load, load.func.value, op)
            return
        does, over = self.outcome(load)
        kept = op.detail("from") == "inside"
        keys = "what this file saves is the state of the module inside" if kept else "these keys do not"
        name = self.text(load.func.value)
        self.report(
            load,
            op,
            f"{self.quote(load)} {does}: the names of a module that torch.compile wrapped start with `_orig_mod.`, "
            f"and {keys}{over}; load into the original",
            severity=None if kept else "error",
            fixes=[
                self.fix(
                    "Load into the original.",
                    self.edit(load.func.value, inside(name) if kept else f"{name}._orig_mod"),
                )
            ],
        )

    def outcome(self, load: cst.Call) -> tuple[str, str]:
        """What comes of keys that are not the module's, and why nobody is told."""
        if self.lax(load):
            return "loads nothing", ", and `strict=False` passes over them"
        return "fails", ""

    def loaded_from(self, load: cst.Call, op: Op) -> None:
        """`plain.load_state_dict(best)`, of what `compiled.state_dict()` was."""
        does, over = self.outcome(load)
        self.report(
            load,
            op,
            f"{self.quote(load)} {does}: the state is that of a module that torch.compile wrapped, whose keys start "
            f"with `_orig_mod.`{over}; ask the original for it",
            severity="error",
        )

    def passed_over(self, load: cst.Call, module: cst.BaseExpression, op: Op) -> None:
        """`compiled.load_state_dict(state, strict=False)`; without `strict=False` a state of the plain model fails."""
        if not self.lax(load):
            self.read(load, op)
            return
        self.report(
            load,
            op,
            f"{self.quote(load)} loads nothing of a state that the plain model saved: the names of a module that "
            "torch.compile wrapped start with `_orig_mod.`, and `strict=False` passes over all others",
            severity="note",
            fixes=[
                self.fix(
                    "Load into the original, where there is a wrapper.",
                    self.edit(module, inside(self.text(module))),
                )
            ],
        )

    def lax(self, load: cst.Call) -> bool:
        return any(
            a.keyword is not None and a.keyword.value == "strict" and self.text(a.value) == "False"
            for a in load.args
        )
