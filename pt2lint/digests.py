"""The names of contents, as far as chance goes."""

from __future__ import annotations

try:
    from _blake2 import blake2b  # hashlib loads OpenSSL first, which takes a tenth of a warm run
except ImportError:
    from hashlib import blake2b

__all__ = ["blake2b", "digest_of"]


def digest_of(data: bytes) -> str:
    """The name of a file's content."""
    return blake2b(data, digest_size=16).hexdigest()
