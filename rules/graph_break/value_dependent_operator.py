from __future__ import annotations

from pt2lint.rule import GraphBreak, calls


class ValueDependentOperator(GraphBreak):
    """A function of torch looks at the values in its input while it runs.

    ## What happens
    `torch.cov`, `torch.corrcoef`, `gaussian_nll_loss` and `nn.init.trunc_normal_` check or read values before
    they compute. While tracing there are none: Dynamo ends the graph (GB0033; GB0124 for `trunc_normal_`;
    GB0007 for `lobpcg`, which is not traced).

    ## Example
    ```python
    import torch

    def f(x):
        return torch.cov(x) * 2

    args = (torch.tensor([[0.0, 1.0, 5.0], [2.0, 1.0, 0.0]]),)
    ```

    ## Use instead
    The formula itself, or the function outside of the compiled call:
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
    ops = (
        *calls("torch", "cov corrcoef quantile nanquantile lobpcg"),
        *calls("torch.Tensor", "cov corrcoef quantile nanquantile"),
        *calls("torch.nn.functional", "gaussian_nll_loss threshold_"),
        "call torch.nn.init.trunc_normal_",
        "call torch.quantize_per_tensor",
        "forward torch.nn.GaussianNLLLoss",
    )
    says = "{code} looks at values in a tensor while it runs"
    repairs = ("disable",)
    graph_breaks = ("GB0033", "GB0124", "GB0007")

    INVALID = (
        "return torch.corrcoef(x) + 1",
        "return torch.nn.functional.gaussian_nll_loss(x, x, x.abs() + 1) + x",
        "return torch.nn.init.trunc_normal_(torch.empty(4)) * 0 + x",
    )
    VALID = (
        "return torch.var(x) + torch.histc(x, 4).sum()",
        "return torch.nn.init.normal_(torch.empty(4)) * 0 + x",
    )
