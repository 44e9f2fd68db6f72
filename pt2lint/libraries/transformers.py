"""transformers: its models, what they give, and who compiles them."""

from __future__ import annotations

import re

from pt2lint.libraries.call import Call
from pt2lint.libraries.frameworks import settings, trainer
from pt2lint.libraries.made_of_modules import of_module
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import OFTEN_OFF, UNKNOWN, Ext, Instance, Py, Seq, Tensor, Value

MODEL, OUTPUT = "transformers.PreTrainedModel", "transformers.utils.ModelOutput"
# BertModel, GPT2LMHeadModel, BertForMaskedLM, CLIPVisionModelWithProjection; not TensorFlow's, nor a base.
_MODEL = re.compile(r"(?!TF[A-Z]|Flax|DataCollator)\w*?(Model|For[A-Z]\w*|WithProjection)")
GENERATE = "transformers.GenerationMixin.generate"
GENERATES = "it asks the values of the tokens how long they are and when to stop"
_MAKES = ("from_pretrained", "from_config", "_from_config")
TENSORS = frozenset(
    "loss logits last_hidden_state pooler_output start_logits end_logits prediction_logits seq_relationship_logits "
    "encoder_last_hidden_state logits_per_image logits_per_text text_embeds image_embeds sequences".split()
)
MANY = frozenset(
    "hidden_states attentions cross_attentions encoder_hidden_states encoder_attentions decoder_hidden_states "
    "decoder_attentions".split()
)


def is_model(name: str) -> bool:
    last = name.rpartition(".")[2]
    return _MODEL.fullmatch(last) is not None and not last.endswith("PreTrainedModel")


def called(call: Call) -> Value:
    """`AutoModel.from_pretrained(...)`, `BertModel(config)`: a model."""
    owner, _, last = call.name.rpartition(".")
    if call.receiver is None and is_model(owner if last in _MAKES else call.name):
        return call.models.instance(MODEL)
    return made_or_unknown(call)


def generated(call: Call) -> Value:
    """`model.generate(cache_implementation="static")` compiles the model's forward, on a GPU."""
    cache, model = call.kwargs.get("cache_implementation"), call.receiver
    if isinstance(cache, Py) and isinstance(cache.const, str) and isinstance(model, Instance):
        if model.cls is not None and "dynamic" not in cache.const:
            call.compile_in_place(model)
    return UNKNOWN


def instances(name: str) -> str | None:
    return f"instance {OUTPUT}" if name == MODEL or is_model(name) else None


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    """Of a model what every module has, of what it gives the tensors: by name, or as an item.

    The first item is the loss or the first tensor: a tensor in either case.
    """
    if type_name == OUTPUT:
        name = name.removeprefix("[").removesuffix("]")
        tensor = Tensor(None, ("", 0, f"`{name}` of what a model of transformers gives is a tensor"))
        if name in TENSORS:
            return tensor
        if name == "0":
            return tensor.but(origin=("", 0, "a model of transformers gives a tensor first"))
        return Seq(None, tensor, "tuple") if name in MANY else UNKNOWN
    # What the classes that models derive from set before anybody asks for something else.
    if name == "gradient_checkpointing":
        return Py("bool", off=OFTEN_OFF)
    if name == "pruned_heads":
        return Seq([], UNKNOWN, "list")
    if name == "generate":
        return Ext(GENERATE, owner)
    if type_name == MODEL and name == "get_input_embeddings":
        return Ext(f"{MODEL}.{name}", owner)
    return of_module(owner, name) if instances(type_name) is not None else None


MODELS = ("Model", "ForCausalLM", "ForConditionalGeneration", "ForSequenceClassification")
COLLATORS = ("WithPadding", "ForSeq2Seq", "ForTokenClassification")

LIBRARY = Library(
    "transformers",
    roles={
        "class of models": ("*PreTrainedModel", *(f"transformers.*{n}" for n in MODELS)),
        "makes one of its class": ("*PreTrainedModel._from_config",),
        "pads to the longest": tuple(f"transformers.DataCollator{n}" for n in COLLATORS),
    },
    breaks={GENERATE: GENERATES},
    returns={f"{MODEL}.get_input_embeddings": "instance torch.nn.Embedding"},
    instances=instances,
    told_by={OUTPUT: ("last_hidden_state", "pooler_output")},
    attribute=attribute,
    mentions=("torch_compile", "cache_implementation"),
    handlers={
        GENERATE: generated,
        **dict.fromkeys(
            ("transformers.TrainingArguments", "transformers.Seq2SeqTrainingArguments"), settings
        ),
        **dict.fromkeys(("transformers.Trainer", "transformers.Seq2SeqTrainer"), trainer),
    },
    otherwise=called,
    measured="`generate` of a tiny Llama, transformers 5.24 on torch 2.13",
)
