#!/usr/bin/env python3
"""Run --verify on code that does its worst: verify_hostile.py [--jobs N] [--python PYTHON]

Every kind of tests/dynamic/test_hostile.py: code that ends the process or has to be ended, code that raises what ends
programs, code that does harm that must not show. Each file also holds a good function, which has to be judged after
the hostile ones. Printed: what went wrong, then how many functions got the right verdict, and how many processes
were left behind. The exit status is 1 if any went wrong.
"""

import argparse
import os
import re
import sys
import tempfile
import time
import uuid
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from tests.dynamic.conftest import Project
from tests.dynamic.test_hostile import CAUGHT, DEADLY, ENDLESS, HARMLESS, hostile_file, marked_processes


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--jobs", type=int, default=1)
    parser.add_argument("--python")
    options = parser.parse_args()
    mark = f"hostile-{uuid.uuid4().hex}"
    os.environ["PT2LINT_TEST_MARK"] = mark
    start = time.perf_counter()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        project = Project(Path(folder))
        expected = []  # (kind, verdict, words of the reason) for each finding, file by file
        paths = []
        groups = [{name: body} for name, (body, _) in {**ENDLESS, **DEADLY}.items()]
        groups += [{name: body for name, (body, _) in CAUGHT.items()}, HARMLESS]
        words = {name: said for name, (_, said) in {**ENDLESS, **DEADLY, **CAUGHT}.items()}
        for number, bodies in enumerate(groups):
            paths.append(project.write(f"kind_{number:02}.py", hostile_file(bodies)))
            for name in bodies:
                expected.append((name, "failed" if name in words else "confirmed", words.get(name, "")))
            expected.append((f"the good one after {', '.join(bodies)}"[:60], "confirmed", ""))
        result = project.verify(
            *paths,
            inputs=tuple(f"{path}:inputs" for path in paths),
            timeout=20, memory=2048, further=False, jobs=options.jobs, python=options.python,
        )  # fmt: skip
        os.chdir("/")
    judged = [each for each in result.findings if each.code == "PTB100"]
    right = 0
    for (name, verdict, said), finding in zip(expected, judged, strict=True):
        reason = (finding.evidence or {}).get("reason", "")
        if finding.verdict == verdict and re.search(said.removesuffix(r" \(at"), reason):
            right += 1
        else:
            print(f"wrong: {name}: {finding.verdict} ({reason}), not {verdict} ({said})")
    left = marked_processes(mark)
    print(
        f"{right} of {len(expected)} end with the right verdict, {len(left)} processes left behind "
        f"({len(words) + len(HARMLESS)} hostile kinds, --jobs {options.jobs}, {time.perf_counter() - start:.0f} s)"
    )
    return int(right < len(expected) or bool(left))


if __name__ == "__main__":
    sys.exit(main())
