"""torchmetrics: its metrics, which are modules, what they give, and which of them end the graph."""

from __future__ import annotations

from pt2lint.libraries.call import Call
from pt2lint.libraries.made_of_modules import METHODS, of_module
from pt2lint.libraries.model import Library, made_or_unknown
from pt2lint.static.values import Py, Value

METRIC = "torchmetrics.Metric"
# Measured with benchmarks/library_breaks.py on torch 2.6 and 2.15 with torchmetrics 1.9. Accuracy, F1Score and
# MeanSquaredError of several classes stay in the graph.
TESTS_FOR_NAN = 'it tests the values for NaN; with `nan_strategy="disable"` it stays in the graph'
AGGREGATES = ("MeanMetric", "SumMetric", "MaxMetric", "MinMetric", "CatMetric", "RunningMean")
FUNCTIONS = {
    "mean_absolute_error": "it asks a method for its truth and then converts",
    "pearson_corrcoef": "it branches on the variance",
    "spearman_corrcoef": "it seeks what is there twice",
    "r2_score": "it branches on the values",
    "auroc": "it checks the values that it is given",
}
STAYING = "accuracy f1_score mean_squared_error cosine_similarity"


def called(call: Call) -> Value:
    """A metric; one that does not look for NaN is as any other."""
    strategy = call.kwargs.get("nan_strategy")
    if isinstance(strategy, Py) and strategy.const == "disable" and call.receiver is None:
        return call.models.instance(METRIC)
    return made_or_unknown(call)


def attribute(type_name: str, owner: Value, name: str) -> Value | None:
    return of_module(owner, name) if name in METHODS else None


def instances(name: str) -> str | None:
    last = name.rpartition(".")[2]
    return "tensor" if last[:1].isupper() and not last.endswith("Collection") else None


LIBRARY = Library(
    "torchmetrics",
    returns={f"torchmetrics.functional.{name}": "tensor" for name in (*FUNCTIONS, *STAYING.split())},
    instances=instances,
    roles={"seldom compiled": (METRIC, "torchmetrics.metric.Metric")},
    breaks={
        **{
            f"torchmetrics{where}.{name}.{method}": TESTS_FOR_NAN
            for where in ("", ".aggregation")
            for name in AGGREGATES
            for method in ("forward", "update")
        },
        **{f"torchmetrics.functional.{name}": why for name, why in FUNCTIONS.items()},
    },
    otherwise=called,
    attribute=attribute,
    measured="benchmarks/library_breaks.py",
)
