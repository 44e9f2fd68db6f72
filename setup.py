"""Compiles the interpreter, where PT2LINT_COMPILE=1 asks for it (`make compiled`): the same modules, in
two thirds to four fifths of the time. Without it the wheel is pure Python; pyproject.toml says all else of it.
"""

import os
from glob import glob

from setuptools import setup

# What runs for each expression of each function that is read. Rules, repairs and all that is read or written once a
# file gain nothing; what of these packages is left out is written in ways that mypyc does not take.
COMPILED = (
    "pt2lint/libraries/builtins.py",
    "pt2lint/libraries/call.py",
    "pt2lint/libraries/model.py",
    "pt2lint/libraries/torch_table.py",
    "pt2lint/libraries/words.py",
    "pt2lint/static/apply_rules.py",
    "pt2lint/static/interpreter/*.py",
    "pt2lint/static/observers/*.py",
    "pt2lint/static/source/bodies.py",
    "pt2lint/static/source/named.py",
    "pt2lint/static/source/nodes.py",
    "pt2lint/static/values/__init__.py",
)

if os.environ.get("PT2LINT_COMPILE") == "1":
    from mypyc.build import mypycify

    paths = [path for pattern in COMPILED for path in sorted(glob(pattern))]
    options = ["--config-file", "pyproject.toml"]
    # A minute; in one file and with all optimizations it takes three, and runs no faster.
    build = {"opt_level": "1", "debug_level": "0", "multi_file": True, "group_name": "pt2lint"}
    setup(ext_modules=mypycify([*options, *paths], **build))
else:
    setup()
