"""julius: filters and resampling of sounds. Its modules hold no weights; what reads lengths out of tensors ends the
graph."""

from __future__ import annotations

from pt2lint.libraries.made_of_modules import classes, plain
from pt2lint.libraries.model import Library

# Measured with benchmarks/library_breaks.py on torch 2.13 with julius 0.2.8.
READS_LENGTH = "it reads the new length out of a tensor"
READS_BANDS = "it reads the frequencies of the bands out of a tensor"
GIVE_TENSOR = (
    "bandpass_filter highpass_filter lowpass_filter lowpass_filters resample_frac split_bands"
    " bands.split_bands fftconv.fft_conv1d fft_conv1d filters.bandpass_filter filters.highpass_filter"
    " filters.lowpass_filter filters.lowpass_filters resample.resample_frac core.sinc core.unfold"
)

LIBRARY = Library(
    "julius",
    returns={f"julius.{name}": "tensor" for name in GIVE_TENSOR.split()},
    breaks={
        **{f"julius.{place}resample_frac": READS_LENGTH for place in ("", "resample.")},
        **{f"julius.{place}ResampleFrac.forward": READS_LENGTH for place in ("", "resample.")},
        **{f"julius.{place}split_bands": READS_BANDS for place in ("", "bands.")},
        "julius.core.mel_frequencies": READS_BANDS,
    },
    instances=classes,
    attribute=plain,
)
