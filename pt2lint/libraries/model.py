"""What a library file says, and what the interpreter and the observers may ask of all of them together.

A file in this folder ends with `LIBRARY = Library(...)`. What data can say is data; a function (`Handler`) is
registered under a qualified name only where it cannot. Nobody outside of this folder names a library: they ask for
the `Entry` of a qualified name that the code holds, or for what plays a role ("compiles", "loader", ...).
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import lru_cache
from typing import TYPE_CHECKING

from pt2lint.libraries.forms import form
from pt2lint.libraries.types import is_instance
from pt2lint.libraries.words import Origin, value_of
from pt2lint.static.values import UNKNOWN, Dict, Ext, Instance, Tensor, Value, tensor_of

if TYPE_CHECKING:
    from pt2lint.libraries.call import Call

Handler = Callable[["Call"], Value]
Sizes = tuple[tuple[int, ...], tuple[str, ...]]  # positions (without the receiver) and keywords
Constants = tuple[tuple[int, str], ...]  # position and keyword of each
# What the roles mean. A name in `Library.roles` is exact, begins with what stands before a last "*" ("torch.amp.*"),
# ends with what stands after a first one, or begins and ends as "torch.*.rand" says (torch.rand is one too).
ROLES = {
    "makes an array": "a function that makes an array of what it is given",
    "recurrent": "a recurrent module, of which Dynamo does not even ask for the type",
    "scripted": "a module that another compiler made, which a graph does not hold",
    "compiles": "torch.compile: what it is given, or decorates, is traced",
    "not there": "a name that people look for where it is not",
    "asks whether compiled": "a function that is true in compiled code and false elsewhere",
    "holds settings": "a module of settings: assigning one that is not there raises",
    "compiles in place": "the method of a module that compiles the module itself",
    "disables": "what it is given, or decorates, is not traced",
    "scripts a method": 'what it decorates, another compiler made: see "scripted"',
    "opaque": "what it decorates is put into the graph unread, or run outside of it",
    "makes a context manager": "decorates a generator function",
    "caches": "remembers the results of the function that it decorates",
    "stands for": "decorates a function that is called in place of its first argument",
    "copies": "returns a copy of the object that it is given",
    "pickles": "writes down, by pickle, the object that it is given",
    "draws": "draws random numbers where a graph draws them",
    "random source": "draws random numbers, on the host or in a graph",
    "random module": "a module that draws random numbers when it is called",
    "module base": "a class whose subclasses are modules: the first name is the one that its methods go by",
    "module namespace": "its classes that the table lists, or whose names begin with an underscore, are modules",
    "loss": "a module that compares results with what they should be",
    "matches from the start": "matches its first argument, a pattern, from the start of its second one",
    "class of models": "what models of a library are instances of",
    "spreads a module": "a module that runs another one, its `module`, on several devices",
    "takes wrappers off but one": "gives the module in what was wrapped around it, but for torch.compile's wrapper",
    "adapts modules": "puts small modules of its own into the module that it is given, and names their state after it",
    "passes on": "a module that returns what it is given, or may be given anything",
    "pads to the longest": "makes samples as long as the longest of them, or an object that does so",
    "loader": "what is gone over, batch by batch",
    "numbers its items": "base of classes of data sets: what is asked for an item by name is a batch of one",
    "followed": "an object whose later life rules ask about",
    "passes items": "gives the items of its first argument, one by one",
    "resumable": "a context manager in which a break costs no more than elsewhere",
    "base of managers": "its subclasses are entered as Python does it",
    "entered where made": "a context manager that Dynamo enters only where the compiled code makes it",
    "not entered by decorators": "a context manager that Dynamo does not enter where it decorates a function",
    "base of decorators": "its objects are context managers that decorate functions",
    "device context": "what `with` a device enters",
    "keeps the wrapper": "a method that a compiled module has of the module, and answers for itself",
    "gives parts": "a method of a module that gives it and all modules in it, one by one",
    "given each part": "a method that gives a function each module inside of one",
    "gives children": "a method of a module that gives the modules right in it, one by one",
    "forward hook": "adds a function that runs with a module's forward, and is traced with it",
    "base of hooks": "its subclasses have `pre_forward` and `post_forward`, which run with a forward",
    "defines operators": "decorates a function that becomes an operator of torch, with a schema",
    "defines untraced operators": "the same, of a function that is not traced",
    "registers fakes": "tells of an operator what shapes it returns",
    "insists on its graph": "what it runs raises where compiled code would break",
    "keeps changes": "what it runs as a graph of its own may change what was there before",
    "traces modules": "makes a graph of a module by other means than Dynamo",
    "adds a part": "a method that adds a module to another one, or puts it in the place of one",
    "backward hook": "adds a function that runs with a module's backward pass",
    "decorates methods": "a context manager that makes of a method what Dynamo cannot bind to an object that it made",
    "late hook": "adds a hook that compiled code does not see later",
    "state of an optimizer": "a dictionary that an optimizer keeps for one parameter, or for a group of them",
    "exchanges data": "a method of a module that gives its parameters other data",
    "converts": "a method that gives the same tensor in another dtype, or on another device",
    "gives a class of its own": "makes of a module the only one of its class",
    "state of a module": "gives what a module holds, by name",
    "loads state": "sets what a module holds, by name",
    "groups of parameters": "an attribute with what is trained, and how",
    "saves tensors": "writes tensors to a file",
    "loads tensors": "reads tensors from a file",
    "says": "writes a message for people to read",
    "asks for gradients": "tells whether gradients are kept track of",
    "asks for a GPU": "tells whether there is a GPU, or an attribute that says whether a tensor is there",
    "asks for a CPU": "tells whether what a CPU computes is cast to lower precision",
    "wants a gradient": "an attribute that says whether a tensor requires a gradient",
    "without gradients": "decorates a function that is run without gradients",
    "computes gradients": "a method that computes gradients of what was computed before",
    "clears gradients": "a method that clears the gradients of parameters",
    "counts without end": "gives an iterator over all whole numbers",
    "constant number": "an attribute of a module, a number that is a constant of the graph",
    "marks sizes": "says which sizes of a tensor change",
    "marks sizes before": "says so where nothing is compiled: it raises in compiled code",
    "reads the environment": "a library that reads the environment when it is imported",
    "reads a variable of the environment": "gives a text that nobody may have set, or its second argument",
    "property": "a decorator that makes a method an attribute",
    "property kept": "such a decorator, under which the method runs once and the object keeps what it returns",
    "static method": "a decorator",
    "class method": "a decorator",
    "enumeration": "a class whose members are constants",
    "abstract method": "decorates what derived classes define: of a class that has one nobody makes objects",
    "base of numbers": "a class: what is made of a class under it is a number",
    "base of texts": "a class: what is made of a class under it is a text",
    "named tuple": "a base of a class whose annotations name the parts of a tuple",
    "says what is of it": "a class whose metaclass answers `isinstance`",
    "differentiable function": "a class whose `apply` runs its `forward`",
    "context of a function": "what `forward` and `backward` of a differentiable function are given first",
    "asks for a tensor": "tells whether its argument is a tensor",
    "asks for a type": "tells whether its first argument is of the type that is its second",
    "tells the type": "returns the type of its argument",
    "text": "the type of a text",
    "assertion error": "what a failed `assert` raises",
    "missing key": "what a dictionary raises that has no such key",
    "import error": "what an import raises of what is not there",
    "runtime error": "what a failed assertion of a graph raises, and what catches it too",
    "tensor": "the type of tensors",
    "tensor type": "a type whose values are tensors",
    "typing": "a base of a class that says nothing of its objects",
    "typed dictionary": "a base of a class whose annotations say what a dictionary holds",
    "looks": "a built-in function that looks at the value of what it is given",
    "grows": "a method that makes a list longer",
    "fills": "a method that puts something into a collection",
    "puts where there is none": "a method of dictionaries that does so under a key that is not there",
    "shrinks": "a method that makes a list shorter",
    "decides by type": "a built-in function that tells apart what it is given",
    "only of tensors": "a method that, in code that Dynamo traces, only tensors have",
    "bare only of tensors": "the same, where it is called without positional arguments",
    "bare only of tensors where compiled": "the same, in code that Dynamo traces",
    "bare only of modules": "a method that, without arguments, only modules have",
    "set of tensors alone": "an attribute that programs assign of tensors, and of nothing else",
    "tells a tensor": "an attribute of tensors that Python's own objects have not",
    "group of processes": "a class: several processes that work together",
    "starts threads": "has a thread of its own run what it is given, or is a class whose `run` is run so",
    "threads": "makes a thread, or what several threads share: a lock, a queue",
    "tells a tensor where called": "one of these that is a method: an image's `size` is a pair of numbers",
    "tells a tensor of arguments alone": "one of these that other libraries' objects have too",
    "takes a mask": "a method, or a function, whose last argument but one is a mask",
    "chooses by a mask": "a method, or a function, whose first argument is a mask",
    "takes places": "a method, or a function, whose last argument, or `index`, holds whole numbers",
    "spreads over": "a method that gives the same values in the shape of another tensor",
    "keeps values": "a method that gives the same values in another shape",
    "tells a tensor as keyword": "a parameter of methods of tensors: who names it, and gives a number, has a tensor",
    "takes sizes alone": "a method that takes nothing but the sizes of what it returns, one by one or together",
    "asks for processes": "tells whether, or how many, processes train together",
    "works with processes": "sends something to other processes, or asks which of them this is",
    "detaches": "gives a tensor without what it was computed from",
    "measures": "computes a metric, of what a model said",
    "runs models": "runs models in a runtime of its own, in torch's place",
    "register": "holds operators, once they are loaded",
    "loads code": "loads a module or a library of operators, which happens once",
    "mode": "tells how a module, or torch, is run: for training, in mixed precision; all meet either",
    "makes one of its class": "a class method that gives an object of the class on which it is called",
    "minds training": "a class of modules that do otherwise in training",
    "compiled with a module": "a method of a module that is compiled where the module is, beside its `forward`",
    "set by a framework": "an attribute of a module that the framework sets which runs it",
    "counted by a framework": "an attribute of a module in which the framework counts that runs it",
    "seldom compiled": "a class of modules that run beside a model, and that nobody compiles",
    "holds weights": "a class of modules with parameters",
    "trains": "a class of optimizers, or a call of a trainer: who makes one trains something",
    "schedules": "a class whose `step` sets the rate of an optimizer, and takes none of its steps",
    "prints": "writes text to the screen",
    "tells the time": "what time it is, to take from it when something began",
    "array type": "the type of NumPy's arrays",
    "warns": "tells the user that something is not as it should be",
    "asks for the next": "gives the next item of an iterator",
    "refuses symbolic flags": "takes no flag that is a test of a size which has become a symbol",
    "goes over items": "goes over the items of its arguments, in Python",
    "counts items": "gives items with their number before them",
    "writes files": "writes a file, or makes a folder",
    "draws figures": "makes a figure to draw on",
    "runs tests": "a library that runs tests",
    "holds modules": "a list or a dictionary of modules",
    "shows progress": "a bar around a loop, or what counts for one",
    "makes a leaf": "a method that says whether a tensor requires a gradient",
    "repeats": "repeats items as often as another tensor says",
    "picks by mask": "picks the items where another tensor, its last argument, is true",
    "takes a tensor first": "a function whose first argument is a tensor",
    "takes uncaptured numbers": "a function that does not compile where a tensor stands for a number and is captured",
    "takes a sparse tensor": "a function whose first argument is a sparse tensor",
    "indifferent": "what it is given does not matter",
}
GIVEN = ("tensors", "anything", "")


@dataclass(frozen=True)
class Library:
    """One library: its names begin with `name`.

    `returns`     qualified name -> what a call returns, in the words of pt2lint/libraries/words.py
    `constants`   qualified name -> what it is where it is read, in the same words
    `types`       qualified name of a type -> what a value of it is, in the same words
    `modules`     qualified name of a module class -> what calling an instance returns
    `instances`   (qualified name) -> the same, for classes that `modules` does not list; None for what is none
    `roles`       role -> names (see ROLES)
    `sizes`       qualified name -> which arguments are Python numbers, or sequences of them
    `numbers`     qualified name -> which other arguments are single numbers, as measured
    `baked`       qualified name -> which numbers become constants of the graph
    `breaks`      qualified name -> why Dynamo ends the graph there, then, after tabs, the first torch where it does
                  not, or "" and the first where it does; of a module that is listed, that of its `forward`
    `untraced`    whether every call into the library ends the graph, but for names in `traced`
    `told_by`     type -> sets of names: an object of which all in a set are used is of that type. "name()" is a method
                  that is given positional arguments; "-name" must not be used
    `given`       what its functions take: "tensors" and no mixture, "anything" (a tensor is read), or ""
    `closed`      whether all that can be subclassed as a module is listed
    `objects`     whether a type that is not listed has objects of which nothing but the type is known
    `mentions`    regular expressions for text that shows that a file has to do with compiling; each is sought alone,
                  fast where it begins with plain text. One that begins with a dot is an attribute, of a name which may
                  be bound to something else
    `handlers`    qualified name -> a function, where data cannot say it; `otherwise` for all other names
    `forward`     what calling an instance of one of its modules returns
    `attribute`   (type, owner, name) -> the value of an attribute, None where it is nothing special
    `renamed`     name -> the name that it goes by, None where that is the same
    `short`       what of its names messages leave out
    `tensor_first` whether the first argument of a function must be a tensor
    `knows`       whether the library has something of that name (beyond what is in `returns`)
    `measured`    where the claims come from: a table in matrix/, or a page
    """

    name: str
    returns: Mapping[str, str] = field(default_factory=dict)
    constants: Mapping[str, str] = field(default_factory=dict)
    types: Mapping[str, str] = field(default_factory=dict)
    modules: Mapping[str, str] = field(default_factory=dict)
    instances: Callable[[str], str | None] | None = None
    roles: Mapping[str, Sequence[str]] = field(default_factory=dict)
    sizes: Mapping[str, Sizes] = field(default_factory=dict)
    numbers: Mapping[str, Sizes] = field(default_factory=dict)
    baked: Mapping[str, Constants] = field(default_factory=dict)
    breaks: Mapping[str, str] = field(default_factory=dict)
    untraced: bool = False
    traced: tuple[str, ...] = ()
    told_by: Mapping[str, Sequence[str]] = field(default_factory=dict)
    given: str = ""
    closed: bool = False
    objects: bool = False
    mentions: tuple[str, ...] = ()
    handlers: Mapping[str, Handler] = field(default_factory=dict)
    otherwise: Handler | None = None
    forward: Handler | None = None
    attribute: Callable[[str, Value, str], Value | None] | None = None
    renamed: Callable[[str], str | None] | None = None
    short: str = ""
    tensor_first: Callable[[str], bool] | None = None
    knows: Callable[[str], bool] | None = None
    measured: str = ""


class Entry:
    """What is known of one qualified name.

    `answer` gives what a call returns; `forward` is None for all but classes of modules; `sure` says that a tensor
    among the arguments is one (None: that a tensor among them means nothing).
    """

    __slots__ = (
        "answer",
        "baked",
        "breaks",
        "forward",
        "given",
        "library",
        "name",
        "numbers",
        "op",
        "result",
        "roles",
        "sizes",
        "untraced",
    )

    def __init__(self, name: str, library: Library, roles: frozenset[str]) -> None:
        self.name, self.library, self.roles = name, library, roles
        self.op = f"call {name}"
        self.given = "" if "indifferent" in roles else library.given
        self.answer: Handler = made_or_unknown
        self.forward: str | None = None
        self.result: Handler = unknown
        self.sizes: Sizes | None = None
        self.numbers: Sizes | None = None
        self.baked: Constants = ()
        self.breaks = ""
        self.untraced = library.untraced and name not in library.traced


@lru_cache(maxsize=1024)
def _may_mention(source: str, words: frozenset[str], patterns: str) -> bool:
    """Whether a text holds a word, or what one of the patterns, one a line, is for. Many files import the same one."""
    return any(word in source for word in words) or any(re.search(p, source) for p in patterns.split("\n"))


@lru_cache(maxsize=1024)
def _owners_of_mentions(source: str, patterns: tuple[re.Pattern[str], ...]) -> tuple[str, ...]:
    """The names on which the methods are called that the patterns find in a text, "" for what is none's, up to the
    first of those. Many files import the same one."""
    owners = []
    for pattern in patterns:
        for match in pattern.finditer(source):
            owner = None
            if match[0].startswith("."):
                owner = _LAST_WORD.search(source[max(match.start() - 200, 0) : match.start()].rstrip())
            owners.append(owner[0] if owner else "")
            if not owner:
                return tuple(owners)
    return tuple(dict.fromkeys(owners))


FOREIGN = Library("")
OPTIMIZER, RATE = "torch.optim.Optimizer", "[lr]"  # the second under no name that an attribute may have
_LAST_WORD = re.compile(r"\w+\Z")


class Models:
    """All libraries together. What is asked once for each name is remembered."""

    def __init__(self, libraries: Sequence[Library], own: Sequence[Library] = ()) -> None:
        # What the user says of a name comes before what is known of it.
        self.libraries = [*own, *sorted(libraries, key=lambda library: -len(library.name))]
        libraries = self.libraries
        self.own = frozenset(name for one in own for name in (*one.returns, *one.modules, *one.breaks)) | {
            name for one in own for names in one.roles.values() for name in names
        }
        self._entries: dict[str, Entry] = {}
        self._roles = [_Role(role, libraries) for role in ROLES]
        self._role = {role.name: role for role in self._roles}
        self._patterns = [role for role in self._roles if role.is_pattern]
        self._exact: dict[str, set[str]] = {}
        for role in self._roles:
            for name in role.exact:
                self._exact.setdefault(name, set()).add(role.name)
        self._types = {name: words for one in reversed(libraries) for name, words in one.types.items()}
        self._named = {one.name: one for one in reversed(self.libraries) if one.name}
        # What is said of a name, by the first that says something.
        self._modules = {name: one for one in reversed(libraries) for name in one.modules}
        self._sizes = {name: said for one in reversed(libraries) for name, said in one.sizes.items()}
        self._numbers = {name: said for one in reversed(libraries) for name, said in one.numbers.items()}
        self._tensor = ""
        self._telling = [
            (
                frozenset(word for word in words.split() if word[0] != "-"),
                frozenset(word[1:] for word in words.split() if word[0] == "-"),
                name,
            )
            for library in self.libraries
            for name, sets in library.told_by.items()
            for words in sets
        ]
        # The names that may tell what an object is.
        self.telling_methods = frozenset(
            word.removesuffix("()") for has, _, _ in self._telling for word in has
        )
        self._baked = {name: said for one in reversed(libraries) for name, said in one.baked.items()}
        self._breaks = {name: said for one in reversed(libraries) for name, said in one.breaks.items()}
        self._handlers = {
            name: handler for one in reversed(libraries) for name, handler in one.handlers.items()
        }
        self._otherwise = [
            (one.name + ".", one.otherwise) for one in libraries if one.name and one.otherwise is not None
        ]
        self._returns = {name: words for one in reversed(libraries) for name, words in one.returns.items()}
        self._constants = {
            name: words for one in reversed(libraries) for name, words in one.constants.items()
        }
        self._mentions = tuple(re.compile(pattern) for one in libraries for pattern in one.mentions)
        words = "|".join(map(re.escape, sorted(self.last_words("compiles"))))
        # All that the answers below depend on in a text, as patterns, one a line: `is_compiling` and `torch.compiler`,
        # which fixes write, import nothing that compiles.
        self.mentions = "\n".join([rf"\b(?:{words})\b", *(pattern.pattern for pattern in self._mentions)])

    def of(self, name: str) -> Entry:
        known = self._entries.get(name)
        if known is None:
            known = self._entries[name] = self._entry(name)
        return known

    def _entry(self, name: str) -> Entry:
        patterns = (role.name for role in self._patterns if role.played_by(name))
        roles = frozenset(self._exact.get(name, ())).union(patterns)
        entry = Entry(name, self.library_of(name), roles)
        module = self._modules.get(name)
        if module is not None:
            entry.forward = module.modules[name]
            entry.result = module.forward or returning(entry.forward)
        entry.sizes = self._sizes.get(name, entry.sizes)
        entry.numbers = self._numbers.get(name, entry.numbers)
        entry.baked = self._baked.get(name, entry.baked)
        entry.breaks = self._breaks.get(name, entry.breaks)
        entry.answer = self._answer(name)
        listed = entry.library.instances
        if entry.forward is None and listed is not None and (words := listed(name)) is not None:
            entry.forward, entry.result = words, returning(words)
            if entry.library.otherwise is None:
                entry.answer = made
        return entry

    def library_of(self, name: str) -> Library:
        if self.own:
            return next((one for one in self.libraries if one.name and _within(name, one.name)), FOREIGN)
        while name:  # the library with the longest name
            known = self._named.get(name)
            if known is not None:
                return known
            name = name.rpartition(".")[0]
        return FOREIGN

    def _answer(self, name: str) -> Handler:
        if name in self.own:
            for one in self.libraries:
                if name in one.modules:
                    return made
                if name in one.returns:
                    return returning(one.returns[name])
        handler = self._handlers.get(name)
        if handler is not None:
            return handler
        words = self._returns.get(name)
        if words is not None:
            return returning(words)
        if self._role["asks whether compiled"].played_by(name):
            return returning("true")
        within = name + "."
        return next(
            (handler for start, handler in self._otherwise if within.startswith(start)), made_or_unknown
        )

    def plays(self, name: str | None, role: str) -> bool:
        if name is None:
            return False
        known = self._entries.get(name)  # many a name of the project is asked about once
        return self._role[role].played_by(name) if known is None else role in known.roles

    def named(self, role: str) -> str:
        """The first whole name that plays the role."""
        return next(name for name in self._role[role].names if "*" not in name)

    def mentions_compiling(self, source: str, imports: Mapping[str, str]) -> bool:
        """Whether a file has anything to do with compiling; one that has not says nothing outside of modules.

        `imports` says what its names are bound to: `th.compile` is torch's after `import torch as th`, and
        `re.compile` is not.
        """
        if any("compiles" in self.of(name).roles for name in imports.values()):
            return True
        for owner in _owners_of_mentions(source, self._mentions):
            bound = imports.get(owner)
            if bound is None or self.of(f"{bound}.compile").roles or self.library_of(bound) is not FOREIGN:
                return True
        return False

    def may_mention_compiling(self, source: str) -> bool:
        """False only where `mentions_compiling` says no, whatever the file imports: asked before it is parsed."""
        return _may_mention(source, self.last_words("compiles"), self.mentions)

    def told_by(self, used: set[str]) -> str | None:
        """The type of the object of which these names are used."""
        for has, lacks, name in self._telling:
            if has <= used and not lacks & used:
                return name
        return None

    def last_words(self, role: str) -> frozenset[str]:
        """The names that play the role, without what they belong to: for text that is read and not evaluated."""
        return self._role[role].words

    @property
    def tensor(self) -> str:
        """The name of the type of tensors."""
        if not self._tensor:
            self._tensor = self.named("tensor")
        return self._tensor

    def makes_modules(self, base: str) -> bool:
        """Whether a class with this base is one of modules."""
        entry = self.of(base)
        if entry.forward is not None or "module base" in entry.roles:
            return True
        return "module namespace" in entry.roles and base.rsplit(".", 1)[-1][:1] == "_"

    def takes_tensor_first(self, name: str) -> bool:
        """Whether the function's first argument must be a tensor."""
        library = self.of(name).library
        if "takes a tensor first" in self.of(name).roles:
            return True
        return library.tensor_first is not None and library.tensor_first(name)

    def form(self, name: str) -> tuple[str, str | None]:
        """What `NAME[...]` promises in an annotation: see pt2lint/libraries/typing.py."""
        return form(name)

    def is_instance(self, value: Value, names: tuple[str, ...], foreign: bool) -> bool | None:
        """isinstance(value, any of the named types): see pt2lint/libraries/types.py."""
        return is_instance(value, names, foreign)

    def knows(self, name: str) -> bool:
        """Whether a library surely has something of that name."""
        return any(
            name in one.returns or (one.knows is not None and one.knows(name)) for one in self.libraries
        )

    def returns_something(self, name: str) -> bool:
        """Whether a library says what a call of that name returns: it is a function or a type, and as such true."""
        return any(name in one.returns or name in one.types for one in self.libraries)

    # Values

    def value(self, name: str) -> Value:
        """What a name from outside the project is: a constant, or the name itself."""
        words = self._constants.get(name)
        if words is not None:
            return value_of(words, None)
        renamed = self.library_of(name).renamed
        return Ext((renamed(name) if renamed is not None else None) or name)

    def instance(self, name: str) -> Instance:
        return Instance(None, name, "followed" in self.of(name).roles)

    def value_of_type(self, name: str, origin: Origin = None) -> Value | None:
        """A value of the named type; None where nothing is known."""
        words = self._types.get(name)
        if words is not None:
            return value_of(words, origin)
        library = self.library_of(name)
        named = library.instances is not None and library.instances(name) is not None
        return self.instance(name) if named or library.objects else None

    def attribute(self, type_name: str, owner: Value, name: str) -> Value:
        """`owner.name`, where the owner is of a type of the library."""
        attribute = self.of(type_name).library.attribute
        value = attribute(type_name, owner, name) if attribute is not None else None
        return value if value is not None else Ext(f"{type_name}.{name}", owner)


def breaking(said: str) -> dict[str, str]:
    """What the operation "call breaking" says of a call of which a library says this (`Library.breaks`)."""
    why, _, versions = said.partition("\t")
    until, _, since = versions.partition("\t")
    return {"why": why, "until": until, **({"since": since} if since else {})}


class _Role:
    """The names that play one role in some library."""

    def __init__(self, name: str, libraries: Iterable[Library]) -> None:
        self.name = name
        self.names = [n for library in libraries for n in library.roles.get(name, ())]
        self.words = frozenset(n.rstrip("*").rpartition(".")[2] for n in self.names)
        self.exact = frozenset(n for n in self.names if "*" not in n)
        patterns = [n.partition("*") for n in self.names if "*" in n]
        self.is_pattern = bool(patterns)
        self._starts = tuple(start for start, _, end in patterns if not end)
        # `*Model`, `lib.*Model`, and `lib.*.eval`, which is `lib.eval` as well: the ends by the start.
        self._ends: dict[str, tuple[str, ...]] = {}
        for start, _, end in patterns:
            if end:
                self._ends[start] = (*self._ends.get(start, ()), end)

    def played_by(self, name: str) -> bool:
        return (
            name in self.exact
            or name.startswith(self._starts)
            or any(name.startswith(start) and name.endswith(ends) for start, ends in self._ends.items())
        )


def _within(name: str, library: str) -> bool:
    return name.startswith(library) and (len(name) == len(library) or name[len(library)] == ".")


def returning(words: str) -> Handler:
    """A handler for what data says. What is the same for each call is made once."""
    if words == "first":
        return keep_first
    value = value_of(words, None)
    if "tensor" not in words and words not in ("self", "array") and value.kind not in ("seq", "dict"):
        return lambda call: value

    def answer(call: Call) -> Value:
        sure = not any(isinstance(a, Tensor) and not a.sure for a in call.args)
        return value_of(words, call.origin(), sure, call.receiver)

    return answer


def keep_first(call: Call) -> Value:
    """A tensor like the first argument, or the first of a sequence of them."""
    value = call.args[0] if call.args else UNKNOWN
    elem = getattr(value, "elem", None) if value.kind == "seq" else None
    tensor = tensor_of(elem if elem is not None else value)
    return Tensor(tensor.dtype, call.origin(), tensor.sure) if tensor is not None else UNKNOWN


def made(call: Call) -> Value:
    return call.models.instance(call.name)


def unknown(call: Call) -> Value:
    return UNKNOWN


def made_or_unknown(call: Call) -> Value:
    """A name in capitals is taken for a class. What one makes of parameters and a rate is an optimizer: to make it, and
    its `zero_grad`, are torch's own, whatever its `step` does."""
    last = call.name.rsplit(".", 1)[-1]
    if last == "zero_grad" and isinstance(call.receiver, Instance) and RATE in call.receiver.attrs:
        call.note(f"call {OPTIMIZER}.zero_grad")
    if not last[:1].isupper() or call.receiver is not None:
        return UNKNOWN
    made = call.models.instance(call.name)
    first = call.args[0] if call.args else call.kwargs.get("params")
    held = getattr(first, "elem", UNKNOWN)
    groups = isinstance(held, Dict) and "params" in held.items
    if "lr" in call.kwargs and (groups or tensor_of(held) is not None):
        made.attrs[RATE] = call.kwargs["lr"]
        call.note(f"call {OPTIMIZER}")
    return made
