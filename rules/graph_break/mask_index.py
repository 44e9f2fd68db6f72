from __future__ import annotations

from pt2lint.rule import GraphBreak


class MaskIndex(GraphBreak):
    """A tensor is read through a boolean mask: how many elements come out depends on the mask.

    ## What happens
    The shape of `x[mask]` is not known while tracing; Dynamo ends the graph and computes it (GB0036).
    Assigning a value through a mask (`x[mask] = 0`) is fine; `x[mask] -= 1` reads first.

    ## Example
    ```python
    import torch

    def f(x: torch.Tensor):
        return x[x > 0].sum() * x

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Use instead
    Keep the shape: put a neutral value where the mask is false:
    ```python
    import torch

    def f(x: torch.Tensor):
        return torch.where(x > 0, x, 0.0).sum() * x

    args = (torch.tensor([1.0, -2.0]),)
    ```

    ## Versions
    Measured: breaks in default mode on torch 2.6 to 2.15. With `fullgraph=True` it compiles on 2.13 and 2.15,
    which turn on the capture of such shapes there (`torch._dynamo.config.capture_dynamic_output_shape_ops`).
    """

    code = "PTB120"
    name = "mask-index"
    step = True
    aside = "row by row"
    waits = True
    ops = ("index mask",)
    says = "the size of {code} depends on values in the mask"
    repairs = ("unchecked", "masked_loss", "experts", "mask", "disable")
    advice = "sizes.known_size"
    graph_breaks = ("GB0036",)

    INVALID = (
        "return x[m].sum() + x",
        "y = x.clone()\ny[m] -= 1\nreturn y",
        "y = x.clone()\ny[m] = x[m] * 2\nreturn y",
        "return x[m[0], :].sum() + x",
        "return x[[True, False, True, False]].sum() + x",
        "return x[torch.where(m.any(), m, m.new([True] * 4))].sum() + x",
        'kept = [name == "a" for name in ("a", "b", "a", "b")]\nreturn x[..., kept].sum() + x',
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    return x[~m].sum() + x",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    n = ~m\n    return x[n].sum() + x",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    return x[m].sum() + x.masked_fill(~m.view(4, 4), 0.0)",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    return x[m].sum() + torch.where(m[0], x, 0.0)",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    return x[m & (x > 0.5)].sum() + x",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    return x[~m].sum() * (1 - m.float()) + (x[m] - 1).sum()",
        "def f(x: torch.Tensor, m, i):\n    m = m[0].unsqueeze(0).expand_as(x)\n    return x[m].sum() + m.sum()",
        "def part(x, mask=None):\n    return x if mask is None else x[mask]\n"
        "def f(x: torch.Tensor, m, i):\n    return part(x, m).sum()",
        "class M(torch.nn.Module):\n    def forward(self, x: torch.Tensor, m, i):\n        y = x * 2\n"
        "        return y[~m].sum() + x\nf = M()",
    )
    VALID = (
        "y = x.clone()\ny[m] = 0\nreturn y",
        "y = x.clone()\ny[m] = x.max()\nreturn y",
        "return x[i]",
        "return x.masked_fill(m, 0.0)",
        "return x[i.new([True] * 4)] + x",
        "def f(x: torch.Tensor, m, i: torch.Tensor):\n    return x[i] + torch.where(m, x, 0.0)",
        "def f(x: torch.Tensor, m: torch.Tensor, i):\n    i = i.masked_fill(m[0], 0)\n    return x[i] + x",
        "def f(x: torch.Tensor, m, i):\n    i = i.view(-1, 1).expand_as(x)\n    return x[i] + x.gather(0, i).sum()",
        "def part(x, mask):\n    return x[mask]\ndef f(x: torch.Tensor, m, i):\n    return part(x, i).sum()",
        "def part(x, mask=None):\n    return x[mask] + x.take(mask - 1).sum()\n"
        "def f(x: torch.Tensor, m, i):\n    return part(x, i).sum()",
        "def f(x: torch.Tensor, m, i: torch.Tensor):\n    return x[~i] + x.index_select(0, i)",
        "def f(x: torch.Tensor, m, i: torch.Tensor):\n    return x[~i] + x[i - 1]",
        "def f(x, m, i):\n    n = -i\n    return x[~i] + torch.index_select(x, 0, index=i.view(-1)) + n.sum()",
        "return x[True]",
        "layers = [1, 2]\nreturn x + layers[True]",
    )
