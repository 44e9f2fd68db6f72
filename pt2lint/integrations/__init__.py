"""pt2lint inside other programs: editors, pytest, shells."""
