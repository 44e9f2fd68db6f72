"""Which files are read, with which settings, and what in them is silenced."""
