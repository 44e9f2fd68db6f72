"""`python -m pt2lint`."""

import os
import sys

# Modules are sought first in the folder that it is called in, and there lies what is to be read, not run: a `copy.py`.
try:
    here = os.getcwd()
except OSError:  # it is gone
    here = ""
if sys.path[:1] == [here] and not getattr(sys.flags, "safe_path", sys.flags.isolated):
    del sys.path[0]

from pt2lint.cli import main

sys.exit(main())
