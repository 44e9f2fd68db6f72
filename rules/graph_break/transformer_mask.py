from __future__ import annotations

from pt2lint.rule import GraphBreak


class TransformerMask(GraphBreak):
    """A transformer of torch.nn is given a mask, and not told whether it is causal.

    ## What happens
    Where `is_causal` is left out, `nn.TransformerEncoder`, `nn.TransformerDecoder` and `nn.Transformer` compare the
    mask with a causal one to find out: `bool((mask == causal_comparison).all())` in torch's own
    `_detect_is_causal_mask`, which ends the graph (GB0124). A mask of three dimensions is not compared, and the layers
    (`nn.TransformerEncoderLayer`, `nn.MultiheadAttention`) compare nothing. Where a module's own `forward` calls them,
    Dynamo's log leaves that frame out, and names the line that calls the module.

    ## Example
    ```python
    import torch

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 1).eval()

    def f(x):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return encoder(x, mask=mask) * 2

    args = (torch.ones(1, 3, 8),)
    ```

    ## Use instead
    Say whether the mask is causal. `False` is never wrong, the mask is applied either way; `True` may be faster, and
    then has to be right:
    ```python
    import torch

    layer = torch.nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
    encoder = torch.nn.TransformerEncoder(layer, 1).eval()

    def f(x):
        mask = torch.nn.Transformer.generate_square_subsequent_mask(x.shape[1])
        return encoder(x, mask=mask, is_causal=True) * 2

    args = (torch.ones(1, 3, 8),)
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15.
    """

    code = "PTB152"
    name = "transformer-mask"
    ops = (
        "mask torch.nn.TransformerEncoder",
        "mask torch.nn.TransformerDecoder",
        "mask torch.nn.Transformer",
    )
    says = "{code} reads the mask to find out whether it is causal (torch's `_detect_is_causal_mask`): say so"
    repairs = ("causal",)
    graph_breaks = ("GB0124",)

    INVALID = (
        "layer = torch.nn.TransformerDecoderLayer(4, 2, 4)\ndecoder = torch.nn.TransformerDecoder(layer, 1)\n"
        "def f(x, m, i):\n    return decoder(x, x, m.logical_not())",
        "both = torch.nn.Transformer(4, 2, 1, 1, 4)\ndef f(x, m, i):\n    return both.encoder(x, m.logical_not())",
        "both = torch.nn.Transformer(4, 2, 1, 1, 4)\ndef f(x, m, i):\n    return both(x, x, src_mask=m.logical_not())",
        "class Net(torch.nn.Transformer):\n    def __init__(self):\n        super().__init__(4, 2, 1, 1, 4)\n"
        "        self.mask = None\n    def encode(self, x):\n        if self.mask is None:\n"
        "            self.mask = torch.ones(4, 4).triu(1).bool()\n        return self.encoder(x, mask=self.mask)\n"
        "net = Net()\ndef f(x, m, i):\n    return net.encode(x)",
    )
    VALID = (
        "both = torch.nn.Transformer(4, 2, 1, 1, 4)\n"
        "def f(x, m, i):\n    return both(x, x, None, m, tgt_is_causal=False)",
        "layer = torch.nn.TransformerEncoderLayer(4, 2, 4)\nencoder = torch.nn.TransformerEncoder(layer, 1)\n"
        "def f(x, m, i):\n    return encoder(x) + layer(x, m)",
        "layer = torch.nn.TransformerEncoderLayer(4, 2, 4)\nencoder = torch.nn.TransformerEncoder(layer, 1)\n"
        "def f(x, m, i):\n    return encoder(x[:, None], mask=m[None].repeat(2, 1, 1))",
        "layer = torch.nn.TransformerEncoderLayer(4, 2, 4)\nencoder = torch.nn.TransformerEncoder(layer, 1)\n"
        "def f(x, m, i):\n    return encoder(x, mask=None)",
    )
