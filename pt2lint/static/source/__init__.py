"""The text of the project, as trees: parsing, names, modules across files, outlines. Nothing is imported or run."""
