"""What a subscripted type in an annotation says: Optional[...], list[...], Float[...] and the like."""

from __future__ import annotations

# What a subscripted type stands for, by its last word, whoever defines it ("Sequence" of typing or of collections).
CONTAINERS = {
    **dict.fromkeys(("List", "list", "Sequence", "Iterable", "Set", "Iterator"), "list"),
    "set": "set",
    **dict.fromkeys(("Tuple", "tuple"), "tuple"),
    **dict.fromkeys(("Dict", "dict", "Mapping"), "dict"),
}
FORMS = {
    "Optional": "optional",
    "Union": "either",
    **dict.fromkeys(("Annotated", "Final", "ClassVar", "Required", "NotRequired"), "first"),
}
DTYPES = {"Bool": "bool", "Int": "int", "Float": "float"}


def form(name: str) -> tuple[str, str | None]:
    """What `NAME[...]` says: "optional", "either", "first" (what its first part says), "tensor" (so, of the dtype
    that comes with it), a kind of container, or ""."""
    last = name.rsplit(".", 1)[-1]
    if name.startswith("typing") and last in FORMS:  # typing_extensions too
        return FORMS[last], None
    if name.startswith("jaxtyping."):
        return "tensor", DTYPES.get(last)
    return CONTAINERS.get(last, ""), None
