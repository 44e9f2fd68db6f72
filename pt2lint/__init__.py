"""pt2lint: finds what costs torch.compile its speed."""

__version__ = "0.1.0"
