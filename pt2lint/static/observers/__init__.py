"""What hears of events in the interpreted code and writes operations down; each can be left out.

An observer is a class that is made with the interpreter's `Context` and has a method for each event that it wants to
hear of (`EVENTS` in pt2lint/static/interpreter/events.py), and perhaps `finished(op, path)`, which may add to an
operation what is known of it in the end. No observer knows another, and the interpreter knows none of them.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from pt2lint.static.observers.array_keys import ArrayKeys
from pt2lint.static.observers.asserted_objects import AssertedObjects
from pt2lint.static.observers.bypassed import Bypassed
from pt2lint.static.observers.cached_functions import CachedFunctions
from pt2lint.static.observers.callers_loops import CallersLoops
from pt2lint.static.observers.changing_state import ChangingState
from pt2lint.static.observers.compiled_calls import CompiledCalls
from pt2lint.static.observers.compiled_classes import CompiledClasses
from pt2lint.static.observers.compiled_reads import CompiledReads
from pt2lint.static.observers.cut_names import CutNames
from pt2lint.static.observers.deciding_numbers import DecidingNumbers
from pt2lint.static.observers.early_questions import EarlyQuestions
from pt2lint.static.observers.fixed_sizes import FixedSizes
from pt2lint.static.observers.given_modules import GivenModules
from pt2lint.static.observers.given_options import GivenOptions
from pt2lint.static.observers.kept_state import KeptState
from pt2lint.static.observers.lifecycle import Lifecycle
from pt2lint.static.observers.method_kinds import MethodKinds
from pt2lint.static.observers.missed_attributes import MissedAttributes
from pt2lint.static.observers.missing_names import MissingNames
from pt2lint.static.observers.misuse import Misuse
from pt2lint.static.observers.numbered_blocks import NumberedBlocks
from pt2lint.static.observers.of_functions import OfFunctions
from pt2lint.static.observers.operators import Operators
from pt2lint.static.observers.outer_changes import OuterChanges
from pt2lint.static.observers.own_forward import OwnForward
from pt2lint.static.observers.redrawn import Redrawn
from pt2lint.static.observers.said_elsewhere import SaidElsewhere
from pt2lint.static.observers.set_outside import SetOutside
from pt2lint.static.observers.steps import Steps
from pt2lint.static.observers.threads import Threads
from pt2lint.static.observers.unfrozen import Unfrozen
from pt2lint.static.observers.untraced_objects import UntracedObjects
from pt2lint.static.observers.waiting_methods import WaitingMethods
from pt2lint.static.observers.ways import Ways

if TYPE_CHECKING:
    from pt2lint.static.interpreter.context import Context

EVERY: tuple[Callable[[Context], Any], ...] = (
    Lifecycle,
    ArrayKeys,
    CallersLoops,
    CompiledReads,
    CompiledCalls,
    SetOutside,
    GivenOptions,
    CompiledClasses,
    CutNames,
    ChangingState,
    Misuse,
    CachedFunctions,
    OwnForward,
    MethodKinds,
    OfFunctions,
    KeptState,
    FixedSizes,
    DecidingNumbers,
    Ways,
    Steps,
    GivenModules,
    NumberedBlocks,
    SaidElsewhere,
    Unfrozen,
    Threads,
    Redrawn,
    UntracedObjects,
    Operators,
    Bypassed,
    EarlyQuestions,
    MissingNames,
    OuterChanges,
    MissedAttributes,
    AssertedObjects,
    WaitingMethods,
)
