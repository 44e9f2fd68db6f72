#!/usr/bin/env python3
"""Search for what fixes lose: layout is put into code that has fixes, and each fix is applied.

    fix_loss.py [--seeds N] [--first SEED] [--paths FOLDER...] [--show]

The code is that of the rules' pages and cases and, with --paths, of the files under the folders. For each seed
blank lines, comments, decorators, form feeds, line continuations, semicolons, one-line suites and nested functions are
put into every place, tabs for spaces and CRLF for LF. Each fix that a finding then has is applied alone, and
all of a file together. What counts is judged without the code that fixes: each comment that was put in is still there
as often as before, each line that is not in the finding's function stands as it did, and the text compiles.

Prints a line for each loss, and at the end how many files, fixes and losses there were, and what the check before every
write refused, by reason. Exit status 1 if anything was lost, or a fix raised.
"""

import argparse
import ast
import io
import itertools
import random
import re
import sys
import tokenize
import warnings
from collections import Counter
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from pt2lint.fixes.edit import EditError, apply_edits, checked  # noqa: E402
from pt2lint.static.engine import lint  # noqa: E402

warnings.simplefilter("ignore")


def seeds_of_rules():
    """(name, source) of every example and case in the rules."""
    from tests.rules.cases import cases

    for case in cases():
        if case.kind in ("example", "invalid"):
            yield case.id, case.source


def compiles(text):
    try:
        compile(text, "m.py", "exec", dont_inherit=True)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return False
    return True


def tokens(text):
    return list(tokenize.generate_tokens(io.StringIO(text).readline))


def comments(text):
    return Counter(token.string for token in tokens(text) if token.type == tokenize.COMMENT)


def mutated(source, rng):
    """The source with layout in random places; each change is kept only if the text still compiles to the same."""
    wanted = shape(source)
    text = source
    changes = [
        at_ends,
        own_lines,
        blank_lines,
        in_brackets,
        held,
        continued,
        form_feeds,
        decorated,
        joined,
        one_line,
        after_it,
    ]
    for change in rng.sample(changes, rng.randint(1, 5)):
        new = change(text, rng)
        if compiles(new) and (change in (decorated, joined) or shape(new) == wanted):
            text, wanted = new, shape(new)
    if rng.random() < 0.15:
        tabbed = re.sub(r"^( {4})+", lambda match: "\t" * (len(match[0]) // 4), text, flags=re.MULTILINE)
        text = tabbed if compiles(tabbed) else text
    if rng.random() < 0.15:
        text = text.replace("\n", "\r\n")
    if rng.random() < 0.2:
        text = text.rstrip("\r\n")
    return text


def shape(text):
    return ast.dump(ast.parse(text))


def word(rng):
    mark = rng.choice(["", "", "", "type: ignore[x]", "noqa: E501", "pragma: no cover", "needed: see it"])
    return f"# {mark or 'note'} {rng.randint(0, 999)}" if not mark.startswith("type") else f"# {mark}"


def lines_of(text):
    return text.split("\n")


def starts(text):
    """The lines (from 0) at which a logical line begins."""
    found, fresh = [], True
    for token in tokens(text):
        if token.type in (
            tokenize.NL,
            tokenize.COMMENT,
            tokenize.INDENT,
            tokenize.DEDENT,
            tokenize.ENDMARKER,
        ):
            continue
        if fresh:
            found.append(token.start[0] - 1)
        fresh = token.type == tokenize.NEWLINE
    return found


def at_ends(text, rng):
    free = {t.start[0] - 1 for t in tokens(text) if t.type in (tokenize.NEWLINE, tokenize.NL)}
    return "\n".join(
        f"{line}  {word(rng)}"
        if n in free and line.strip() and "#" not in line and rng.random() < 0.5
        else line
        for n, line in enumerate(lines_of(text))
    )


def own_lines(text, rng):
    begin, out = set(starts(text)), []
    for n, line in enumerate(lines_of(text)):
        if n in begin and rng.random() < 0.4:
            indent = rng.choice([line[: len(line) - len(line.lstrip())], "", "        "])
            out.append(indent + word(rng))
        out.append(line)
    return "\n".join(out)


def blank_lines(text, rng):
    begin, out = set(starts(text)), []
    for n, line in enumerate(lines_of(text)):
        if n in begin and rng.random() < 0.3:
            out += rng.choice([[""], ["", ""], ["    "], ["", "", ""]])
        out.append(line)
    return "\n".join(out)


def in_brackets(text, rng):
    """A line end, with a comment or not, after opening brackets and commas inside of them."""
    out, lines, depth = [], lines_of(text), 0
    cuts = []
    for token in tokens(text):
        if token.string in ("(", "[", "{") and token.type == tokenize.OP:
            depth += 1
        elif token.string in (")", "]", "}") and token.type == tokenize.OP:
            depth -= 1
        if depth and token.string in ("(", "[", ",") and token.type == tokenize.OP and rng.random() < 0.4:
            cuts.append(token.end)
    by_line = {}
    for line, column in cuts:
        by_line.setdefault(line - 1, []).append(column)
    for n, line in enumerate(lines):
        for column in sorted(by_line.get(n, ()), reverse=True):
            note = f"  {word(rng)}" if rng.random() < 0.6 else ""
            line = f"{line[:column]}{note}\n            {line[column:].lstrip()}"
        out.append(line)
    return "\n".join(out)


def held(text, rng):
    """Expressions that parentheses hold together over several lines, broken at operators and before methods."""
    out = []
    for line in lines_of(text):
        whole = re.fullmatch(r"(\s*(?:(?:el)?if|while|return|\w+ =) )([^#]+?)(:?)", line)
        if not whole or not compiles(f"({whole[2]})") or rng.random() < 0.4:
            out.append(line)
            continue
        head, made, end = whole.groups()
        cuts = [
            token.start[1]
            for token in tokens(made)
            if token.string in ("and", "or", "if", "else")
            or (token.type == tokenize.OP and token.string in "><>=<===!=+-*/%&|.")
        ]
        for cut in reversed(cuts):
            if rng.random() < 0.5:
                made = f"{made[:cut].rstrip()}{rng.choice(['', f'  {word(rng)}'])}\n            {made[cut:]}"
        out.append(f"{head}({rng.choice(['', f'  {word(rng)}'])}\n            {made}\n        ){end}")
    return "\n".join(out)


def continued(text, rng):
    """Line ends after a backslash between any two tokens outside of brackets."""
    depth, cuts = 0, {}
    found = tokens(text)
    for token, after in itertools.pairwise(found):
        depth += (token.string in ("(", "[", "{")) - (token.string in (")", "]", "}"))
        inside = token.start[0] == token.end[0] == after.start[0] and token.end[1] < after.start[1]
        if inside and not depth and after.type != tokenize.COMMENT and rng.random() < 0.15:
            cuts.setdefault(token.end[0] - 1, []).append((token.end[1], after.start[1]))
    out = []
    for n, line in enumerate(lines_of(text)):
        for end, start in reversed(cuts.get(n, ())):
            line = f"{line[:end]} \\\n        {line[start:]}"
        out.append(line)
    return "\n".join(out)


def form_feeds(text, rng):
    begin = set(starts(text))
    return "\n".join(
        rng.choice(["\x0c", "\x0c\n"]) + line if n in begin and rng.random() < 0.15 else line
        for n, line in enumerate(lines_of(text))
    )


def decorated(text, rng):
    nested = "{0}def helper_{1}(v):  # helper {1}\n{0}    # in it {1}\n{0}    return v\n\n"
    out, begin = [], set(starts(text))
    for n, line in enumerate(lines_of(text)):
        indent = line[: len(line) - len(line.lstrip())]
        bare = line.strip()
        if (
            n in begin
            and indent
            and bare
            and not bare.startswith(("else", "elif", "except", "finally", "case"))
        ):
            if rng.random() < 0.15:
                out.append(nested.format(indent, rng.randint(0, 999)).rstrip("\n"))
        out.append(line)
    return "\n".join(out)


def joined(text, rng):
    """Two simple statements in one line."""
    return "\n".join(
        re.sub(r"^(\s+)(\w+ = [^#]*[^\\({\[,#])$", r"\1note = 0; \2", line)
        if rng.random() < 0.2
        else re.sub(r"^(\s+)(\w+ = [^#]*[^\\({\[,#])$", r"\1\2; note = 0", line)
        if rng.random() < 0.2
        else line
        for line in lines_of(text)
    )


def one_line(text, rng):
    """The body of an `if` that is one statement behind its colon."""
    return re.sub(
        r"^(\s*(?:if|else|for|with)\b[^#\n]*:)\n\s+([^#\n]+)$",
        lambda match: f"{match[1]} {match[2]}" if rng.random() < 0.5 else match[0],
        text,
        flags=re.MULTILINE,
    )


def after_it(text, rng):
    """Something right behind each function."""
    tail = rng.choice(
        ["def later(x): return x  # later", "# after all", "class Later:\n    pass  # in later", "last = 1"]
    )
    return f"{text.rstrip()}\n{rng.choice(['', chr(10), '    # deeper' + chr(10)])}{tail}\n"


CHANGES = [
    at_ends,
    own_lines,
    blank_lines,
    in_brackets,
    held,
    continued,
    form_feeds,
    decorated,
    joined,
    one_line,
    after_it,
]


def outside(old, new, spans):
    """The first line outside of the functions at the spans that the new text has lost, or None."""
    from difflib import SequenceMatcher

    before, after = (re.split(r"\r\n|\r|\n", text) for text in (old, new))
    kept = {
        block.a + n
        for block in SequenceMatcher(None, before, after, autojunk=False).get_matching_blocks()
        for n in range(block.size)
    }
    for n, line in enumerate(before):
        if n not in kept and line.strip() and not any(first <= n + 1 <= last for first, last in spans):
            return f"line {n + 1}: {line.strip()}"
    return None


def functions(text):
    return [
        (min([node.lineno, *(one.lineno for one in node.decorator_list)]), node.end_lineno)
        for node in ast.walk(ast.parse(text))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]


def judged(old, new, edits, comment):
    """What is lost, without asking how; `comment`: the fix is about a comment."""
    if not compiles(new):
        return "does not compile"
    gone = comments(old) - comments(new)
    if gone and not comment:
        return f"comment {next(iter(gone))}"
    places = functions(old)
    spans = []
    for edit in edits:
        around = [span for span in places if span[0] <= edit.line <= span[1]]
        spans.append(
            min(around, key=lambda span: span[1] - span[0]) if around else (edit.line, edit.end_line)
        )
    return outside(old, new, spans)


class Search:
    def __init__(self, show=False):
        self.counts, self.refused, self.lost, self.show = Counter(), Counter(), [], show

    def look(self, name, source):
        """Apply each fix of each finding of the text, then the first of all that go together."""
        try:
            result = lint(["m.py"], None, {"m.py": source})
        except Exception as error:
            self.lost.append(f"{name}: linting raised {type(error).__name__}: {error}")
            return
        self.counts["texts"] += 1
        for problem in result.problems:
            if "failed" in problem.message:
                self.lost.append(f"{name}: {problem}")
        for finding in result.findings:
            for fix in finding.fixes:
                edits = [edit for edit in fix.edits if edit.path == "m.py"]
                if edits:
                    self.counts["fixes"] += 1
                    self.apply(
                        f"{name}: {finding.code} {fix.description[:50]!r}", source, edits, finding.code
                    )

    def apply(self, name, source, edits, code=""):
        try:
            new = checked("m.py", source, edits)
        except EditError as error:
            said = re.sub(r"`.*?`|\d+|m\.py:?", "_", str(error))
            self.refused[said] += 1
            if self.show:
                print(f"refused: {name}: {error}")
                try:
                    print(apply_edits(source, edits))
                except EditError:
                    print(source)
            return
        trouble = judged(source, new, edits, code == "PTX001")
        if trouble:
            self.lost.append(f"{name}: {trouble}")

    def report(self):
        for line in self.lost:
            print(f"lost: {line}")
        refused = sum(self.refused.values())
        print(
            f"{self.counts['texts']} texts, {self.counts['fixes']} fixes, {refused} refused, {len(self.lost)} lost"
        )
        for reason, count in self.refused.most_common():
            print(f"  {count}: {reason}")
        return int(bool(self.lost))


def search(names, seeds, first=0, show=False):
    """Look at each of the sources, changed by as many seeds; the `Search` has what was found."""
    found = Search(show)
    for name, source in names:
        for seed in range(first, first + seeds):
            text = mutated(source, random.Random(f"{name} {seed}"))
            found.look(f"{name} seed {seed}", text)
    return found


def main():
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--seeds", type=int, default=20)
    parser.add_argument("--first", type=int, default=0)
    parser.add_argument("--paths", type=Path, nargs="*")
    parser.add_argument("--only", default="", help="names that begin so")
    parser.add_argument("--show", action="store_true", help="print the text of each fix that is refused")
    given = parser.parse_args()
    names = seeds_of_rules()
    if given.paths:
        files = [
            file
            for path in given.paths
            for file in ([path] if path.is_file() else sorted(path.rglob("*.py")))
        ]
        names = ((str(file), file.read_text(encoding="utf-8")) for file in files)
    names = ((name, source) for name, source in names if name.startswith(given.only) and compiles(source))
    sys.exit(search(names, given.seeds, given.first, given.show).report())


if __name__ == "__main__":
    main()
