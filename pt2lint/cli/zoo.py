"""The command line's part of a run over many targets."""

from __future__ import annotations

import argparse
from collections.abc import Callable, Sequence
from dataclasses import asdict
from typing import TYPE_CHECKING, Any

from pt2lint.cli.answer import told
from pt2lint.cli.options import UsageError, settings_of
from pt2lint.understood import Understood
from pt2lint.zoo import shards
from pt2lint.zoo.verify import ZooOptions, verify_zoo

if TYPE_CHECKING:
    from pt2lint.check import Judge
    from pt2lint.dynamic.options import VerifyOptions
    from pt2lint.dynamic.run import VerifyResult
    from pt2lint.finding import Finding
    from pt2lint.project.config import Configs, Settings

# Of the settings, those that change no result of a target.
WEIGHED_LATER = ("severity", "fail_on", "verify", "root", "source", "budget")


def judge_of(
    options: argparse.Namespace,
    configs: Configs,
    wanted: VerifyOptions,
    timing: str | None,
    paths: Sequence[str],
    progress: Callable[[str], None] | None,
) -> Judge:
    """What gives the verdicts: a run target by target."""
    try:
        shard = shards.parse(options.shard) if options.shard else None
    except ValueError as error:
        raise UsageError(f"--shard {error}") from None
    if shard and not options.results:
        raise UsageError("--shard goes with --results FILE, which `pt2lint merge` puts together")
    settings = settings_of(configs, paths[0])
    understood = Understood(configs)
    zoo = ZooOptions(
        options.results, shard, options.durations, options.executor, timing, plain(settings), arguments(options, paths)
    )  # fmt: skip

    def judge(findings: Sequence[Finding], there: Sequence[str], linted: Sequence[str]) -> VerifyResult:
        try:
            return verify_zoo(findings, there, wanted, zoo, progress, understood, linted)
        except (ValueError, OSError) as error:
            from pt2lint.dynamic.run import VerifyResult
            from pt2lint.finding import Problem

            return VerifyResult(list(findings), [Problem(None, told(error))])

    return judge


def plain(settings: Settings) -> dict[str, Any]:
    """The settings that decide what is found, as JSON gives them back."""
    import json

    told = {key: value for key, value in asdict(settings).items() if key not in WEIGHED_LATER}
    return json.loads(json.dumps(told, default=list))


def arguments(options: argparse.Namespace, paths: Sequence[str]) -> dict[str, Any]:
    """What it takes to read the code again as it was read for this run."""
    kept = ("select", "extend_select", "ignore", "pedantic", "roots", "assume", "target_torch", "config")
    return {"paths": list(paths), "options": {name: getattr(options, name) for name in kept}}
