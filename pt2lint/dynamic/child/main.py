"""Start of the child: read the specification, set the limits, do the job, say how it ended."""

import faulthandler
import importlib.util
import json
import os
import sys


def load_siblings():
    """Import this folder as a package of a name that no user's module has, and take it off sys.path."""
    folder = os.path.dirname(os.path.abspath(__file__))
    sys.path[:] = [entry for entry in sys.path if os.path.abspath(entry or os.getcwd()) != folder]
    spec = importlib.util.spec_from_file_location(
        "_pt2lint_child", os.path.join(folder, "__init__.py"), submodule_search_locations=[folder]
    )
    package = importlib.util.module_from_spec(spec)
    sys.modules["_pt2lint_child"] = package
    spec.loader.exec_module(package)


def limit_memory(limit):
    """Cap what the process may allocate, in bytes; the parent watches the whole family besides."""
    import resource

    try:
        _, hard = resource.getrlimit(resource.RLIMIT_DATA)
        if hard != resource.RLIM_INFINITY:
            limit = min(limit, hard)
        resource.setrlimit(resource.RLIMIT_DATA, (limit, hard))
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    except (ValueError, OSError):
        pass  # not on this system: the parent's watch remains


def main():
    with open(sys.argv[1], encoding="utf-8") as file:
        spec = json.load(file)
    load_siblings()
    from _pt2lint_child.wire import Wire

    wire = Wire(int(sys.argv[2]))
    faulthandler.enable()
    if spec["memory"] and spec["device"] in (None, "cpu"):
        limit_memory(spec["memory"])
    sys.path.insert(0, os.getcwd())
    try:
        import torch
    except BaseException as error:
        wire.send("no_torch", message=f"{type(error).__name__}: {error}")
        wire.finish()
    wire.send("hello", torch=torch.__version__, python=sys.version.split()[0])
    from _pt2lint_child.jobs import do

    do(spec, wire)
    wire.send("done")
    # The verified code may have left threads and exit handlers that never end.
    wire.finish()


if __name__ == "__main__":
    main()
