"""Operations: what the interpreter saw at one expression, and what rules listen to.

Names of operations:

- `call NAME`       a function or method from outside the project is called; NAME is its qualified name, methods
                    by the type of their receiver: `call torch.Tensor.item`, `call logging.Logger.info`
- `test tensor`     a tensor is converted to a truth value (`if`, `while`, `and`, `or`, `not`, a comprehension's
                    condition, `bool()`, `any()`, `all()`), other than by a plain `assert`; details "array": an array of
                    NumPy is, which in eager mode is no tensor
- `test uncalled`   a function that tells whether this is compiled is tested, and not called
- `ask early`       whether this is being compiled is asked where nothing is, and the answer kept; details "when"
- `missing name`    an attribute of torch.compile or torch.compiler is read that is not there; details "name", all of it
- `test compiled`   what torch.compile wrapped around a module without a length is tested
- `refuse compiled`  what torch.compile wrapped around a module is used where that raises; details "how": "indexes",
                    "goes over", "traces"; "always" where it is compiled on every way; or a schedule is made of an
                    optimizer ("schedules") whose compiled method is "step"
- `compute with random`  a random number that Dynamo draws at run time is computed with, by an operator whose other side
                    is a number, too
- `compute with array`  an operator with a number that NumPy makes in traced code, where the tensor on its other side
                    takes on the dtype of an array; details "other": "whole" (numbers), "no dimensions"
- `sort by tensor`  `sorted` or `list.sort` is given a `key` that returns tensors
- `size tensor`     a tensor stands where Python or torch needs a number: a size, a slice bound, a list index, `range`,
                    a value to fill with; details "uncaptured": compiling a captured one raises; "number": none
                    that is a size
- `index mask`      a tensor is read through a boolean mask; detail "dimensions", of the tensor, where the mask is the
                    whole index and their number is known
- `index bytes`     a tensor is read through a mask of torch.uint8
- `set NAME`        an attribute of an external object is assigned: `set torch.Tensor.requires_grad`
- `get NAME`        an attribute of an external object is read: `get logging.Logger.level`
- `with NAME`       an external context manager is entered
- `with kept manager`  one of the project's own is entered that was made before the compiled code runs
- `with kept manager of torch`  the same, one of torch's
- `decorate with NAME`  an external context manager decorates a function that traced code calls; there, with details
                    "decorates", the function, and "told" where that is in a file that is linted, and at the decorator,
                    with "called": "PATH:LINE" of a call
- `decorate with own manager`  one of the project's own does
- `set attribute of function`  an attribute of a function is assigned that compiled code did not define
- `equate member`    a tensor is compared (`==`, `!=`) with a member of an enumeration of numbers; detail "named" where
                    it is written as `Kind.MEMBER`
- `untraced object`  an object of the project is used in a way that Dynamo does not trace; details "how" ("attribute",
                    "order", "decorated", "hook", "jvp", "index", "text", "without gradient", "fake" and others) and
                    "what", the builtin method, the context or the function
- `format tensor`   a tensor is turned into text
- `use sparse`      a sparse tensor is given to a call, stands in an expression, or an attribute of it is read
- `make torch.nn.Module`  a module is constructed; the argument "made" names it, or the torch modules that it holds
- `make torch.nn.Parameter`  a parameter is made of a tensor that the graph computes
- `forward NAME`    a torch.nn module is called: `forward torch.nn.LSTM`
- `mask NAME`       a module of torch.nn that looks whether its mask is causal is given one, and not told
- `call breaking`   a function is called of which a library model says that Dynamo ends the graph there, or something
                    goes over an iterator that a root is given; details: "why", "until", the first torch where it
                    does not, "since", the first where it does, "when", what has to hold inside of what is called,
                    "instead", what to write, "says" where it writes a message, and "like", the operation that it is
                    inside, where that is captured under `fullgraph=True`
- `call extension`  something of a compiled extension is called, as the project's setup.py builds it; details "name"
- `call untraced`   something of a library is called that Dynamo does not trace; details "name", the library's
- `change outside`  something is changed that was there before, in a function that Dynamo traces as a graph of its own;
                    details "how" ("attribute", "item", "name", "collection"), "operator", what is given the function,
                    and "runs", the function
- `key array`       an element of an array is a key that a dictionary or a set is asked for
- `keep by array`   a dictionary is given an element of an array as a key
- `choose by key`   `min` or `max` is given a `key`, and objects, tensors, pairs that hold some, or an iterator
- `choose by tensor`  `min` or `max` is given a `key` that returns tensors
- `choose plain by key`  the same with a function of Python as the key, and numbers, strings or what is not known
- `choose among pairs`  `min` or `max` is given pairs that hold tensors
- `call decorated static method`  a static method is called through a decorator that stands above `@staticmethod`;
                    details "decorators": "FIRST STATIC", the lines of the first and of that one, in a class of the same
                    file
- `call class method of function`  `apply` of an autograd.Function whose traced methods are class methods; there and
                    at the method, details "method" and, at the method, "called": "PATH:LINE" of the call, at the call
                    "told" where the method is in a file that is linted
- `call disabled`   a function that torch.compiler.disable decorates is called
- `collect with gradient`  a collective is called where gradients may be wanted; details "name", which one
- `define operator` a decorator makes an operator of torch of a function, with a schema: torch.library.custom_op
- `define disabled` a function of tensors that torch.compiler.disable decorates is defined, and nothing traced
                    in its file calls it; at the decorator; details "name"
- `define class`    a class statement runs
- `discard NAME`    the result of a call is thrown away; also a name alone in a line, right above what it may decorate
- `import guarded`  an import of a library, in a `try` that catches what it raises where there is none
- `iterate NAME`    an external object is iterated over; details "maybe" where it may be something else
- `set NAME`         also: an attribute of an external module is assigned (`set torch._dynamo.config.verbose`; args: 0
                    is the value), an item of an external mapping (`set os.environ[]`; args: 0 the key, 1 the value)
- `call compiled`   a compiled callable is called from code that is not compiled; details: "compile KEYWORD",
                    what torch.compile was given, "to" and "to at", the function that it runs and where that is
                    ("PATH:LINE"), and of each argument N (or "*", "**") "name N", the parameter, "use N", what the
                    function does with it (pt2lint.static.observers.uses), "at N", where, "number N", where it does what
                    it cannot do with a tensor, and of a module "numbers N",
                    an attribute that it reads of it and that `__init__` sets to a number that it is given; "counts",
                    what differs at each call ("self.step epoch"): attributes that the caller's object counts in, and
                    parameters of the caller that a loop around its own call counts, and, with "hook": "yes",
                    what a framework counts that calls it; "texts", parameters of the caller that a loop
                    around its call gives another text each time; "named" where the settings alone say that
                    it is compiled; "longer N": "yes" where it returns that argument longer than it was;
                    "grown N": "yes" where it is a list of an object that the caller makes longer each time;
                    "parts N", what it reads of a dictionary or an object; "advance N", the
                    methods that make a number of that another, "METHOD:NAME", and "use N.NAME", what it does with that;
                    "sized N", what says how long an argument is that a function of the project makes, a tab between
                    two;
                    "yields N", as long as what a generator of the project pads it
- `call apart`      traced code calls a function of the project from inside of a loop, a `try` or a `with`: compiled by
                    itself, if a break there has Dynamo leave the caller to Python; details as of `call compiled`
- `call another way`  a compiled callable is called, or a function of the project by traced code; details: of other
                    calls of the same (N is 0, 1, ...) "here N" and "there N", how the two differ for Dynamo, "where N",
                    the place of the other, "in N" ("PATH:LINE"), in which traced function that is, and "to N" and "to
                    at N", the function that is called and where that is; "untraced N": both are made by code that is
                    not compiled, if the same code is traced on another way
- `set attribute of compiled`  code that is not compiled assigns an attribute of a module that compiled code reads, or
                    an item of one under a text; args: 0 the value; details: "head", the compiled module's expression,
                    "use", "at", "to" and "counts" as above; "becomes" and "own" where it is an object with compiled
                    methods and no module, nor held by one; at the argument of a call that has a method assign it:
                    "sets", the attribute, and "through", the method; at the call of a method that counts in it, also
                    "by", the type of number; at `net.apply(f)` "sets", "through", and "gives", the value's expression
- `lengthen attribute of compiled`  code that is not compiled puts one more thing into a list or set of a module that
                    compiled code reads, or calls a method that does; args: 0 what is put in; details: "name", the
                    attribute, and "head", "at", "to", "counts" and "through" as above
- `set global of compiled`  code that is not compiled assigns a whole number to a global, to an attribute of an object
                    that is one, or to a constant place of a list or a dictionary that is, or a loop at the top of the
                    file binds it, which compiled code of the file reads; args: 0 the value; details: "to" and "at",
                    the function that reads it and where that is ("PATH:LINE"), "counts" as above
- `keep by size`    a module keeps a size that decides what the next call does, or something in a dictionary under a
                    size; details: "how" ("number", "item")
- `decide by number`  a `forward` is given a number and does what makes it a constant of the graph, or hands it to what
                    does; at its name there; details: "use" (pt2lint.static.observers.uses), "at", where, and "name"
- `fix size`        the size of an argument of a compile root becomes a constant of the graph, decides which one is
                    made, or a test of it is given to what takes no symbol; details: "how" ("range", "items", "length",
                    "text", "decides", "flag"), and "size", the argument
- `attribute of compiled`  an attribute of a compiled module is read; details: "name", "self" (the module), for a
                    method of the project "method": what it does ("calls self", "calls LAYER", ""), "part" for a
                    module in it, "aware" in a file that mentions `_orig_mod` ("of the module" that is
                    taken out, or "of the prefix" of names), and "within",
                    what its names begin with in another wrapper ("module."), "maybe" where it need not be compiled
- `compile block`   a module is compiled, of a class of which a loop makes objects with a number each that `forward`
                    reads in any case; details: "class", "number" ("CLASS.ATTRIBUTE"), and "at", where it is read; or
                    where a "method" of it under `@torch.compile` reads that; or, with "apart": "yes", one that picks or
                    names something by it, or by an attribute that a loop sets, whether it is compiled by itself or not;
                    with "varied": "yes", a number that each is given out of a list
- `compile parametrized block`  the same of a layer that is parametrized, "number", whoever makes the objects
- `call uncompiled`  code that is not compiled calls a module as it was, or gives it to a function that does, where
                    torch.compile returned a wrapper of it; details "name", the module's, "line", where it was
                    compiled, "of", where what holds it was, and "both" where the function that calls it is given the
                    wrapper too, or is traced
- `hide compiled`   what torch.compile made of a module is assigned to an attribute of a module whose class has a
                    method of that name, which Python finds first; details: "class"
- `unfreeze`        code that is not compiled sets `requires_grad` of a compiled module, of a part of it, or of
                    parameters that a loop over those of one gives; details: "of", that part, and "head", the first
                    name of it
- `compile generator`  a generator function is compiled; details: "name"
- `compile class`   a class is compiled that has no `__call__` and is no module; details: "name"
- `isinstance of compiled`  a compiled module is tested by isinstance; details: "maybe" where it need not be compiled
- `tensor by metaclass`  a tensor is tested by isinstance for a class whose metaclass says what is of it
- `type of compiled`  the type of a module that torch.compile wrapped is asked for; details as above
- `forward of compiled`  `forward` of a module that was compiled in place is called by name; or a method of a class of
                    modules calls its own: details "own", the method, "in place" where a module of the class is compiled
                    in place, "traced" where Dynamo traces the method
- `foreign name`    a name from `named_parameters()` of a module that torch.compile wrapped is looked up among names
                    from one that it did not, or among texts; or the other way about; details: "wrapped" ("left",
                    "right")
- `cut name`        the prefix of a compiled module is taken off a name, and more or less than that; details: "how"
                    ("letters", "dots")
- `names of given`  names of a module that a function is given are compared with others; details: "name", "outcome",
                    and "compiles": "yes" where the file wraps modules by torch.compile itself
- `type of given`   a module that a function is given is refused for its class; details: "name", "compiles",
                    "outcome" of a comparison of its type, and "plain", what the function itself took the wrapper off
- `state of given`  the state of a module that a function is given is saved; details: "name", "compiles"
- `load of given`   a module that a function is given loads a state, where the function reads files of tensors; details:
                    "name", "compiles"
- `class of given`  the class of a module that a function is given is asked for its name, by which something is filed,
                    looked up or compared; details as for `signature of given`
- `strip given`     what DistributedDataParallel puts before names is taken off those of a state that a function is
                    given, or reads; details: "name", "does" ("replace", "removeprefix", "startswith"), "compiles"
- `truth of given`  a module that a function is given, or None, is tested for truth; details as for `signature of given`
- `signature of given`  the signature of the `forward` of a module that a function is given is asked for; details:
                    "name", "compiles"
- `unwrap given`    a wrapper that spreads a module is taken off one that a function is given; details: "name",
                    "compiles"
- `late hook`       a hook is added to a part of a module that was compiled and called before, or to a module that a
                    compiled function called
- `load plain state`  a module that torch.compile wrapped is given the `state_dict()` of one that it did not wrap;
                    details: "from": "elsewhere" where no module of the file gave the state, "inside" where the file
                    saves that of the module inside the wrapper
- `copy of compiled`  a module is copied that was compiled in place (details: "in place"), or that holds a compiled
                    method of its own (details: "bound", the method's name)
- `compile torch forward`  `compile()` of a module whose `forward` is torch's own; args: "self", the class that has it
- `state of compiled part`  `state_dict()` of a module, a part of which torch.compile wrapped; details: "part", and
                    "listed" where that is a list of modules, whose items are wrapped
- `replace part`    `self.net = torch.compile(self.net)`; details: "owner", "module" where the object is one, and
                    "torch" where the part is of a class of torch
- `assert tensor`   a plain `assert` of a tensor in compiled code, inside of a `try` for AssertionError; details:
                    "caught", the line of that `try`
- `assert object`   what is no tensor and no constant stands alone in an `assert`, or last in it; details: "what":
                    "list", "tuple", "set" or "dictionary" (of tensors, modules or objects), "module" or "object",
                    and "asks": its "length", whether it is "there", or "" for what its class says
- `set setting`     an attribute of a module of torch's settings is assigned; details: "holder", that module, "name";
                    "thread" and "thread at", a function that calls compiled code and that another thread runs, and
                    where that is started, "also here": "yes" where the thread at hand calls compiled code, too;
                    of a memory budget "draws" and "drawn at", what traced code draws at random, and where, and
                    "surely" where the code says that its rate is above 0
- `adapt compiled`  what torch.compile wrapped is given to a library that puts adapters into modules
- `decorate compile`  torch.compile decorates a function and is given arguments: as of `call torch.compile`
- `decorate compile inside`  so does it a function that traced code defines
- `set traced method`  a method of a class is replaced after compiled code that runs it was called
- `call cached`     a function under functools.lru_cache is called; details: "name", and "draws": what it draws random
                    numbers with
- `call NAME` that stands in a function of a file that is not linted is noted at the call of that function; details:
                    "elsewhere"
- `draw in cond`    torch.cond is called, and a branch draws random numbers; details: "draws" with what, "where" it does
- `in NAME`         an external object is asked whether it contains something: `in os.environ`
- `change attribute`, `change global`  an int attribute of a module or an int global is read and written back; details:
                    "made", where `__init__` makes the attribute, if nothing else knows of it; "hook": "yes" of an
                    object that adds a method of its own to a module as a hook; "in": of an "object", a
                    "dictionary" or a "list" that is a global
- `read counted`    an attribute in which the framework counts that runs a module is read: `self.current_epoch`
- `change item`    a number in a dictionary that outlives the call is added to: `state["step"] += 1`;
                    details "made": "LINE COLUMN END_COLUMN" of the number that it starts as, if that is one place
- `convert attribute`  an attribute of an object that outlives the call is another dtype or device of itself:
                    `self.x = self.x.to(y)`
- `fill cache`      an attribute, a global or an item of one is set where a test of it found nothing that fits;
                    args: 0 the value; details: "module": "yes" where the object is one; "state": "yes" where it is
                    None at first and then what each call leaves to the next one
- `miss attribute`  a traced method looks for an attribute of its object that only it sets, in a way of which Dynamo
                    does not guard that it is missing; details: "name", "how" ("try", "suppress", "dict", "vars"), and
                    "carries": "yes" where what it keeps there is computed of what this call is given
- `compare setting` a module's number is compared that a method sets which nothing traced runs; details "by", "name"
- `first call`      a test, of an item that an object keeps, that the branch under it makes come out otherwise
- `count once`      an int of an object that outlives the call, and is no module's, is read and written back
- `grow attribute`, `grow global`  a list attribute or global is appended to, and nothing in sight empties it as
                    often as it is appended to
- `grow buffer`    a buffer of a module is joined to something and kept
- `wait for argument`  a method is called with an argument that is computed on the spot, so that it is bound before;
                    details "of": "builtin" (a list, dictionary, set or text), "tensor" or "module"
- `go over full deque`  a function goes over a deque with a `maxlen` that was there before, behind where it puts
                    something into it; details "line", where that is
"""

from __future__ import annotations

from typing import Literal, NamedTuple, TypeVar

from pt2lint.finding import Step
from pt2lint.said import plain

Inside = Literal["loop", "try", "with"]
ARRAY = "an array, a tensor to Dynamo"  # in `Op.why`, what NumPy returns
DRAWN = (
    "the random numbers that it draws"  # in why a call of a library ends the graph: Python decides by them
)
NO_METHODS = "Dynamo traces functions of NumPy's, not their methods"  # the same of `np.maximum.at`
NO_VERSION = "Dynamo has no version of this function of NumPy's"  # why a call of it ends the graph
# Methods that take something out of a list, a deque, a dictionary or a set.
SHRINKS = ("clear", "discard", "pop", "popitem", "popleft", "remove")
ITERATORS = (
    "generator of ",
    "iterator from outside of ",
)  # what the words for iterators (`Op.args`) begin with
# So many ways of compiling a function Dynamo keeps; from then on it runs the function uncompiled.
RECOMPILE_LIMIT = 8
SPREAD_OUT = "Dynamo does not trace how it calls the module inside it"  # why DistributedDataParallel does
# Why a transform of torchvision does.
ASKS_DEVIATION = (
    "it tests whether a standard deviation is zero; the one of torchvision.transforms.v2 stays in the graph"
)
RENAMED = "it warns that it has another name now"  # why a method of optimizers does that programs have copied
# Why SyncBatchNorm does: measured between two GPUs, on torch 2.11 (GB0208); torch 2.6 to 2.15 ask the same.
SYNCED = "where several processes train, it asks whether a CUDA graph is being recorded"
DREW = "a random number is traced as a tensor"  # `Op.why` of one that Python or NumPy drew
Range = tuple[int, int, int, int]
Key = TypeVar("Key")


class Op(NamedTuple):
    """An operation at one expression or statement; the range counts as a Finding's does.

    `args` says of each argument (by position or keyword) what it is: "tensor:bool", "tensor", "int", "none",
    "list of tensor", "function over a tensor" (a lambda that reads one), "number" or "whole number" (what NumPy makes
    of Python numbers), "unknown" and so on; "self" is a method's
    receiver. `details` says by name what else is known, above all what is listed above for the operation; of any call,
    "input" is there where the receiver is an input of the graph, "weights" where it is a module that may have some, and
    "constant" names the arguments that are tensors of Python's numbers, or of a whole number that was there before. A
    keyword of the user's may be called as a detail is: that is why the two are apart. `why` says in a reader's words
    what the value is and where it came from; `flow` is the chain of calls from the compile root.
    `inside` is the innermost construct around it in which a break can make Dynamo give up the whole frame. `sure` is
    False where the interpreter had to assume something. `region` is False where Dynamo does not trace the code.
    Lines of code in `why`, `args` and `details` are marked (pt2lint/said.py); `arg` and `detail` give them without.
    `caller` says where, on the way here, a function calls from inside of such a construct, or a method of what it
    makes: "inside a loop of `M.forward`", "on an object made in `f`".
    `when` are conditions without which the code does not run, in its own words, on all ways from the root; `rare` says
    why it seldom does: "`verbose` is off by default", "once", "on an error path".
    `layers` says that a loop over modules leads here, `before` and `after` how many operators the root has up to
    here and from here on (a loop counts twice at most), `roots` how many compiled functions lead here.
    `optional`: an option, an argument or its type has to be so, and not only the mode or a dtype, which all meet.
    `parts`: on some way what is compiled has operators on both sides.
    `open`: nothing says that what leads here is compiled: modules of a package.
    `whole`: all that leads here is compiled with `fullgraph=True`, which raises where the graph breaks.
    `within` is what runs the code as a graph of its own, on all ways: Dynamo leaves all of that to Python where it
    breaks, or raises (`insists`): "torch.utils.checkpoint.checkpoint", "torch.cond".
    `uses` lists what is done with the object that the call made: "step in region", "given to NAME".
    """

    name: str
    line: int
    column: int
    end_line: int
    end_column: int
    args: dict[int | str, str] = {}
    why: str = ""
    sure: bool = True
    inside: Inside | None = None
    region: bool = True
    flow: tuple[Step, ...] = ()
    uses: frozenset[str] = frozenset()
    caller: str = ""
    when: tuple[str, ...] = ()
    rare: str = ""
    layers: bool = False
    before: int = 0
    after: int = 0
    roots: int = 1
    optional: bool = False
    parts: bool = True
    open: bool = False
    whole: bool = False
    within: str = ""
    insists: bool = False
    details: dict[str, str] = {}

    @property
    def range(self) -> Range:
        return (self.line, self.column, self.end_line, self.end_column)

    def arg(self, *keys: int | str) -> str:
        """What the argument given under one of these positions or keywords is; "" if it is not given."""
        return plain(next((self.args[k] for k in keys if k in self.args), ""))

    def detail(self, name: str) -> str:
        """What else is known by this name (see the names of operations); "" if it is not."""
        return plain(self.details.get(name, ""))


def either(a: str, b: str) -> str:
    """What an argument is (in the words of Op.args) that is `a` in one call and `b` in another."""
    return " | ".join(dict.fromkeys(p for p in [*a.split(" | "), *b.split(" | ")] if p))


def in_either(old: dict[Key, str], new: dict[Key, str]) -> dict[Key, str]:
    """What arguments or details are in either of two calls."""
    if not old or not new:
        return old or new
    return {k: either(old.get(k, ""), v) for k, v in {**old, **new}.items()}
