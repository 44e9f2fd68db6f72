"""How to install what a module imports: the package to install often has another name."""

from __future__ import annotations

import re
from collections.abc import Sequence

_NAMED_ELSE = {
    "absl": "absl-py", "attr": "attrs", "bs4": "beautifulsoup4", "cv2": "opencv-python", "dotenv": "python-dotenv",
    "faiss": "faiss-cpu", "git": "GitPython", "hydra": "hydra-core", "open_clip": "open-clip-torch", "PIL": "Pillow",
    "skimage": "scikit-image", "sklearn": "scikit-learn", "umap": "umap-learn", "yaml": "PyYAML",
}  # fmt: skip
# Those that models import, and that are installed by the name they are imported by.
_NAMED_SO = frozenset("""
accelerate addict albumentations av axial_positional_embedding beartype bitsandbytes braceexpand causal_conv1d colorama
colorlog coloredlogs dacite datasets decord deepspeed diffusers diskcache easydict editdistance einops einx ema_pytorch
encodec ffmpy fire flash_attn fsspec ftfy fvcore g2p_en gdown gradio gym gymnasium h5py huggingface_hub imageio inflect
jaxtyping jieba joblib jsonargparse julius kornia librosa lightning lightning_utilities lmdb local_attention loguru
lpips mamba_ssm matplotlib mmcv mmengine munch nltk numba omegaconf onnx onnxruntime packaging pandas parameterized peft
plotly protobuf psutil pydantic pyloudnorm pytorch_lightning pytorch_wavelets pyworld regex requests rich rjieba
rotary_embedding_torch sacrebleu safetensors scipy seaborn segmentation_models_pytorch sentence_transformers
sentencepiece simplejson six soundfile spacy sympy tabulate tensorboard tensorboardX termcolor textdistance tiktoken
timm tokenizers toml torch_cluster torch_geometric torch_scatter torch_sparse torchaudio torchdiffeq torchinfo
torchmetrics torchsde torchtyping torchvision tqdm transformers trimesh typeguard tyro unidecode vector_quantize_pytorch
vocos wandb webdataset x_transformers xformers yacs zarr
""".split())  # fmt: skip


def how_to_install(packages: Sequence[str]) -> str:
    """The command that installs those of the packages, named as they are imported, that are known; "" where none is."""
    known = [_NAMED_ELSE.get(each) or (each if each in _NAMED_SO else "") for each in packages]
    return " ".join(["pip install", *filter(None, known)]) if any(known) else ""


def to_install_for(reason: str) -> str:
    """The command that installs what a reason says is missing; "" where none is known."""
    found = re.search(
        r"No module named '(\w+)'|\b([A-Za-z]\w*)[\w.()]*, which (?:it is made of, )?is not installed", reason
    )
    return how_to_install([found[1] or found[2]]) if found else ""
