from __future__ import annotations

from types import MappingProxyType

import libcst as cst

from pt2lint.op import Op
from pt2lint.rule import GraphBreak, calls
from pt2lint.rule.syntax import names

QUERIES = (
    "can_cast get_autocast_cpu_dtype get_default_device get_deterministic_debug_mode get_device "
    "get_float32_matmul_precision get_num_interop_threads get_num_threads is_anomaly_check_nan_enabled "
    "is_anomaly_enabled is_conj is_deterministic_algorithms_warn_only_enabled is_distributed is_inference is_neg "
    "is_same_size is_signed is_warn_always_enabled result_type"
)
ASK_ONCE = (
    "Ask once, at the top of the file or in `__init__`, and test the answer: a flag of Python is known "
    "while tracing"
)


class TorchQuery(GraphBreak):
    """A function of torch answers with a plain Python value that Dynamo does not know.

    ## What happens
    Dynamo has an answer of its own for what models ask most (`x.dtype`, `x.is_contiguous()`,
    `torch.is_grad_enabled()`, `torch.cuda.is_available()`). Where it has none, it ends the graph: GB0208
    where the answer is no tensor, GB0007 where it does not trace the function, GB0045 and GB0046 for
    inference mode, GB0126 for `resize_`.

    ## Example
    ```python
    import torch

    def f(x, log):
        y = torch.relu(x)
        log.append(torch.cuda.memory_allocated())
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Use instead
    Ask before or after the compiled call:
    ```python
    import torch

    def f(x, log):
        y = torch.relu(x)
        return y * 2

    args = (torch.tensor([1.0, -2.0]), [])
    ```

    ## Versions
    Measured: breaks on torch 2.6 to 2.15, in default mode and with `fullgraph=True`;
    `is_available` and `is_built` of `torch.backends.mps`, `SDPAParams`, `torch._C._is_tracing` and `to_mkldnn()` are
    fine on 2.15; `is_inference()` of a tensor is fine on 2.6; `torch.cuda.is_initialized`,
    `torch.accelerator.is_available` and `torch.get_device_module` are fine from 2.9 on. What needs a GPU, as
    `get_device_name`, `set_device` or `nvtx.range_push`: measured on torch 2.11 with an H100.
    """

    code = "PTB186"
    name = "torch-query"
    step = True
    ops = (
        *calls("torch", QUERIES),
        *calls("torch", "from_dlpack to_dlpack resize_as_ is_inference_mode_enabled get_device_module"),
        *calls("torch.cuda", "memory_allocated max_memory_allocated memory_reserved device_count"),
        *calls("torch.cuda", "is_bf16_supported is_tf32_supported is_initialized"),
        *calls(
            "torch.cuda", "memory_stats memory_summary utilization get_device_name get_arch_list set_device"
        ),
        *calls("torch.cuda", "is_current_stream_capturing default_stream cudart"),
        *calls("torch.cuda.nvtx", "range_push range_pop"),
        "call torch.backends.cudnn.version",
        *calls("torch.Tensor", "is_inference is_conj is_pinned is_neg is_signed is_set_to is_distributed"),
        *calls("torch.Tensor", "dense_dim has_names resize resize_ resize_as_ share_memory_ to_mkldnn"),
        *calls("torch.utils.dlpack", "from_dlpack to_dlpack"),
        "call torch.jit.isinstance",
        "call torch._C._is_tracing",
        *calls("torch.backends.cuda", "is_built SDPAParams preferred_blas_library preferred_linalg_library"),
        *calls(
            "torch.backends.cuda",
            "flash_sdp_enabled math_sdp_enabled mem_efficient_sdp_enabled cudnn_sdp_enabled",
        ),
        *calls("torch.backends.mps", "is_available is_built"),
        *(
            f"call torch.backends.{name}.is_available"
            for name in "mkl mkldnn openmp cudnn opt_einsum".split()
        ),
        "call torch.backends.cpu.get_cpu_capability",
        *calls("torch", "typename is_storage set_flush_denormal"),
        "call torch.hub.get_dir",
        "call torch.accelerator.is_available",
    )
    says = "{code} asks torch for what Dynamo does not know"
    repairs = ("public_name", "disable")
    instead = MappingProxyType(
        {
            "call torch.Tensor.resize": (
                "Make a new one: `x.new_empty(shape)`, or `x.reshape(shape)` where the count stays"
            ),
            "call torch.cuda.m": (
                "Ask before or after the compiled call, or in eager mode alone: "
                "`not torch.compiler.is_compiling() and ...`"
            ),
            "call torch.is_inference_mode_enabled": (
                "Ask before the compiled call, and pass the answer on as a flag"
            ),
            "call torch.jit.isinstance": "Ask `isinstance`, which is traced",
            "call torch.cuda": ASK_ONCE,
            "call torch.cuda.is_current_stream_capturing": (
                "Ask before the compiled call, and pass the answer on as a flag"
            ),
            "call torch.cuda.set_device": (
                "Set it once, before the compiled call; `with torch.cuda.device(...):` is traced"
            ),
            "call torch.cuda.nvtx": (
                "Enter `torch.profiler.record_function(...)`, which is traced, and `torch.autograd.profiler.emit_nvtx` "
                "around the compiled call"
            ),
            "call torch.backends": ASK_ONCE,
            "call torch.accelerator": ASK_ONCE,
            "": "Ask before the compiled call, and pass on the answer",
        }
    )
    graph_breaks = ("GB0208", "GB0007", "GB0045", "GB0046", "GB0126")

    def is_aside(self, node: cst.CSTNode, op: Op) -> bool:
        if ".resize" in op.name or op.name.endswith("_threads"):  # what a layer keeps, for another shape
            return True
        return op.name == "call torch.jit.isinstance" and any(each.value == "str" for each in names(node))

    INVALID = (
        "return x.to(torch.result_type(x, 1)) + 1",
        "return x + torch.is_inference_mode_enabled()",
        "y = x.clone()\ny.resize_(2, 2)\nreturn y",
        "return x + torch.jit.isinstance(x, torch.Tensor)",
    )
    VALID = (
        "return x * 2 if torch.is_grad_enabled() and not torch.cuda.is_available() else x",
        "return x.to(torch.get_default_dtype()) + x.get_device()",
    )
