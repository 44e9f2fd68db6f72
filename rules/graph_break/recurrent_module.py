from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from types import MappingProxyType

import libcst as cst

from pt2lint.finding import Fix, Price
from pt2lint.op import Op
from pt2lint.rule import GraphBreak

SIZES = "input_size hidden_size num_layers batch_first bidirectional dropout proj_size"
TYPE = "call builtins.isinstance of an RNN"
PACKING = "call torch.nn.utils.rnn."
# What it does with the module that it does not run.
DOES = {
    TYPE: "asks for the type of",
    "get ": "asks for a size of",
    PACKING: "packs sequences for",
    "call torch.nn.Module.": "goes through",
    "call torch.nn.utils.clip": "goes through",
}


class RecurrentModule(GraphBreak):
    """`nn.LSTM`, `nn.GRU` and `nn.RNN` run outside the graph.

    ## What happens
    By default Dynamo does not trace these modules and ends the graph (GB0014); up to 2.13 what comes after it in the
    function that calls one, or asks it for its sizes or its type (`isinstance(self.rnn, nn.LSTM)`, GB0175), is not
    compiled either. Packing sequences breaks as well (GB0007), and so does what goes through a module that holds one,
    as `clip_grad_norm_(model.parameters())` and a loop over its parameters or parts do.

    ## Example
    ```python
    import torch

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            self.lstm = torch.nn.LSTM(4, 4, batch_first=True)

        def forward(self, x):
            return self.lstm(x)[0] * 2

    f = Tagger()
    args = (torch.ones(1, 3, 4),)
    ```

    ## Use instead
    `nn.LSTMCell` in a loop, where sequences are short and of fixed length, as each length is compiled again (PTR230):
    ```python
    import torch

    class Tagger(torch.nn.Module):
        def __init__(self):
            super().__init__()
            lstm = torch.nn.LSTM(4, 4, batch_first=True)
            self.cell = torch.nn.LSTMCell(4, 4)
            self.cell.load_state_dict({k.removesuffix("_l0"): v for k, v in lstm.state_dict().items()})

        def forward(self, x):
            state = x.new_zeros(x.shape[0], 4), x.new_zeros(x.shape[0], 4)
            outputs = []
            for step in x.unbind(1):
                state = self.cell(step, state)
                outputs.append(state[0])
            return torch.stack(outputs, 1) * 2

    f = Tagger()
    args = (torch.ones(1, 3, 4),)
    ```
    Or `torch._dynamo.config.allow_rnn = True`, which lets Dynamo trace the module; packing sequences breaks all the
    same. A recurrent layer that takes most of the time anyway is best left out of the region: compile what is around
    it.

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`; on 2.6 to 2.13 the
    function that calls it is compiled up to the call only.
    """

    code = "PTB150"
    name = "recurrent-module"
    step = True
    ops = (
        "forward torch.nn.LSTM",
        "forward torch.nn.GRU",
        "forward torch.nn.RNN",
        *(f"get torch.nn.{kind}.{name}" for kind in ("LSTM", "GRU", "RNN") for name in SIZES.split()),
        "call torch.nn.utils.rnn.pack_padded_sequence",
        "call torch.nn.utils.rnn.pad_packed_sequence",
        "call torch.nn.utils.rnn.pack_sequence",
        "call torch.nn.Module.flatten_parameters",
        "call torch.nn.utils.clip_grad_norm_ of an RNN",
        "call torch.nn.Module.zero_grad of an RNN",
        TYPE,
    )
    says = "{code} runs a recurrent module, which Dynamo does not trace"
    instead = MappingProxyType(
        {
            PACKING: (
                "Leave the packing and the layer that runs it out of the compiled code, in a method under "
                "`torch.compiler.disable`, and compile what is around it; or give the layer the padded sequences, and "
                "mask what it returns"
            ),
        }
    )
    graph_breaks = ("GB0014", "GB0007", "GB0175")

    INVALID = (
        "rnn = torch.nn.RNN(4, 4)\ndef f(x, m, i):\n    return rnn(x[None])[0]",
        "gru = torch.nn.GRU(4, 4)\ndef f(x, m, i):\n    return gru(x[None])[0]",
        "gru = torch.nn.GRU(4, 4)\ndef f(x, m, i):\n    return gru.forward(x[None])[0]",
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.rnn = torch.nn.LSTM(4, 4)\nnet = Net()\nnet.rnn.weight_ih_l0.grad = torch.ones(16, 4)\n"
        "def f(x, m, i):\n    torch.nn.utils.clip_grad_norm_(net.parameters(), 1.0)\n    return x",
        "rnn = torch.nn.GRU(4, 4)\ndef f(x, m, i):\n    rnn.flatten_parameters()\n    return x",
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.rnn = torch.nn.LSTM(4, 4)\nnet = Net()\n"
        "def f(x, m, i):\n    net.zero_grad()\n    return x + 1",
        "rnn = torch.nn.LSTM(4, 4)\ndef f(x, m, i):\n    for name, p in rnn.named_parameters():\n"
        "        x = x + p.sum()\n    return x",
        "rnn = torch.nn.LSTM(4, 4)\ndef f(x, m, i):\n    return x + sum(p.numel() for p in rnn.parameters())",
        "rnn = torch.nn.LSTM(4, 4)\ndef f(x, m, i):\n    return x.reshape(-1, rnn.input_size)",
        "def f(x, m, i):\n    return torch.nn.utils.rnn.pack_sequence([x.exp()]).data * 2",
        "rnn = torch.nn.GRU(4, 4)\ndef f(x, m, i):\n    return x + int(isinstance(rnn, torch.nn.LSTM))",
    )
    VALID = (
        "class Net(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.first = torch.nn.Linear(4, 4)\n        self.rnn = torch.nn.LSTM(4, 4)\nnet = Net()\n"
        "def f(x, m, i):\n    return x.to(next(net.parameters()).dtype)",
        "layer = torch.nn.Linear(4, 4)\nlayer.weight.grad = torch.ones(4, 4)\n"
        "def f(x, m, i):\n    torch.nn.utils.clip_grad_norm_(layer.parameters(), 1.0)\n    return x",
        "cell = torch.nn.GRUCell(4, 4)\ndef f(x, m, i):\n    return cell.train()(x)",
        "cell = torch.nn.GRUCell(4, 4)\ndef f(x, m, i):\n    return x + int(isinstance(cell, torch.nn.LSTM))",
        "attend = torch.nn.MultiheadAttention(4, 1)\ndef f(x, m, i):\n    return attend(x, x, x)[0]",
    )

    def check(self, node: cst.CSTNode, op: Op) -> None:
        self.packs = op.name.startswith(PACKING)  # which the setting leaves as it is
        does = next((does for start, does in DOES.items() if op.name.startswith(start)), "runs")
        self.breaks(node, op, self.says.replace("runs", does))

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        """What packs sequences, and a layer that runs them: no setting keeps either in the graph."""
        packs = any(each.name.startswith(PACKING) for each in self.function.ops)
        return packs or super().is_aside(node, op)

    def price(self, op: Op) -> Price | None:
        price = super().price(op)
        leaves = op.name.startswith("forward ") and self.function.target <= (2, 13)
        if price is None:
            return None
        # What mends one in a function mends all of it: the setting, or leaving the layers out.
        return replace(price, cause=self.name, gives_up=price.gives_up or ("rest" if leaves else ""))

    def fixes(self, node: cst.CSTNode) -> Iterable[Fix]:
        from pt2lint.fixes.repaired import accepted
        from pt2lint.fixes.repairs.settings import setting

        if not self.packs:
            yield from accepted(
                setting(self.function, "allow_rnn = True", "let Dynamo trace recurrent modules.")
            )
