"""Running cases so that none sees what another has changed. Needs torch and the standard library alone."""

import contextlib
import importlib.util
import json
import logging
import os
import random
import re
import signal
import sys
import warnings

import torch
import torch._dynamo

from matrix.table import FOLDER

SECONDS = 60  # for one run of a case


def load_family(table, family):
    """Import a file of cases as a module of its own."""
    spec = importlib.util.spec_from_file_location(f"matrix_{table}_{family}", FOLDER / table / f"{family}.py")
    module = importlib.util.module_from_spec(spec)
    sys.modules[spec.name] = module
    spec.loader.exec_module(module)
    return module


def untimed():
    """Make this process compile in one thread, and neither time guards nor keep a record of each compilation."""
    torch.set_num_threads(1)
    # Since 2.7 Dynamo times each set of guards, which takes longer than all else it does with a small function; and it
    # copies all settings for its record of each compilation.
    torch._dynamo.guards.profile_guard_manager = lambda *args: 0.0
    torch._dynamo.utils.record_compilation_metrics = lambda *args: None


def prepared(level=logging.ERROR):
    """Make this process measure: untimed, of torch's log what is an error."""
    untimed()
    logging.getLogger("torch").setLevel(level)


def seed():
    torch.manual_seed(0)
    random.seed(0)
    if "numpy" in sys.modules:
        sys.modules["numpy"].random.seed(0)


@contextlib.contextmanager
def contained():
    """Silence, seeds, a time limit, and afterwards the process as it was."""
    out, err, environ, loaded = sys.stdout, sys.stderr, dict(os.environ), set(sys.modules)
    grad, dtype = torch.is_grad_enabled(), torch.get_default_dtype()
    signal.signal(signal.SIGALRM, expire)
    signal.alarm(SECONDS)
    seed()
    with open(os.devnull, "w", encoding="utf-8") as nowhere, warnings.catch_warnings():
        warnings.simplefilter("ignore")
        sys.stdout = sys.stderr = nowhere
        try:
            yield
        finally:
            signal.alarm(0)
            sys.stdout, sys.stderr = out, err
            torch.set_grad_enabled(grad)
            torch.set_default_dtype(dtype)
            os.environ.clear()
            os.environ.update(environ)
            for name in set(sys.modules) - loaded:
                if name.startswith("this_is_loaded_late"):
                    del sys.modules[name]


def isolated(measure, *arguments):
    """What `measure(*arguments)` returns, found in a process of its own: some cases leave Dynamo unfit to go on."""
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        with open(writing, "w", encoding="utf-8") as pipe:
            json.dump(measure(*arguments), pipe)
        os._exit(0)
    os.close(writing)
    with open(reading, encoding="utf-8") as pipe:
        text = pipe.read()
    _, status = os.waitpid(child, 0)
    return json.loads(text) if text else {"absent": f"the process ended with status {status}"}


def expire(number, frame):
    raise TimeoutError(f"took more than {SECONDS} s")


def said(error):
    """An exception in one line."""
    text = str(error).strip()
    return shortened(f"{type(error).__name__}: {text.splitlines()[0]}" if text else type(error).__name__)


def shortened(text, length=120):
    """A message without what differs between machines and runs."""
    text = re.sub(r" at 0x[0-9a-f]+|(?<=, )\d{9,}(?=[,)])", "", text.replace(str(FOLDER.parent) + os.sep, ""))
    text = re.sub(r"/[^\s:,']*/(?:site-packages|lib/python3\.\d+)/", "", text)
    text = text.replace("recursion depth exceeded in comparison", "recursion depth exceeded")
    return text if len(text) <= length else text[: length - 3] + "..."


class CountGraphs:
    """The eager backend, counting the graphs it is given."""

    def __init__(self):
        self.graphs = 0

    def __call__(self, graph, inputs, **options):
        self.graphs += 1
        return graph.forward
