"""Rebuild the models that a truth file names, in tiny configurations: inputs functions for --verify.

`rebuild_models.py:NAME` is, for each model NAME of transformers, a function that returns the model with sample inputs.
Needs torch and transformers; a model that the general recipe does not fit raises, and counts as not rebuilt.
"""

import copy
import importlib
import inspect
import os
import re
from pathlib import Path

import torch

os.environ.setdefault("HF_HUB_OFFLINE", "1")

# Sizes that make nearly every configuration of transformers tiny, by the names that configurations use.
SIZES = {
    r"^(hidden_size|d_model|n_embd|embedding_size|dim|emb_dim|embed_dim|encoder_hidden_size|decoder_hidden_size|"
    r"output_hidden_size|out_hidden_size|hidden_dim|model_dim|adapter_size|proj_codevector_dim|"
    r"codevector_dim|projection_dim|latent_dim|spectrogram_bins)$": 32,
    r"^(.*num_hidden_layers|.*_layers|n_layer|num_layers|depth|encoder_layers|decoder_layers|n_layers)$": 2,
    r"^(.*attention_heads|n_head|num_heads|n_heads|.*_heads)$": 2,
    r"^(num_key_value_heads)$": 2,
    r"^(intermediate_size|d_inner|ffn_dim|.*ffn_dim|d_ff|.*intermediate_size|.*_ffn_dim|feed_forward_size)$": 64,
    r"^(vocab_size|.*vocab_size)$": 99,
    r"^(head_dim|.*head_dim|attention_head_size|kv_channels)$": 16,
}


def declare_torchvision():
    """A CUDA build of torchvision has no operators on a CPU build of torch; importing it needs their names."""
    spec = importlib.util.find_spec("torchvision")
    if spec is None or torch.version.cuda is not None:
        return None
    folder = Path(spec.origin).parent
    if "cuda = None" in (folder / "version.py").read_text(encoding="utf-8"):
        return None
    text = (folder / "_meta_registrations.py").read_text(encoding="utf-8")
    names = set(re.findall(r"torchvision::(\w+)", text)) | set(re.findall(r'register_meta\("(\w+)"', text))
    library = torch.library.Library("torchvision", "DEF")
    for name in sorted(names):
        library.define(name + "() -> ()")
    return library


LIBRARY = declare_torchvision()


def shrink(config, seen=None):
    """Make a configuration tiny, its sub-configurations too."""
    seen = seen if seen is not None else set()
    if id(config) in seen:
        return config
    seen.add(id(config))
    for name, value in list(vars(config).items()):
        if hasattr(value, "to_dict"):
            shrink(value, seen)
        elif isinstance(value, bool) or not isinstance(value, int):
            continue
        else:
            for pattern, size in SIZES.items():
                if re.match(pattern, name) and value > size:
                    setattr(config, name, size)
                    break
    layers = getattr(config, "num_hidden_layers", None)
    if getattr(config, "layer_types", None) and layers:
        config.layer_types = config.layer_types[:layers]
    return config


def reformer():
    from transformers import ReformerConfig, ReformerModel

    config = ReformerConfig(
        attention_head_size=16, attn_layers=["local", "lsh"], axial_pos_embds=True, axial_pos_shape=[4, 8],
        axial_pos_embds_dim=[16, 16], hidden_size=32, num_attention_heads=2, vocab_size=99, feed_forward_size=32,
        num_buckets=None, num_hashes=1, lsh_attn_chunk_length=4, local_attn_chunk_length=4, is_decoder=False,
        max_position_embeddings=32,
    )  # fmt: skip
    ids = torch.randint(2, 99, (2, 32))
    return ReformerModel(config), {"input_ids": ids, "attention_mask": torch.ones_like(ids)}


def vits():
    from transformers import VitsConfig, VitsModel

    config = VitsConfig(
        vocab_size=38, hidden_size=16, num_hidden_layers=2, num_attention_heads=2, ffn_dim=32, flow_size=16,
        spectrogram_bins=9, duration_predictor_num_flows=2, duration_predictor_filter_channels=16,
        prior_encoder_num_flows=2, upsample_initial_channel=16, upsample_rates=[8, 2], upsample_kernel_sizes=[16, 4],
        resblock_kernel_sizes=[3, 7], resblock_dilation_sizes=[[1, 3], [1, 3]], posterior_encoder_num_wavenet_layers=2,
        prior_encoder_num_wavenet_layers=2, depth_separable_num_layers=2, num_speakers=0, speaker_embedding_size=0,
    )  # fmt: skip
    return VitsModel(config), {"input_ids": torch.randint(1, 38, (2, 12))}


def led():
    from transformers import LEDConfig, LEDModel

    config = LEDConfig(
        vocab_size=99, d_model=32, encoder_layers=2, decoder_layers=2, encoder_attention_heads=2,
        decoder_attention_heads=2, encoder_ffn_dim=32, decoder_ffn_dim=32, max_encoder_position_embeddings=64,
        max_decoder_position_embeddings=64, attention_window=4,
    )  # fmt: skip
    ids = torch.randint(5, 99, (2, 14))
    return LEDModel(config), {"input_ids": ids, "decoder_input_ids": ids[:, :6]}


def longformer():
    from transformers import LongformerConfig, LongformerModel

    config = LongformerConfig(
        vocab_size=99, hidden_size=32, num_hidden_layers=2, num_attention_heads=2, intermediate_size=64,
        attention_window=4, max_position_embeddings=64,
    )  # fmt: skip
    return LongformerModel(config), {"input_ids": torch.randint(5, 99, (2, 14))}


SPECIAL = {"ReformerModel": reformer, "VitsModel": vits, "LEDModel": led, "LongformerModel": longformer}


# What a configuration needs beside its size, by model: sizes that must fit one another, and layers of every kind.
CONFIG = {
    "AriaModel": {"projector_patch_to_query_dict": {4: 4}},
    "BambaModel": {
        "mamba_n_heads": 4,
        "mamba_d_head": 16,
        "mamba_d_state": 16,
        "mamba_chunk_size": 16,
        "attn_layer_indices": [1],
    },
    "Blip2Model": {"image_token_id": 5, "image_token_index": 5},
    "DbrxModel": {"max_seq_len": 64},
    "EncodecModel": {"hidden_size": 128, "codebook_dim": 128, "num_filters": 4},
    "FastSpeech2ConformerModel": {"vocab_size": 99},
    "JambaModel": {
        "attn_layer_period": 2,
        "attn_layer_offset": 1,
        "mamba_d_state": 8,
        "mamba_dt_rank": 4,
        "num_experts": 2,
        "use_mamba_kernels": False,
    },
    "LongcatFlashModel": {
        "num_hidden_layers": 4,
        "qk_rope_head_dim": 16,
        "qk_nope_head_dim": 16,
        "qk_head_dim": 32,
        "v_head_dim": 16,
        "head_dim": 16,
        "q_lora_rank": 16,
        "kv_lora_rank": 16,
        "n_routed_experts": 4,
        "zero_expert_num": 2,
        "moe_topk": 2,
        "ffn_hidden_size": 64,
        "expert_ffn_hidden_size": 32,
    },
    "NemotronHModel": {
        "layers_block_type": ["mamba", "attention"],
        "mamba_num_heads": 4,
        "mamba_head_dim": 16,
        "ssm_state_size": 16,
        "n_groups": 2,
        "chunk_size": 16,
        "use_mamba_kernels": False,
    },
    "Phi4MultimodalAudioModel": {
        "num_blocks": 2,
        "ext_pw_out_channel": 32,
        "depthwise_separable_out_channel": 32,
        "nemo_conv_channels": 32,
        "input_size": 80,
    },
    "SpeechT5Model": {
        "conv_dim": (32, 32),
        "conv_kernel": (8, 8),
        "conv_stride": (4, 4),
        "num_feat_extract_layers": 2,
    },
    "WavLMModel": {"mask_feature_min_masks": 0, "mask_time_min_masks": 2},
    "ZambaModel": {
        "use_mamba_kernels": False,
        "mamba_dt_rank": 4,
        "mamba_d_state": 8,
        "n_mamba_heads": 2,
        "layers_block_type": ["mamba", "hybrid"],
        "attention_hidden_size": 64,
        "attention_head_dim": 32,
    },
}
LINEAR_ATTENTION = {
    "num_hidden_layers": 2, "layer_types": ["linear_attention", "full_attention"], "linear_num_key_heads": 2,
    "linear_num_value_heads": 2, "linear_key_head_dim": 8, "linear_value_head_dim": 8,
}  # fmt: skip


# Detectors on a backbone of their own: their sizes have to fit one another in too many places.
DETECTOR = {"num_queries": 10, "decoder_layers": 2}
UNSHRUNK = ("DFineModel", "PPDocLayoutV2Model", "PPDocLayoutV3Model", "RTDetrModel", "RTDetrV2Model")


def patches(config, images=2, side=4):
    """Patches of square images, side x side each, and the grid that says so."""
    channels = getattr(config, "in_channels", None) or config.num_channels
    width = channels * getattr(config, "temporal_patch_size", 1) * config.patch_size**2
    return torch.randn(images * side * side, width), torch.tensor([[1, side, side]] * images)


def inputs_of(name, config):
    """Inputs that the model's main input does not tell; None for the general ones."""
    ids, images = torch.randint(3, 99, (2, 12)), torch.randn(2, 3, 64, 64)
    mask = torch.ones_like(ids)
    if name in ("Glm4vMoeVisionModel", "Glm4vVisionModel", "GlmOcrVisionModel"):
        return dict(zip(("hidden_states", "grid_thw"), patches(config), strict=True))
    if name == "GlmImageVisionModel":
        return dict(zip(("pixel_values", "grid_thw"), patches(config), strict=True))
    if name == "VideoLlama3VisionModel":
        pixels, grid = patches(config)
        return {"pixel_values": pixels, "grid_thw": grid, "merge_sizes": torch.tensor([1, 2])}
    if name == "PaddleOCRVisionModel":
        lengths = torch.tensor([0, 16, 32], dtype=torch.int32)
        pixels = torch.randn(1, 32, 3, config.patch_size, config.patch_size)
        return {"pixel_values": pixels, "cu_seqlens": lengths, "image_grid_thw": [(1, 4, 4), (1, 4, 4)]}
    if name == "Phi4MultimodalAudioModel":
        return {
            "hidden_states": torch.randn(2, 64, config.input_size),
            "mask": torch.ones(2, 64, dtype=torch.bool),
        }
    if name.startswith("Siglip2"):
        vision = getattr(config, "vision_config", config)
        pixels = torch.randn(2, 16, 3 * vision.patch_size**2)
        shapes, seen = torch.tensor([[4, 4], [2, 4]]), torch.ones(2, 16, dtype=torch.long)
        text = {} if vision is config else {"input_ids": ids}
        return {"pixel_values": pixels, "pixel_attention_mask": seen, "spatial_shapes": shapes, **text}
    if name == "FastSpeech2ConformerModel":
        spoken, frames = torch.randint(1, 99, (2, 6)), torch.full((2, 6), 2)
        pitch = torch.randn(2, 6, 1)
        return {
            "input_ids": spoken, "attention_mask": torch.ones_like(spoken), "duration_labels": frames,
            "spectrogram_labels": torch.randn(2, 12, config.num_mel_bins),
            "pitch_labels": pitch, "energy_labels": pitch,
        }  # fmt: skip
    if name == "EncodecModel":
        return {"input_values": torch.randn(1, 1, 1024)}
    if name == "XcodecModel":
        return {"input_values": torch.randn(1, 1, 16000)}
    if name in ("Qwen3_5Model", "Qwen3_5MoeModel"):
        return {"input_ids": ids, "attention_mask": mask}
    if name == "PaliGemmaModel":
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0}
    if name == "SpeechT5Model":
        return {"input_values": torch.randn(2, 12, 32), "decoder_input_values": torch.randn(2, 6, 32)}
    if name.startswith("Musicgen"):
        return {"input_ids": torch.randint(0, 90, (2 * config.num_codebooks, 6))}
    if name == "ViltModel":
        return {"input_ids": ids, "attention_mask": mask, "token_type_ids": ids * 0, "pixel_values": images}
    if name == "Kosmos2Model":
        places = torch.zeros_like(ids)
        places[:, 1 : 1 + config.latent_query_num] = 1
        return {"input_ids": ids, "image_embeds_position_mask": places, "pixel_values": images}
    return None


def general(name):
    """The general recipe: the class's own configuration made tiny, inputs by the main input's name."""
    import transformers

    cls = getattr(transformers, name, None)
    if cls is None:
        family = [m for m in dir(transformers.models) if name.lower().startswith(m.replace("_", ""))]
        for module in sorted(family, key=len, reverse=True):
            found = importlib.import_module(f"transformers.models.{module}.modeling_{module}")
            if hasattr(found, name):
                cls = getattr(found, name)
                break
    config = cls.config_class()
    if name not in UNSHRUNK:
        shrink(config)
    for key, value in {
        "max_source_positions": 64,
        "max_target_positions": 64,
        "max_position_embeddings": 64,
    }.items():
        if isinstance(getattr(config, key, None), int):
            setattr(config, key, value)
    for each in (config, *(one for one in vars(config).values() if hasattr(one, "to_dict"))):
        for key in ("pad_token_id", "bos_token_id", "eos_token_id", "decoder_start_token_id"):
            if isinstance(getattr(each, key, None), int):
                setattr(each, key, {"pad_token_id": 1, "bos_token_id": 0}.get(key, 2))
    if name.startswith(("Wav2Vec2", "Hubert", "UniSpeech", "WavLM", "SEW", "Data2VecAudio")):
        config.conv_dim, config.conv_kernel, config.conv_stride = (32, 32, 32), (8, 8, 8), (4, 4, 4)
        config.conv_bias, config.num_feat_extract_layers = False, 3
        config.num_conv_pos_embeddings, config.num_conv_pos_embedding_groups = 16, 2
        config.mask_time_prob, config.mask_time_length = 0.5, 2
        config.mask_feature_prob, config.mask_feature_length = 0.1, 2
        config.layerdrop = 0.1
    for key, value in (DETECTOR if name in UNSHRUNK else CONFIG.get(name, {})).items():
        setattr(config, key, value)
    for each in (config, getattr(config, "text_config", None)):
        if "linear_attention" in (getattr(each, "layer_types", None) or ()):
            for key, value in LINEAR_ATTENTION.items():
                setattr(each, key, value)
    if name == "Kosmos2Model":
        config.latent_query_num, config.vision_config.image_size = 4, 64
    vision = getattr(config, "vision_config", None)
    if isinstance(getattr(vision, "image_size", None), int):
        vision.image_size = 64
    image_token = next((key for key in IMAGE_TOKEN if isinstance(getattr(config, key, None), int)), None)
    if image_token:
        setattr(config, image_token, 5)
    model = cls(config)
    given = inputs_of(name, config)
    parameters = inspect.signature(cls.forward).parameters
    if image_token and {"pixel_values", "input_ids"} <= set(parameters):
        given = with_images(model, config, parameters) or given
    if given is not None:
        return model, given
    ids = torch.randint(3, 99, (2, 12))
    main = cls.main_input_name
    if main == "input_ids":
        inputs = {"input_ids": ids}
        if "decoder_input_ids" in parameters:
            inputs["decoder_input_ids"] = ids[:, :6].clone()
        if "attention_mask" in parameters:
            inputs["attention_mask"] = torch.ones_like(ids)
    elif main in ("input_values",):
        inputs = {"input_values": torch.randn(2, 1024)}
        if name.startswith("Encodec"):
            inputs["input_values"] = torch.randn(2, 1, 1024)
    elif main == "input_features":
        if name.startswith("Wav2Vec2Bert"):
            inputs = {"input_features": torch.randn(2, 24, config.feature_projection_input_dim)}
        else:
            bins = getattr(config, "num_mel_bins", getattr(config, "input_feat_per_channel", 80))
            shape = (2, 60, bins) if name.startswith("Speech2Text") else (2, bins, 128)
            inputs = {"input_features": torch.randn(*shape)}
        if "decoder_input_ids" in parameters:
            inputs["decoder_input_ids"] = ids[:, :6].clone()
    elif main == "past_values":
        length = config.context_length + max(config.lags_sequence)
        config.prediction_length = config.prediction_length or 4
        inputs = {
            "past_values": torch.randn(2, length),
            "past_time_features": torch.randn(2, length, config.num_time_features),
            "past_observed_mask": torch.ones(2, length),
            "future_values": torch.randn(2, config.prediction_length),
            "future_time_features": torch.randn(2, config.prediction_length, config.num_time_features),
        }
    else:
        inputs = {"pixel_values": torch.randn(2, 3, 64, 64)}
        if "input_ids" in parameters:
            inputs["input_ids"] = ids
    return model, inputs


IMAGE_TOKEN = ("image_token_id", "image_token_index")


def with_images(model, config, parameters):
    """Two texts with an image each, and as many image tokens as the model makes of one: its complaint says so."""
    vision = getattr(config, "vision_config", config)
    size = getattr(vision, "image_size", 64)
    text, count = torch.randint(6, 99, (2, 6)), 1
    for edge in dict.fromkeys((64, size if isinstance(size, int) else size[0])):
        for _ in range(2):
            ids = torch.cat([torch.full((2, count), 5), text], 1)
            inputs = {"pixel_values": torch.randn(2, 3, edge, edge), "input_ids": ids}
            inputs["attention_mask"] = torch.ones_like(ids)
            if "token_type_ids" in parameters:
                inputs["token_type_ids"] = torch.zeros_like(ids)
            if "decoder_input_ids" in parameters:
                inputs["decoder_input_ids"] = text
            try:
                with torch.no_grad():
                    copy.deepcopy(model)(**inputs)  # the first call leaves things behind
            except Exception as error:
                features = re.search(r"features: (\d+)", str(error))
                count = int(features[1]) // 2 if features else count
                continue
            return inputs
    return None


def time_series(name):
    import transformers

    cls = getattr(transformers, name)
    config = cls.config_class(
        prediction_length=4, context_length=8, lags_sequence=[1, 2], num_time_features=1, encoder_layers=2,
        decoder_layers=2, d_model=16, encoder_ffn_dim=32, decoder_ffn_dim=32, encoder_attention_heads=2,
        decoder_attention_heads=2,
    )  # fmt: skip
    if hasattr(config, "label_length"):
        config.label_length = 4
    if hasattr(config, "distil"):
        config.distil = (
            False  # with it the compiled model makes a mask of a length that the eager one does not
        )
    model = cls(config)
    return model, {
        "past_values": torch.rand(2, 10), "past_time_features": torch.rand(2, 10, 1),
        "past_observed_mask": torch.ones(2, 10), "future_values": torch.rand(2, 4),
        "future_time_features": torch.rand(2, 4, 1),
    }  # fmt: skip


def build(name):
    """(model, args, kwargs) of one model of transformers by class name."""
    torch.manual_seed(0)
    if name in SPECIAL:
        model, inputs = SPECIAL[name]()
    elif name in ("AutoformerModel", "InformerModel", "TimeSeriesTransformerModel"):
        model, inputs = time_series(name)
    else:
        model, inputs = general(name)
    return model, (), inputs


def recipe(name):
    """(callable, args, kwargs) by the recipe file that the environment variable RECIPES names."""
    path = os.environ["RECIPES"]
    spec = importlib.util.spec_from_file_location("recipes", path)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    _, statements = module.RECIPES[name.replace("__", ".")]
    torch.manual_seed(0)
    space = {"torch": torch, "randn": torch.randn, "randint": torch.randint}
    exec(statements, space)
    return space["fn"], space["args"], space.get("kwargs", {})


def __getattr__(name):
    if name.startswith("_"):
        raise AttributeError(name)
    if "__" in name:
        return lambda: recipe(name)
    return lambda: build(name)
