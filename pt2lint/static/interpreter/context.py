"""The interpreter's parts, by the names under which they know each other."""

from __future__ import annotations

from pt2lint.libraries.model import Models
from pt2lint.static.interpreter.calls import Calls
from pt2lint.static.interpreter.classes import Classes
from pt2lint.static.interpreter.conditions import Conditions
from pt2lint.static.interpreter.events import Events
from pt2lint.static.interpreter.expressions import Expressions
from pt2lint.static.interpreter.functions import Functions
from pt2lint.static.interpreter.names import Names
from pt2lint.static.interpreter.notebook import Notebook
from pt2lint.static.interpreter.objects import Objects
from pt2lint.static.interpreter.statements import Statements
from pt2lint.static.interpreter.types import Types
from pt2lint.static.source.project import Project


class Context:
    """What every part, observer and library handler is given. Each part keeps its own memory."""

    __slots__ = (
        "calls",
        "classes",
        "conditions",
        "events",
        "expressions",
        "functions",
        "models",
        "names",
        "notebook",
        "objects",
        "statements",
        "types",
    )

    def __init__(self, project: Project, models: Models, notebook: Notebook) -> None:
        self.models, self.notebook, self.events = models, notebook, Events()
        self.names = Names(self, project)
        self.classes = Classes(self)
        self.objects = Objects(self)
        self.types = Types(self)
        self.functions = Functions(self)
        self.calls = Calls(self)
        self.expressions = Expressions(self)
        self.conditions = Conditions(self)
        self.statements = Statements(self)

    def start_anew(self) -> None:
        """Forget where the interpreter was: an error may have ended what it did in the middle."""
        self.notebook.quiet = self.notebook.doubt = 0
        self.statements.catching.clear()
        self.functions.active.clear()
        self.calls.decorating = 0
        self.expressions.left = 1
        self.expressions.begin()
