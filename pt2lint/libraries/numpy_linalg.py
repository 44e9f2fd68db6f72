"""numpy.linalg: decompositions give several arrays; all else is as in NumPy."""

from __future__ import annotations

from pt2lint.libraries.model import Library

LIBRARY = Library(
    "numpy.linalg",
    given="tensors",
    returns={
        **{f"numpy.linalg.{n}": "tuple(array,array)" for n in ("eig", "eigh", "slogdet", "qr")},
        "numpy.linalg.svd": "tuple(array,array,array)",
        "numpy.linalg.lstsq": "tuple(array,array,int,array)",
    },
    # On torch 2.6 to 2.15; the others are traced.
    breaks={"numpy.linalg.lstsq": "Dynamo does not trace it"},
    measured="tests/static/test_libraries.py",
)
