"""Reading trees gives what LibCST's own, slower, ways give."""

from __future__ import annotations

import threading

import libcst as cst
from libcst.metadata import MetadataWrapper, ParentNodeProvider, PositionProvider

from pt2lint.rule import tree

SOURCE = '''
import a.b as c, d
from . import (e, f as g)
@first
@second(1, key=2)
async def function(p, /, q: int = 3, *rest, r=4, **more) -> int:
    """Text."""
    async with h(x=1) as i, j:
        async for k in l: pass
        else: pass
    for m, *n in o: yield await p
    y = [u async for v in w if v if u for u in v]
    z = {**a, b: c}, {d, e}, (f for f in g), {h: i for h in j}
    return (lambda k, *l: m)(n) if o else not p < q <= r or s and -t @ u[1:2:3, ...]
class Name(Base, metaclass=Meta):
    a: int = 1; b += 2
    if (c := d): raise E from F
    elif g: assert h, i
    else: del j
    while k: break
    else: continue
    try: global l
    except (M, N) as o: nonlocal q
    except: pass
    else: pass
    finally: print(f"{r!r:>{s}}" "t", *u, **v)
match w:
    case [1, *x] | {"k": y, **z} | A(b, c=d) if e: pass
    case None as f: pass
'''


def nodes(root: cst.CSTNode) -> list[cst.CSTNode]:
    return [root, *(below for child in root.children for below in nodes(child))]


def counts(node: cst.CSTNode) -> bool:
    return not isinstance(
        node,
        cst.BaseParenthesizableWhitespace
        | cst.TrailingWhitespace
        | cst.EmptyLine
        | cst.Newline
        | cst.Comment
        | cst.Comma
        | cst.Semicolon
        | cst.Colon
        | cst.Dot
        | cst.AssignEqual
        | cst.BitOr
        | cst.LeftParen
        | cst.RightParen
        | cst.LeftSquareBracket
        | cst.RightSquareBracket
        | cst.LeftCurlyBrace
        | cst.RightCurlyBrace,
    )


def test_children_are_those_of_libcst_in_its_order() -> None:
    root = cst.parse_module(SOURCE)
    kinds = set()
    for node in filter(counts, nodes(root)):
        kinds.add(type(node))
        assert [id(n) for n in tree.children(node)] == [id(n) for n in node.children if counts(n)], node
    assert len(kinds) >= 100


def test_parents_are_those_of_libcst() -> None:
    wrapper = MetadataWrapper(cst.parse_module(SOURCE), unsafe_skip_copy=True)
    known = wrapper.resolve(ParentNodeProvider)
    for node, parent in tree.parents(wrapper.module).items():
        assert known[node] is parent


def test_positions_are_those_of_libcst() -> None:
    wrapper = MetadataWrapper(cst.parse_module(SOURCE), unsafe_skip_copy=True)
    known = {
        node: (place.start.line, place.start.column, place.end.line, place.end.column)
        for node, place in wrapper.resolve(PositionProvider).items()
        if not isinstance(node, cst.SimpleWhitespace)
    }
    assert tree.positions(wrapper.module) == known


def test_threads_have_an_effort_each() -> None:
    """One that ends while another one is at work gives back its own, not the other's."""
    started, ended = threading.Event(), threading.Event()

    def other() -> None:
        with tree.effort(1):
            started.set()
            ended.wait(10)

    thread = threading.Thread(target=other)
    with tree.effort(2):
        thread.start()
        assert started.wait(10)
    ended.set()
    thread.join()
    tree.spend(1000)  # no effort is asked for here: nothing is too much
