from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import Rule
from pt2lint.rule.loop_turns import turns_around

OPTIMIZERS = "Optimizer SGD Adam AdamW Adagrad Adadelta Adamax ASGD NAdam RAdam RMSprop Rprop Adafactor"
GIVEN = "call compiled"  # which takes the step of what it is given


def is_optimizer(word: str) -> bool:
    return word.startswith("torch.optim.")


class OptimizersInTurn(Rule):
    """Several optimizers take their steps in compiled code.

    ## What happens
    Dynamo does not put the step of torch's optimizers into the graph of what calls it: it compiles torch's own `step`
    apart, and guards on the optimizer that it is. The second optimizer compiles it once more, and so does each further
    one, up to the limit of 8; then all of their steps run in Python. SGD with momentum compiles again after its first
    step, which fills its state. Take the steps where nothing is compiled, or give one optimizer all the
    parameters, in groups.

    ## Example
    ```python
    import torch

    actor, critic = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    actor_optimizer = torch.optim.Adam(actor.parameters())
    critic_optimizer = torch.optim.Adam(critic.parameters())

    @torch.compile
    def train(x):
        critic(x).square().mean().backward()
        critic_optimizer.step()
        actor(x).square().mean().backward()
        actor_optimizer.step()

    def run():
        for _ in range(3):
            train(torch.ones(2, 3))
    ```

    ## Use instead
    ```python
    import torch

    actor, critic = torch.nn.Linear(3, 3), torch.nn.Linear(3, 3)
    actor_optimizer = torch.optim.Adam(actor.parameters())
    critic_optimizer = torch.optim.Adam(critic.parameters())

    @torch.compile
    def losses(x):
        return critic(x).square().mean(), actor(x).square().mean()

    def run():
        for _ in range(3):
            of_critic, of_actor = losses(torch.ones(2, 3))
            of_critic.backward()
            critic_optimizer.step()
            of_actor.backward()
            actor_optimizer.step()
    ```

    ## Versions
    Measured on torch 2.6, 2.9, 2.13 and 2.15: 2 recompilations for the second optimizer, of `step` and of what is
    around it; none where the steps are taken outside. On 2.13, eleven optimizers reach the limit, in a loop or one
    after the other; Adam with SGD costs 1; SGD with momentum 1 more for each, after its first step.
    """

    code = "PTR223"
    name = "optimizers-in-turn"
    instead = MappingProxyType({"": "Compile what computes the losses, and take the steps outside"})
    ops = (*(f"call torch.optim.{name}.step" for name in OPTIMIZERS.split()), GIVEN)
    anywhere = True
    severity = "note"

    @classmethod
    def accepts(cls, op: Op) -> bool:
        return any(map(is_optimizer, op.args.values())) if op.name == GIVEN else op.region

    def check(self, node: cst.CSTNode, op: Op) -> None:
        if not isinstance(node, cst.Call):
            return
        turns = turns_around(self.function, node)
        if op.name == GIVEN:
            for at, argument in enumerate(node.args):
                key = at if argument.keyword is None else argument.keyword.value
                if is_optimizer(op.args.get(key, "")) and turns.item(argument.value):
                    self.report(
                        argument.value,
                        op,
                        f"{self.quote(argument.value)} is another optimizer in every iteration: what takes its step is "
                        "compiled for each of them, up to the limit",
                    )
            return
        if not isinstance(node.func, cst.Attribute):
            return
        if op.detail("after"):
            which = f"comes after `{op.detail('after')}.step()` (line {op.details['after at']})"
        elif op.layers or turns.item(node.func.value):
            which = "is taken for each of many"
        else:
            return
        self.report(
            node,
            op,
            f"{self.quote(node)} {which}: torch's `step` is compiled by itself, and once more for every other "
            "optimizer, up to the limit",
        )
