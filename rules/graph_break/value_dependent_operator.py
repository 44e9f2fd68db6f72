from __future__ import annotations

from types import MappingProxyType

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls, is_tensor

BOUNDED = (
    *calls("torch", "clamp clip"),
    *calls("torch.Tensor", "clamp clamp_ clip clip_"),
)
CLAMPED_TWICE = "Give both bounds as tensors, or clamp twice: `x.clamp(min=low).clamp(max=high)`"
COVARIANCE = (
    "Write the formula: `centered = x - x.mean(-1, keepdim=True)`, then `centered @ centered.mT / (n - "
    "1)` of rows of `n` values"
)


class ValueDependentOperator(GraphBreak):
    """A function of torch looks at the values in its input while it runs.

    ## What happens
    `torch.cov`, `torch.corrcoef`, `gaussian_nll_loss` and `nn.init.trunc_normal_` check or read values before
    they compute. While tracing there are none: Dynamo ends the graph (GB0033; GB0124 for `trunc_normal_`;
    GB0007 for `lobpcg`, which is not traced). `torch.clamp` reads the one bound that is a tensor where the other is a
    number; two numbers, or two tensors, it takes as they are.

    ## Example
    ```python
    import torch

    def f(x):
        return torch.cov(x) * 2

    args = (torch.tensor([[0.0, 1.0, 5.0], [2.0, 1.0, 0.0]]),)
    ```

    ## Use instead
    The formula itself, or the function outside the compiled call:
    ```python
    import torch

    def f(x):
        centred = x - x.mean(1, keepdim=True)
        return centred @ centred.T / (x.shape[1] - 1) * 2

    args = (torch.tensor([[0.0, 1.0, 5.0], [2.0, 1.0, 0.0]]),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`. `quantile`,
    `nanquantile` and `quantize_per_tensor` are fine from 2.13 on; `nn.init.trunc_normal_` is fine on 2.6 and 2.9.
    """

    code = "PTB114"
    name = "value-dependent-operator"
    step = True
    ops = (
        *calls("torch", "cov corrcoef quantile nanquantile lobpcg"),
        *calls("torch.Tensor", "cov corrcoef quantile nanquantile"),
        *calls("torch.nn.functional", "gaussian_nll_loss threshold_"),
        "call torch.nn.init.trunc_normal_",
        "call torch.quantize_per_tensor",
        "forward torch.nn.GaussianNLLLoss",
        *BOUNDED,
    )
    says = "{code} looks at values in a tensor while it runs"
    repairs = ("disable",)
    instead = MappingProxyType(
        {
            "call torch.nn.init": (
                "Fill it when the module is made; what is drawn anew at each call can be drawn by its quantiles: "
                "`x.uniform_(low, high).erfinv_()`, times `std * math.sqrt(2)`, where `low` and `high` are "
                "`math.erf((bound - mean) / std / math.sqrt(2))`"
            ),
            "call torch.clamp": CLAMPED_TWICE,
            "call torch.Tensor.clamp": CLAMPED_TWICE,
            "call torch.cov": COVARIANCE,
            "call torch.Tensor.cov": COVARIANCE,
            "call torch.nn.functional.gaussian_nll_loss": (
                "Write the formula: `0.5 * (torch.log(var) + (x - target) ** 2 / var).mean()`, with `var` "
                "clamped from below"
            ),
        }
    )
    graph_breaks = ("GB0033", "GB0124", "GB0007")

    INVALID = (
        "return torch.corrcoef(x) + 1",
        "return torch.nn.functional.gaussian_nll_loss(x, x, x.abs() + 1) + x",
        "return torch.nn.init.trunc_normal_(torch.empty(4)) * 0 + x",
        "return torch.clamp(x, 0, x.mean()) + x.clamp(x.mean(), max=1)",
    )
    VALID = (
        "return torch.var(x) + torch.histc(x, 4).sum()",
        "return torch.nn.init.normal_(torch.empty(4)) * 0 + x",
        "return torch.clamp(x, x.min(), x.mean()) + x.clamp(max=x.mean()) + x.clamp(0, 1)",
        "return torch.clamp(x, min=torch.log(torch.tensor(1e-3)) / 2, max=3.0)",
        "class M(torch.nn.Module):\n    def __init__(self):\n        super().__init__()\n"
        "        self.register_buffer('most', torch.tensor(2))\n"
        "    def forward(self, x, m, i):\n        return x.clamp(0.0, self.most)\nf = M()",
    )

    def concerns(self, op: Op) -> bool:
        return op.name not in BOUNDED or self._mixes(op)

    def _mixes(self, op: Op) -> bool:
        """Whether one of the two bounds is a tensor and the other a number."""
        first = 0 if op.name.startswith("call torch.Tensor.") else 1
        keys = (first, "min"), (first + 1, "max")
        bounds = [op.arg(*each) for each in keys]
        numbers = ("int", "float", "constant", "number")
        made = op.detail("constant").split()  # tensors of Python's numbers, whose values Dynamo knows
        read = [b for b, each in zip(bounds, keys, strict=True) if not any(str(key) in made for key in each)]
        return any(map(is_tensor, read)) and any(
            b.startswith(numbers) and b != "constant None" for b in bounds
        )
