"""The dynamic pass: run the user's code under Dynamo in a child process, and judge findings by what it did.

Nothing here imports torch; only the child does.
"""

from pt2lint.dynamic.options import VerifyOptions, options_from
from pt2lint.dynamic.run import VerifyResult, verify

__all__ = ["VerifyOptions", "VerifyResult", "options_from", "verify"]
