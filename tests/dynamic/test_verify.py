"""verify() on real code under the installed torch: all ways to find inputs, all verdicts, bad inputs."""

from __future__ import annotations

import logging
import re
import subprocess
import sys
import sysconfig
import time
from dataclasses import replace
from pathlib import Path

import pytest

from pt2lint.dynamic import verify
from pt2lint.dynamic.options import VerifyOptions, options_from
from pt2lint.dynamic.run import find_python
from pt2lint.dynamic.trace import read_traces
from tests.dynamic.conftest import Project, needs_torch, verdicts

MODEL = """
    import copy
    import torch
    from torch import nn

    class Model(nn.Module):
        def __init__(self, width=4):
            super().__init__()
            self.linear = nn.Linear(width, width)
            self.calls = 0

        def branch(self, x):
            if x.sum() > 0:  # HERE
                x = x + 1
            return x

        def forward(self, x, verbose=False):
            y = self.branch(self.linear(x))
            if verbose:
                print("verbose")  # HERE
            if x.shape[0] > 1:  # HERE
                y = y * 2
            self.calls += 1  # HERE PTR202
            return y + x.sum().item()

        def never(self, x):
            return x.item()  # HERE
"""


def by_line(result: object) -> dict[int, tuple[str, str | None]]:
    return {line: (code, verdict) for line, code, verdict in verdicts(result)}  # type: ignore[arg-type]


@needs_torch
def test_get_inputs_and_all_verdicts(project: Project) -> None:
    text = MODEL + "\n\n    def get_init_inputs():\n        return [4]\n"
    path = project.write("model.py", text + "\n    def get_inputs():\n        return [torch.ones(3, 4)]\n")
    said: list[str] = []
    result = verify(project.findings, [path], VerifyOptions(), on_progress=said.append)
    assert result.problems == []
    lines = {line.strip(): number for number, line in enumerate(Path(path).read_text().splitlines(), 1)}
    found = {(each.line, each.code): each for each in result.findings}

    branch = found[lines["if x.sum() > 0:  # HERE"], "PTB100"]
    assert branch.verdict == "confirmed"
    assert branch.evidence is not None
    assert branch.evidence["graph_break"] == "GB0170"
    assert branch.evidence["modes"] == ["default", "fullgraph"]
    assert branch.evidence["targets"] == ["Model (eval)", "Model (train)"]
    assert branch.evidence["hits"] == 1
    assert (branch.evidence["operators_before"], branch.evidence["operators_after"]) != (None, None)

    assert found[lines["if x.shape[0] > 1:  # HERE"], "PTB100"].verdict == "refuted"
    assert found[lines['print("verbose")  # HERE'], "PTB100"].verdict == "unreached"
    assert found[lines["return x.item()  # HERE"], "PTB100"].verdict == "unreached"

    counter = found[lines["self.calls += 1  # HERE PTR202"], "PTR202"]
    assert counter.verdict == "confirmed"
    assert counter.evidence is not None
    assert "calls == 0" in counter.evidence["reason"]
    assert not any(each.code == "PTR900" for each in result.findings)

    item = found[lines["return y + x.sum().item()"], "PTB900"]
    assert item.verdict == "confirmed"
    assert item.evidence is not None
    assert item.evidence["graph_break"] == "GB0124"
    assert item.evidence["modes"] == ["default"]
    source = Path(path).read_text().splitlines()[item.line - 1]
    # Some versions of torch mark the expression, others (2.11) only name the line.
    assert source[item.column - 1 : item.end_column - 1] in ("x.sum().item()", "return y + x.sum().item()")
    assert "Model (train): default" in said

    again = verify(project.findings, [path], VerifyOptions())
    assert [each.as_json() for each in again.findings] == [each.as_json() for each in result.findings]


@needs_torch
def test_models_and_inputs_made_at_random_are_the_same_in_every_run(project: Project) -> None:
    path = project.write(
        "drawn.py",
        """
        import random
        import torch

        class Model(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.rounds = random.randint(1, 400)

            def forward(self, x):
                for _ in range(self.rounds):
                    x = x + 1
                print("seen")
                return x

        def get_inputs():
            return [torch.rand(3)]
        """,
    )
    costs = [[each.evidence for each in project.verify(path, further=False).findings] for _ in range(2)]
    assert costs[0] == costs[1]
    assert costs[0][0] is not None


@needs_torch
def test_what_dynamo_traced_and_then_left_out_is_not_refuted(project: Project) -> None:
    path = project.write(
        "tries.py",
        """
        import torch

        def scaled(x):
            assert x.isfinite().all()  # HERE
            try:
                y = x.sin()  # HERE
                scale = y.norm().item()  # HERE
            except RuntimeError:
                scale = 1.0
            return x / scale

        def example_inputs():
            return scaled, (torch.ones(3),)
        """,
    )
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["refuted", "unreached", "confirmed"]
    _, left_out, broken = [each.evidence or {} for each in result.findings]
    assert "gave up" in left_out["reason"]
    assert broken["reason"].startswith("Unsupported Tensor.item()")
    assert (broken["skipped_rest"], broken["skipped_frame"]) == (True, False)


@needs_torch
def test_what_comes_after_a_break_in_a_loop_is_judged_too(project: Project) -> None:
    path = project.write(
        "loops.py",
        """
        import torch

        class Model(torch.nn.Module):
            def forward(self, x):
                found = []
                for row in x.unbind(0):
                    if row.sum() > 0:  # HERE
                        row = row + 1
                    found.append(row.mean().item())  # HERE
                    scale = row.shape[0] * 2  # HERE
                    if scale < 0:
                        print(scale)  # HERE
                found.append(scale)
                x = x.max().tolist() * 2  # HERE
                print("unforeseen")
                return found

        def get_inputs():
            return [torch.ones(3, 4)]
        """,
    )
    result = project.verify(path, further=False)
    assert [verdict for _, _, verdict in verdicts(result)] == [
        "confirmed", "confirmed", "unreached", "unreached", "confirmed"
    ]  # fmt: skip
    first, second, *_, last = result.findings
    assert "once the loop" not in first.evidence["reason"]
    for each in (second, last):
        assert each.evidence["reason"].endswith("(once the loop has no break before it)")


@needs_torch
def test_inputs_judge_a_library_that_is_only_imported(project: Project) -> None:
    project.write("pkg/__init__.py", "")
    project.write("pkg/tools.py", "def report(x):\n    print('in', x.shape)  # HERE\n    return x\n")
    project.write("pkg/net.py", "from .tools import report\n\ndef net(x):\n    return report(x) + 1\n")
    project.write(
        "calls.py", "import torch\nfrom pkg.net import net\n\ndef make():\n    return net, (torch.ones(2),)\n"
    )
    result = project.verify(str(project.folder / "pkg"), inputs=("calls:make",), further=False)
    assert by_line(result) == {2: ("PTB100", "confirmed")}
    relative = project.verify(str(project.folder / "pkg"), inputs=("calls.py:make",), further=False)
    assert by_line(relative) == {2: ("PTB100", "confirmed")}


@needs_torch
def test_further_inputs_show_recompilations_and_their_repair(project: Project) -> None:
    path = project.write(
        "sizes.py",
        """
        import torch

        def scale(x, factor):
            return x * factor

        fast = torch.compile(scale)

        def example_inputs():
            return [(scale, (torch.ones(n, 4), 2)) for n in (3, 5)]

        def use(rows):
            return fast(rows, 2)
        """,
    )
    result = project.verify(path)
    [unforeseen] = result.findings
    assert unforeseen.code == "PTR900"
    assert "size mismatch at index 0. expected 3, actual 5" in unforeseen.message
    [fix] = unforeseen.fixes
    assert [edit.text for edit in fix.edits] == ["torch._dynamo.mark_dynamic(rows, 0)\n    "]


TRAIN = """
    import torch

    model = torch.nn.Sequential(torch.nn.Linear(4, 4))
    optimizer = torch.optim.SGD(model.parameters(), lr=0.1)  # HERE PTR201

    class Net(torch.nn.Module):
        def forward(self, x):
            print("step")  # HERE
            return model(x).sum()

    net = torch.compile(Net())

    @torch.compile
    def update():
        optimizer.step()

    def double(x):
        return x * 2

    @torch.compile  # HERE PTS309
    def each(x):
        yield x * 2

    if __name__ == "__main__":
        torch.compile(model)  # HERE PTS301
        Net().compile()
        still = torch.nn.Sequential(torch.nn.Linear(2, 2))
        still.compile()  # HERE PTS308
        still(torch.ones(2))
        list(each(torch.ones(2)))
        nothing = Net().compile()  # HERE PTS312
        saved = net.state_dict()  # HERE PTS303
        if isinstance(net, Net):  # HERE PTS304
            net.forward = None
        for step in range(3):
            net(torch.ones(2, 4)).backward()
            update()
            optimizer.param_groups[0]["lr"] *= 0.5
            torch.compile(double)(torch.ones(2))  # HERE PTR205
"""


SPREAD = """
    import torch

    @torch.compile
    def f(x: torch.Tensor, n: torch.Tensor):
        if n.max() > 5:  # HERE
            return x
        scale = torch.linspace(
            0.0, 1.0, steps=4
        ).view(-1, 1)
        x = x + 1
        if x.sum() > 100000:  # HERE
            x = x * scale
        return x

    f(torch.ones(4, 4), torch.tensor([0, 1]))
"""


@needs_torch
def test_a_break_after_a_call_over_several_lines_is_told_at_its_line(project: Project) -> None:
    path = project.write("spread.py", SPREAD)
    result = project.verify(path)
    assert [each.verdict for each in result.findings] == ["confirmed", "confirmed"]


@needs_torch
def test_breaks_at_one_line_of_a_library_are_told_of_every_line_that_led_there(project: Project) -> None:
    text = """
        import torch

        @torch.compile
        def step(first, second):
            first.step()  # HERE
            second.step()  # HERE

        weights = torch.nn.Linear(2, 2), torch.nn.Linear(2, 2)
        weights[0](weights[1](torch.ones(2))).sum().backward()
        step(*(torch.optim.SGD(each.parameters()) for each in weights))
    """
    result = project.verify(project.write("steps.py", text))
    assert [each.verdict for each in result.findings] == ["confirmed", "confirmed"]


@needs_torch
def test_main_is_recorded_and_run_compiled(project: Project) -> None:
    path = project.write("train.py", TRAIN)
    result = project.verify(path)
    assert result.problems == []
    judged = {each.code: each for each in result.findings}
    assert judged["PTB100"].verdict == "confirmed"
    assert judged["PTR201"].verdict == "confirmed"
    assert judged["PTR201"].evidence is not None
    assert "['lr'] == 0.1" in judged["PTR201"].evidence["reason"]
    shown = ("PTS301", "PTS303", "PTS304", "PTS309", "PTS312", "PTR205")
    assert [code for code in shown if judged[code].verdict != "confirmed"] == []
    # Up to 2.13 Dynamo does not start at a forward of torch's own; later it does.
    compiles = (judged["PTS308"].evidence or {})["graphs"] > 0
    assert judged["PTS308"].verdict == ("refuted" if compiles else "confirmed")
    # Compiled three times over, with the same backend each time: Dynamo takes what it has.
    assert not any("double" in each.message for each in result.findings)


@needs_torch
def test_what_a_program_compiles_with_fullgraph_captures_as_much(project: Project) -> None:
    text = """
        import torch

        @torch.compile(fullgraph=True)
        def f(x):
            return x[x > 0] * x.sum().item()

        class Net(torch.nn.Module):
            def forward(self, x):
                return x * x.max().item()

        f(torch.ones(3))
        net = torch.compile(Net(), fullgraph=True)
        net(torch.ones(3))
    """
    result = project.verify(project.write("whole.py", text))
    assert result.problems == []
    assert {one.verdict for one in result.findings} <= {"refuted"}


@needs_torch
def test_run_takes_a_command_line(project: Project) -> None:
    project.write(
        "lib.py", "import torch\n\ndef f(x):\n    if x.sum() > 0:  # HERE\n        x = x + 1\n    return x\n"
    )
    project.write(
        "go.py",
        "import sys, torch, lib\nassert sys.argv == ['go.py', '--steps', '2'], sys.argv\n"
        "g = torch.compile(lib.f)\n[g(torch.ones(2)) for _ in range(int(sys.argv[2]))]\nsys.exit(0)\n",
    )
    result = project.verify("lib.py", run="go.py --steps 2", further=False)
    assert result.problems == []
    assert by_line(result) == {4: ("PTB100", "confirmed")}
    project.write(
        "test_lib.py", "import torch, lib\n\ndef test():\n    torch.compile(lib.f)(torch.ones(2))\n"
    )
    result = project.verify("lib.py", run="-m pytest -q test_lib.py", further=False)
    assert result.problems == []
    assert by_line(result) == {4: ("PTB100", "confirmed")}


@needs_torch
def test_listening_to_a_program_adds_no_break(project: Project) -> None:
    """What a program compiles while it is listened to is traced afterwards as if nobody had listened."""
    path = project.write(
        "train.py",
        """
        import torch

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.layer = torch.nn.Linear(4, 4)

            def forward(self, x):
                y = self.layer(x)
                if y.sum() > 0:  # HERE
                    y = y + 1
                return y * 2

        @torch.compile
        def loss_of(y):
            return torch.where(y > 0, y, -y).sum()

        @torch.compile
        def step(model, x):
            y = model(x)
            print("a")  # HERE
            return loss_of(y)

        if __name__ == "__main__":
            net = torch.compile(Net())
            for _ in range(10):
                step(net, torch.ones(2, 4))
        """,
    )
    result = project.verify(path, further=True)
    assert result.problems == []
    assert verdicts(result) == [(11, "PTB100", "confirmed"), (22, "PTB100", "confirmed")]


@needs_torch
def test_a_part_that_the_code_compiles_itself_is_handed_to_the_chosen_backend(project: Project) -> None:
    path = project.write(
        "parts.py",
        """
        import torch
        import torch._inductor.compile_fx

        def compile_fx(*arguments, **options):
            raise RuntimeError("Inductor was asked")

        torch._inductor.compile_fx.compile_fx = compile_fx
        part = torch.compile(torch.nn.Linear(4, 4), mode="reduce-overhead")

        def step(x):
            y = part(x)
            if y.sum() > 0:  # HERE
                y = y + 1
            return y

        def inputs():
            return step, (torch.ones(2, 4),)
        """,
    )
    judged = project.verify(path, inputs=(f"{path}:inputs",), further=False)
    assert judged.problems == []
    assert verdicts(judged) == [(13, "PTB100", "confirmed")]
    asked = project.verify(path, inputs=(f"{path}:inputs",), further=False, backend="inductor")
    assert "Inductor was asked" in str(asked.problems)


@needs_torch
def test_the_ecosystems_attributes(project: Project) -> None:
    lightning = project.write(
        "lightning.py",
        """
        import torch

        class Lit(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.example_input_array = torch.ones(2, 3)

            def forward(self, x):
                print("a")  # HERE
                return x

        class Config:
            pass

        class Face(torch.nn.Module):
            config_class = Config

            def __init__(self, config):
                super().__init__()

            @property
            def dummy_inputs(self):
                return {"ids": torch.ones(2, 3, dtype=torch.long)}

            def forward(self, ids):
                return ids.tolist()  # HERE
        """,
    )
    base = project.write(
        "base.py",
        """
        import torch

        class Base(torch.nn.Module):  # has no forward of its own
            @property
            def dummy_inputs(self):
                return {"ids": torch.ones(2, 3, dtype=torch.long)}

        class Broken(Base):
            def __init__(self):
                raise RuntimeError("no such file")

            def forward(self, ids):
                return ids

        class Asks(Base):
            @property
            def dummy_inputs(self):
                return {"ids": next(iter(()))}

            def forward(self, ids):
                return ids

        class Real(Base):
            def forward(self, ids):
                return ids.tolist()  # HERE
        """,
    )
    result = project.verify(lightning, base, further=False)
    assert result.problems == []
    assert [each.verdict for each in result.findings if each.code == "PTB100"] == ["confirmed"] * 3
    assert result.notes == [f"{base}: not run: Broken (RuntimeError: no such file); Asks (StopIteration)"]


@needs_torch
def test_made_up_inputs_are_said(project: Project) -> None:
    path = project.write(
        "blocks.py",
        """
        import torch
        from torch import nn

        class Block(nn.Module):
            def __init__(self, dim: int, num_heads: int, dropout: float):
                super().__init__()
                self.norm = nn.LayerNorm(dim)
                self.attention = nn.MultiheadAttention(dim, num_heads, dropout, batch_first=True)

            def forward(self, x, mask):
                if mask.all():  # HERE
                    x = x + 1
                return self.attention(x, x, self.norm(x))[0]

        class Words(nn.Module):
            def __init__(self, vocab_size):
                super().__init__()
                self.embedding = nn.Embedding(vocab_size, 8)

            def forward(self, tokens, scale: float):
                print(scale)  # HERE
                return self.embedding(tokens) * scale

        class Secret(nn.Module):
            def __init__(self, path: str):
                super().__init__()

            def forward(self, x):
                return x.item()  # HERE

        class Other(Secret):
            pass
        """,
    )
    result = project.verify(path, further=False)
    assert result.problems == []
    assert [each.verdict for each in result.findings] == ["confirmed", "confirmed", "unreached"]
    assert result.findings[2].evidence == {
        "reason": "no inputs could be made up for `Secret` (to build it raised TypeError: no value for `path: str`): "
        "give it some, by --inputs MODULE:FUNCTION or by an example_inputs() in the file"
    }
    made, left = result.notes  # one line each, however many classes there are
    assert made == (
        f"{path}: verified with made-up inputs: Block (x float32[2, 8], mask bool[2, 5], dim=8, num_heads=2, "
        "dropout=0.5), Words (tokens int64[2, 5], scale 0.5, vocab_size=16)"
    )
    assert left == (
        f"{path}: no inputs could be made up for Secret, Other (to build it raised TypeError: no value for "
        '`path: str`); run a script that calls them (--run "SCRIPT.py"), give --inputs, or write into the file: '
        "def example_inputs(): return Secret(path), (x,)"
    )
    assert project.verify(path, made_up=False).notes[0].startswith("nothing was run")
    nothing = project.write("nothing.py", "import torch\n\nLIMIT = torch.inf\n")
    assert verify([], [nothing], VerifyOptions()).notes[0].startswith("nothing was run")


@needs_torch
def test_what_the_project_has_dynamo_capture_is_captured(project: Project) -> None:
    """Where the program that says so is not run itself."""
    project.write("lib/__init__.py", "")
    project.write(
        "lib/model.py",
        """
        import torch

        class Net(torch.nn.Module):
            def forward(self, x):
                return x + x.sum().item()  # HERE
        """,
    )
    train = "import torch._dynamo\n\ndef main():\n    torch._dynamo.config.capture_scalar_outputs = True\n"
    project.write("lib/train.py", train)
    result = project.verify(further=False)
    assert [each.verdict for each in result.findings] == ["refuted"]
    assert result.notes[-1].endswith(
        "model.py: run with capture_scalar_outputs turned on, as its project does"
    )


@needs_torch
def test_compile_failures_name_the_layer(project: Project) -> None:
    path = project.write(
        "backend.py",
        """
        import torch
        import torch._dynamo

        @torch._dynamo.register_backend
        def broken(graph, inputs):
            raise RuntimeError("no code for this machine")

        def f(x):
            return x + 1

        def example_inputs():
            return f, (torch.ones(2),)
        """,
    )
    result = project.verify(path, backend="broken", further=False)
    [problem] = [str(each) for each in result.problems]
    assert "f: backend failure when compiling with the layer `broken`, next try TORCH" in problem
    assert "no code for this machine" in problem


@needs_torch
def test_what_differs_in_the_first_layer_is_no_work_for_the_minifier(project: Project) -> None:
    path = project.write(
        "m.py",
        """
        import traceback
        import torch
        from torch.compiler import is_compiling, is_dynamo_compiling as traced

        @torch.library.custom_op("lint::twice", mutates_args=())
        def twice(x: torch.Tensor) -> torch.Tensor:
            return x * 2

        @torch.compiler.assume_constant_result
        def called_by_dynamo():
            return any("symbolic_convert" in frame.filename for frame in traceback.extract_stack())

        class Custom(torch.nn.Module):
            def forward(self, x):
                return twice(x)

        class Asks(torch.nn.Module):
            def forward(self, x):
                return x + 1 if is_compiling() else x

        class AsksDynamo(torch.nn.Module):
            def forward(self, x):
                return x + 1 if traced() else x

        class Differs(torch.nn.Module):
            def forward(self, x):
                return x + called_by_dynamo()

        class Encoder(torch.nn.Module):
            def __init__(self):
                super().__init__()
                layer = torch.nn.TransformerEncoderLayer(2, 2, 2, batch_first=True)
                self.layers = torch.nn.TransformerEncoder(layer, 1)

            def forward(self, x):  # padding: zero in eager mode alone, of a row that is all padding NaN once compiled
                mask = torch.tensor([[False, True], [self.all_of_it, True]])
                return self.layers(x.cumsum(0).expand(2, 2, 2), src_key_padding_mask=mask)

        class Padded(Encoder):
            all_of_it = False

        class Empty(Encoder):
            all_of_it = True

        def example_inputs():
            classes = (Custom, Asks, AsksDynamo, Differs, Padded, Empty)
            return [(cls(), (torch.ones(2),)) for cls in classes]
        """,
    )
    result = project.verify(path, backend="aot_eager", modes=("eval",), further=False)
    problems = [str(each) for each in result.problems]
    for problem, said in zip(
        problems,
        (
            "under `@torch.library.register_fake('lint::twice')` (at m.py:16)",
            "the code asks `torch.compiler.is_compiling()`",
            "the code asks `torch.compiler.is_compiling()`",
            "look for what Dynamo does once where Python does it at each",
            "Empty (eval): accuracy mismatch when compiling with the layer `eager`, what differs is the kernels",
        ),
        strict=True,
    ):
        assert said in problem
        assert "REPRO_AFTER" not in problem
    kinds = [failure.kind for _, failure in result.events.failures]
    assert kinds == ["no fake kernel", *["accuracy mismatch"] * 4]


@needs_torch
def test_where_the_first_way_leads_nowhere_the_next_is_taken_and_said(project: Project) -> None:
    path = project.write(
        "m.py",
        """
        import torch

        class Net(torch.nn.Module):
            example_input_array = torch.ones(1)

            def __init__(self, width):
                super().__init__()

            def forward(self, x):
                return x + x.sum().item()  # HERE

        net = torch.compile(Net(3), backend="eager")
        y = net(torch.ones(7))
        """,
    )
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert result.notes == [
        f"{path}: verified with a run of m.py, not with what the file offers as inputs: it led to no call"
    ]
    assert [job.kind for job in result.events.jobs] == ["run"]


BAD = {
    "no_such_module:f": "importing no_such_module raised ModuleNotFoundError",
    "calls:nothing": "calls has no nothing",
    "missing.py:f": "there is no file missing.py",
    "calls": "is not of the form MODULE:FUNCTION",
    "calls:wrong": "should return (callable, args, kwargs) or a list of them, not int",
    "calls:empty": "returned no call",
    "calls:raises": "ValueError: two (at calls.py:",
}


@needs_torch
def test_bad_inputs_are_one_line_each(project: Project) -> None:
    path = project.write("model.py", "import torch\n\ndef f(x):\n    return x.item()  # HERE\n")
    project.write(
        "calls.py",
        "def wrong():\n    return 3\n\ndef empty():\n    return []\n\n"
        "def raises():\n    raise ValueError('two\\nlines')\n",
    )
    result = project.verify(path, str(project.folder / "calls.py"), inputs=tuple(BAD), jobs=2)
    said = [str(problem) for problem in result.problems]
    assert len(said) == len(BAD)
    for line, words in zip(said, BAD.values(), strict=True):
        assert words in line
        assert "\n" not in line
    assert [each.verdict for each in result.findings] == ["failed"]


@needs_torch
def test_settings_that_cannot_be_are_one_line_each(project: Project) -> None:
    path = project.write("model.py", "import torch\n\ndef f(x: torch.Tensor):\n    return x.item()  # HERE\n")
    for options, words in [
        ({"backend": "nosuch"}, "--backend nosuch: torch has none of this name, but "),
        ({"device": "nosuch"}, "--device nosuch: torch cannot use it here ("),
        ({"memory": 60}, "--memory of 60 MiB is too little to load torch"),
    ]:
        result = project.verify(path, **options)
        assert len(result.problems) == 1
        assert words in str(result.problems[0])
        assert [each.verdict for each in result.findings] == ["failed"]


def test_an_interpreter_without_torch(project: Project, tmp_path: Path) -> None:
    empty = tmp_path / "environment"
    subprocess.run([sys.executable, "-m", "venv", "--without-pip", str(empty)], check=True)
    python, trouble = find_python(str(empty / "bin" / "python"))
    assert python is None
    assert "no torch" in trouble
    path = project.write("model.py", "import torch\n\ndef f(x):\n    return x.item()  # HERE\n")
    result = project.verify(path, python="/no/such/python")
    assert [str(problem) for problem in result.problems] == [
        "--python /no/such/python: this interpreter has no torch, or cannot be run"
    ]
    assert [each.verdict for each in result.findings] == ["failed"]


def test_options_from_a_table() -> None:
    table = {"targets": ["a:b"], "timeout": 5, "made-up": False}
    assert options_from(table, inputs=["c:d"], run=None) == VerifyOptions(
        targets=("a:b",), inputs=("c:d",), timeout=5, made_up=False
    )
    for wrong, words in [
        ({"no": 1}, "has no key `no`"),
        ({"timeout": "5"}, "`timeout` should be a number"),
        ({"timeout": True}, "`timeout` should be a number"),
        ({"targets": "a:b"}, "`targets` should be a list of strings"),
        ({"targets": [1]}, "list of strings"),
        ({"timeout": -1}, "should be positive"),
        ({"modes": ["test"]}, "`train`, `eval`"),
    ]:
        with pytest.raises(ValueError, match=words):
            options_from(wrong)


JOB = """
    import torch
    import torch.distributed

    class Net(torch.nn.Module):
        def forward(self, x):
            x = x.relu()  # HERE
            if x.sum() > 0:  # HERE
                x = x + 1
            return x

    def only_rank_0(x):
        print("here")  # HERE
        return x + 1

    def never(x):
        return x.item()  # HERE

    if __name__ == "__main__":
        torch.distributed.init_process_group("gloo")
        net = torch.compile(Net(), backend="eager")
        for rows in (2, 3):
            net(torch.ones(rows, 4))
        if torch.distributed.get_rank() == 0:
            torch.compile(only_rank_0, backend="eager")(torch.ones(2))
        torch.distributed.destroy_process_group()
"""


@needs_torch
def test_traces_of_a_torchrun_job(project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    there = tmp_path / "cluster" / "src"
    (tmp_path / "here").mkdir()
    project.folder = tmp_path / "here"
    path = project.write("job.py", JOB)
    there.mkdir(parents=True)
    (there / "job.py").write_bytes(Path(path).read_bytes())
    monkeypatch.setenv("TORCH_TRACE", str(tmp_path / "logs"))
    torchrun = Path(sysconfig.get_path("scripts")) / "torchrun"
    command = [
        str(torchrun),
        "--nproc-per-node",
        "2",
        "--master-port",
        "0",
        "--standalone",
        str(there / "job.py"),
    ]
    subprocess.run(command, check=True, capture_output=True, timeout=200)

    for root in (str(tmp_path / "here"), f"{there}={tmp_path / 'here'}"):
        result = read_traces(str(tmp_path / "logs"), project.findings, [path], source_root=root)
        assert result.problems == []
        assert result.notes == ["read 2 logs of ranks 0, 1"]
        relu, branch, only, never = [each for each in result.findings if each.code == "PTB100"]
        assert [each.verdict for each in (relu, branch, only, never)] == [
            "refuted",
            "confirmed",
            "confirmed",
            "unreached",
        ]
        assert branch.evidence is not None
        assert only.evidence is not None
        assert (branch.evidence["ranks"], only.evidence["ranks"]) == ([0, 1], [0])
        assert branch.evidence["graph_break"] == "GB0170"
        assert ["size mismatch" in each.message for each in result.findings if each.code == "PTR900"] == [
            True
        ]

    lost = read_traces(str(tmp_path / "logs"), project.findings, [path])
    assert "give --source-root" in lost.notes[-1]


def test_bad_traces(tmp_path: Path) -> None:
    nothing = read_traces(str(tmp_path), [], [])
    assert [str(each) for each in nothing.problems] == [
        f"{tmp_path}: no TORCH_TRACE logs here: run the job with TORCH_TRACE=FOLDER set"
    ]
    log = tmp_path / "a.log"
    log.write_bytes(b"\xff\xfe not a log\n")
    assert "this is no TORCH_TRACE log" in str(read_traces(str(tmp_path), [], []).problems[0])
    log.write_text(
        'V1121 03:55:37.952000 7266 torch/x.py:1] {"artifact": {"name": "recompile_reasons"\n\tcut'
    )
    assert "this is no TORCH_TRACE log" in str(read_traces(str(tmp_path), [], []).problems[0])


@needs_torch
def test_a_script_that_calls_nothing_falls_back_on_made_up_inputs(project: Project) -> None:
    path = project.write(
        "library.py",
        """
        import warnings
        import torch

        warnings.filterwarnings("ignore")

        def positive(x: torch.Tensor):
            if x.sum() > 0:  # HERE
                x = x + 1
            return x

        if __name__ == "__main__":
            raise SystemExit("usage: library.py FILE")
        """,
    )
    result = project.verify(path, further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert ["usage: library.py FILE" in str(each) for each in result.problems] == [True]
    assert "verified with made-up inputs, not with a run of library.py" in result.notes[0]
    assert 'if it wants arguments, give them: --run "library.py ARGUMENTS"' in result.notes[0]
    assert len(result.notes) == 2  # the other one says what was made up


@needs_torch
def test_a_demo_with_many_rows_is_run_with_a_few(project: Project) -> None:
    path = project.write(
        "demo.py",
        """
        import time
        import torch

        class Net(torch.nn.Module):
            def forward(self, x):
                end = time.process_time() + (3 if len(x) == 50 else 0)
                while not torch.compiler.is_compiling() and time.process_time() < end:
                    pass
                return x + x.sum().item()  # HERE

        if __name__ == "__main__":
            Net()(torch.ones(50, 3))
        """,
    )
    result = project.verify(path, further=False)
    assert "`Net` is run with 2 of its 50 rows, as a call takes long" in result.notes
    assert {each.verdict for each in result.findings} == {"confirmed"}


@needs_torch
def test_a_script_that_wants_arguments_says_which(project: Project) -> None:
    """One line for both runs of it, what argparse said, and no word of inputs that were not found."""
    path = project.write(
        "train.py",
        """
        import argparse
        import torch

        class Net(torch.nn.Module):
            def __init__(self, config):
                super().__init__()
                self.width = config.widths["first"]

            def forward(self, x):
                return x + x.sum().item()  # HERE

        if __name__ == "__main__":
            parser = argparse.ArgumentParser()
            parser.add_argument("--data", required=True)
            parser.parse_args()
            torch.compile(Net(None))
        """,
    )
    result = project.verify(path, further=False)
    wants = "it called sys.exit(2): the following arguments are required: --data"
    [problem] = result.problems
    assert problem.message == f"recording train.py: {wants} (at train.py:16)"
    assert result.notes[0] == (
        f"{path}: not verified with a run of train.py, nor with made-up inputs; "
        'give it the arguments: --run "train.py ARGUMENTS"'
    )
    assert [each.verdict for each in result.findings] == ["failed"]


SCRIPT = """
    import sys
    import torch
    {start}

    @torch.compile
    def f(x):
        return x + x.sum().item()  # HERE

    f(torch.ones(3))
    """


@needs_torch
@pytest.mark.parametrize(
    ("start", "said", "advice"),
    [
        (
            "data = open('data/train.pkl')",
            "FileNotFoundError: [Errno 2] No such file or directory: 'data/train.pkl'",
            "run pt2lint in the folder where the program runs, or give inputs: --inputs MODULE:FUNCTION",
        ),
        (
            "line = input('> ')",
            "EOFError: EOF when reading a line",
            "standard input is empty here: give inputs: --inputs MODULE:FUNCTION",
        ),
        (
            "import not_there_at_all; names = [*not_there_at_all.names]",  # it cannot be left out
            "ModuleNotFoundError: No module named 'not_there_at_all'",
            "install it, or name the interpreter that has it: --python PATH",
        ),
        (
            "path = sys.argv[1]",
            "IndexError: list index out of range, in sys.argv",
            'give it the arguments: --run "train.py ARGUMENTS"',
        ),
    ],
)
def test_what_keeps_a_script_from_running_is_told_once_with_what_to_do(
    project: Project, start: str, said: str, advice: str
) -> None:
    path = project.write("train.py", SCRIPT.format(start=start))
    result = project.verify(path, further=False)
    assert [each.message for each in result.problems] == [f"recording train.py: {said} (at train.py:4)"]
    assert result.notes == [f"{path}: not verified with a run of train.py, nor with made-up inputs; {advice}"]
    assert [each.verdict for each in result.findings] == ["failed"]


@needs_torch
def test_a_recompilation_for_what_a_break_left_says_so(project: Project) -> None:
    path = project.write(
        "m.py",
        """
        import torch

        @torch.compile
        def f(x):
            for n in range(int(x.abs().max().item()) + 1):
                x = x + n
            return x

        for n in (1.5, 2.5, 3.5):
            f(torch.full((2, 2), n))
        """,
    )
    result = project.verify(path)
    told = [each.message for each in result.findings if each.code == "PTR900"]
    assert told
    assert all(
        message.endswith("is what a graph break left for the code behind it: mend that first")
        for message in told
        if "___stack" in message
    )
    assert any("___stack" in message for message in told)


@needs_torch
def test_our_own_arguments_are_none_of_a_module_that_is_imported(project: Project) -> None:
    project.write(
        "net.py",
        """
        import argparse
        import torch

        args = argparse.ArgumentParser().parse_args()

        def positive(x: torch.Tensor):
            if x.sum() > 0:  # HERE
                x = x + 1
            return x
        """,
    )
    result = project.verify(further=False)
    assert [each.verdict for each in result.findings] == ["confirmed"]
    assert result.problems == []


@needs_torch
@pytest.mark.parametrize("name", ["train.py", "__main__.py"])
@pytest.mark.parametrize("package", ["..", "pkg."])
def test_a_module_that_imports_from_its_package_is_run_as_one(
    project: Project, name: str, package: str
) -> None:
    """What `python -m` does; the package need not lie in the working folder."""
    project.write("src/pkg/__init__.py", "")
    project.write("src/pkg/sub/__init__.py", "")
    project.write("src/pkg/model.py", "import torch\n\ndef f(x):\n    return x + x.sum().item()  # HERE\n")
    project.write(
        f"src/pkg/sub/{name}",
        f"""
        import torch
        from {package}model import f

        if __name__ == "__main__":
            g = torch.compile(f)
            g(torch.ones(3))
        """,
    )
    result = project.verify("src", further=False)
    assert (result.problems, [note for note in result.notes if "made-up inputs: f (" not in note]) == ([], [])
    assert [each.verdict for each in result.findings] == ["confirmed"]


@needs_torch
def test_a_distributed_program_s_calls_are_made_again_once_it_has_left_its_group(project: Project) -> None:
    path = project.write(
        "train.py",
        """
        import torch
        import torch.distributed as dist
        from torch.nn.parallel import DistributedDataParallel as DDP

        class Net(torch.nn.Module):
            def __init__(self):
                super().__init__()
                self.fc = torch.nn.Linear(2, 2)

            def forward(self, x):
                total = self.fc(x).sum()
                dist.all_reduce(total.detach())
                return self.fc(x) + total.item()  # HERE

        def main(port):
            store = dist.TCPStore("127.0.0.1", port, 1, True)
            dist.init_process_group("gloo", store=store, rank=0, world_size=1)
            net = torch.compile(DDP(Net()))
            for _ in range(2):
                net(torch.randn(4, 2)).sum().backward()
            dist.destroy_process_group()

        if __name__ == "__main__":
            main(0)
            main(0)
        """,
    )
    result = project.verify(path, further=False)
    assert result.problems == []
    assert ("PTB100", "confirmed") in [(each.code, each.verdict) for each in result.findings]


@needs_torch
def test_runs_that_the_conditions_of_findings_ask_for(project: Project) -> None:
    """A module in float16, in the mode that was left out, and nothing for what no dtype or mode decides."""
    path = project.write(
        "model.py",
        """
        import torch
        from torch import nn

        class Model(nn.Module):
            def __init__(self):
                super().__init__()
                self.linear = nn.Linear(4, 4)
                self.flag = False

            def look(self, x):
                return x * x.tolist()[0]  # HERE

            def forward(self, x, scale):
                x = self.linear(x)
                if x.dtype == torch.float16:
                    if torch.isinf(x).any():  # HERE
                        x = x.clamp(-1, 1)
                if x.dtype == torch.bfloat16:
                    x = x + torch.ones(2, 4); print("never")  # HERE
                if self.training:
                    print("training")  # HERE
                if self.flag:
                    print("flag")  # HERE
                if scale.dtype == torch.float64 and self.flag:
                    x = self.look(x)
                return x * scale

        def get_inputs():
            return [torch.ones(3, 4), torch.ones(3, 4)]
        """,
    )
    conditions = [
        ("scale.dtype == torch.float64", "self.flag"),
        ("x.dtype == torch.float16",),
        ("x.dtype == torch.bfloat16", "self.training"),
        ("self.training",),
        ("self.flag",),
    ]
    project.findings = [
        replace(each, when=when) for each, when in zip(project.findings, conditions, strict=True)
    ]
    said: list[str] = []
    result = verify(project.findings, [path], VerifyOptions(modes=("eval",), further=False), said.append)
    assert result.problems == []
    shown = {each.when: (each.verdict, (each.evidence or {})) for each in result.findings}
    assert len(shown) == len(result.findings) == 5

    verdict, evidence = shown[conditions[1]]
    assert (verdict, evidence["in"]) == ("confirmed", "in float16")
    assert evidence["targets"] == ["Model (eval in float16)"]
    assert evidence["reason"].endswith("(in float16)")
    verdict, evidence = shown[conditions[2]]
    assert verdict == "unreached"
    assert "the code does not run in bfloat16: RuntimeError" in evidence["reason"]
    verdict, evidence = shown[conditions[3]]
    assert (verdict, evidence["in"], evidence["targets"]) == ("confirmed", "in train mode", ["Model (train)"])
    verdict, evidence = shown[conditions[4]]
    assert verdict == "unreached"
    assert evidence["reason"] == "no run came here; it happens only where `self.flag`"
    verdict, evidence = shown[conditions[0]]
    assert verdict == "unreached"
    assert evidence["reason"].endswith("`self.flag` (in float64)")
    assert not [line for line in said if "autocast" in line]


@needs_torch
def test_under_autocast_what_asks_for_that_of_a_gpu_is_met(project: Project) -> None:
    path = project.write(
        "model.py",
        """
        import torch

        def scaled(x):
            if torch.is_autocast_enabled():
                return x / x.abs().max().item()  # HERE
            return x

        def example_inputs():
            return scaled, (torch.ones(3),)
        """,
    )
    condition = ("torch.is_autocast_enabled()",)
    project.findings = [replace(each, when=condition) for each in project.findings]
    (found,) = project.verify(path, further=False).findings
    assert (found.verdict, (found.evidence or {}).get("in")) == ("confirmed", "under autocast")


ENDLESS = """
    import torch
    from torch import nn

    class Net(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(4, 4)

        def forward(self, x):
            if x.sum() > 0:  # HERE
                x = x + 1
            return self.linear(x).sum()

    def loss(x):
        return x.item()  # HERE

    if __name__ == "__main__":
        torch.compile(loss)  # HERE PTS301
        for _ in range(1):
            torch.compile(loss)(torch.ones(()))  # HERE PTR205
        net = Net()
        optimizer = torch.optim.SGD(net.parameters(), lr=1e-9)
        step = 0
        import time
        try:
            while True:
                net(torch.ones(2 + (step == 5), 4)).backward()
                optimizer.step()
                step += 1
                time.sleep(0.01)  # the tests beside this one want the processor
        finally:
            open("saved", "a").write("1")
"""


@needs_torch
def test_a_script_that_trains_without_end_is_ended_once_it_shows_nothing_new(
    project: Project, log_records: list[logging.LogRecord]
) -> None:
    path = project.write("adder.py", ENDLESS)
    started = time.monotonic()
    result = project.verify(path, timeout=50, further=False)
    assert time.monotonic() - started < 150
    assert result.problems == []
    judged = by_line(result)
    assert (judged[11], judged[16]) == (("PTB100", "confirmed"), ("PTB100", "confirmed"))
    # What takes the end of a program to know is not said of one that did not come to it.
    assert (judged[19], judged[21]) == (("PTS301", "unreached"), ("PTR205", "unreached"))
    recorded, compiled = result.notes
    assert re.fullmatch(
        r"`adder.py` was stopped after \d+ calls of 2 functions, as nothing new came of it for 5 s: "
        r"--timeout, now 50 s, says how long it may run",
        recorded,
    )
    assert compiled.startswith("`adder.py`, run compiled, was stopped")
    assert Path("saved").read_text() == "11"  # its own way to end was left to it
    # Where nobody looks at the progress, it is said on standard error that this takes time.
    assert [record.getMessage().partition(":")[0] for record in log_records] == [
        "recording adder.py",
        "running adder.py compiled",
    ]
