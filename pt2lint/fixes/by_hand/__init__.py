"""What to write instead where no repair can write it: told where nothing better than a workaround is found.

Each says what it assumes, and stays in the graph as a repair does; what it takes (another argument, an operator's fake)
lies in code that the function does not show. A rule names one as its `advice`: "numbers.passed_in".
"""

from __future__ import annotations

from pt2lint.finding import Fix


def operator(name: str) -> Fix:
    """A function of an extension, registered as an operator."""
    registered = "::".join(name.split(".")[-2:])
    return told(
        f'Register it: `@torch.library.custom_op("{registered}", mutates_args=...)`, which names what it writes to, on '
        "a function with annotated arguments that calls it, `register_fake` for the shapes of what it returns, and "
        "`register_autograd` where gradients go through; the graph calls that one"
    )


def filled_before() -> Fix:
    """A cache that is filled while tracing."""
    return told(
        "Fill it before the compiled code runs, in `__init__` or where the model is loaded; or compute it at each "
        "call, which the compiler fuses"
    )


def counted_in_buffer(name: str) -> Fix:
    """A whole number of a module that counts."""
    return told(
        f'Count in a tensor: `self.register_buffer("{name}", torch.tensor(0), persistent=False)` in `__init__`, '
        f"`self.{name}.add_(n)` for `self.{name} += n`, and what reads it takes a tensor"
    )


def counted_outside(name: str) -> Fix:
    """A whole number that decides what runs."""
    return told(
        f"Count where the compiled code is called, and decide there too, or compile the parts between: a branch that "
        f"`{name}` decides is one by values once it is a tensor"
    )


def counted_in_tensor(name: str) -> Fix:
    """A whole number of an object that is a hook."""
    return told(
        f"Count in a tensor: `self.{name} = torch.tensor(0)` in `__init__`, `self.{name}.add_(n)` for "
        f"`self.{name} += n`, and what reads it takes a tensor"
    )


def fake(operator: str) -> Fix:
    """An operator that is kept out of the graph since it has no fake."""
    return told(
        f"Register a fake: `torch.library.register_fake` on a function that makes an empty tensor of the shape and "
        f"dtype that `{operator}` returns; this call then goes"
    )


def told(description: str) -> Fix:
    """What is left to the user, in an imperative, without the full stop."""
    return Fix(f"{description}.", "unsafe", (), by_hand=True)
