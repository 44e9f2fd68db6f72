"""`python -m pt2lint`."""

import sys

from pt2lint.cli import main

sys.exit(main())
