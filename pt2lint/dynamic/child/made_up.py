"""Way 5: make inputs up from annotations, defaults and layer sizes. Replaced below."""


def targets(what, spec):
    return []
