"""torchaudio: what its transforms give, and which of them end the graph."""

from __future__ import annotations

from pt2lint.libraries.made_of_modules import classes, plain
from pt2lint.libraries.model import Library
from pt2lint.op import DRAWN

# Measured with benchmarks/library_breaks.py on torch 2.6 with torchaudio 2.6, on 2.13 and 2.15 with 2.11, on the CPU.
# Others (AmplitudeToDB, MelScale, GriffinLim, TimeStretch, SpecAugment, MuLawEncoding ...) stay in the graph.
ASKS_FOR_TYPE = "it calls `torch.jit.isinstance`, which Dynamo does not trace"
READS_LENGTH = "it reads the new length out of a tensor"
COMPARES_DRAWN = f"it compares {DRAWN}"
TRANSFORMS = {
    **dict.fromkeys(
        ("Spectrogram", "InverseSpectrogram", "MelSpectrogram", "MFCC", "LFCC", "SpectralCentroid"),
        ASKS_FOR_TYPE,
    ),
    **dict.fromkeys(("Resample", "Speed", "PitchShift"), READS_LENGTH),
    **dict.fromkeys(("FrequencyMasking", "TimeMasking"), COMPARES_DRAWN),
    "SpeedPerturbation": "it reads the random number that it draws",
}
FUNCTIONS = {
    "spectrogram": ASKS_FOR_TYPE,
    "resample": READS_LENGTH,
    "mask_along_axis": COMPARES_DRAWN,
    "melscale_fbanks": "it tests whether a filter is zero",
    "convolve": "it reads a number of signals out of a tensor",
}
# Measured with torchaudio 2.8, which reads by soundfile, on torch 2.13; 2.11 hands both to torchcodec.
FILES = {"load": "it reads a file", "info": "it reads a file", "save": "it writes a file"}
GIVE_TENSOR = (
    "amplitude_to_DB DB_to_amplitude lfilter biquad fftconvolve mu_law_encoding mu_law_decoding griffinlim"
)

LIBRARIES = (
    Library("torchaudio.transforms", instances=classes, attribute=plain),
    Library(
        "torchaudio",
        returns={f"torchaudio.functional.{name}": "tensor" for name in (*FUNCTIONS, *GIVE_TENSOR.split())},
        breaks={
            **{f"torchaudio.transforms.{name}.forward": why for name, why in TRANSFORMS.items()},
            **{f"torchaudio.functional.{name}": why for name, why in FUNCTIONS.items()},
            **{f"torchaudio.{name}": why for name, why in FILES.items()},
        },
    ),
)
