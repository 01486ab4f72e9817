"""Kinds of recompiles, by the place of the value and by the kind of change."""

from __future__ import annotations

from dataclasses import replace

from depyf.findings.catalogue.kind import Change, Kind, Place
from depyf.model.guard_failure import Check

PLACES = {
    Place.ARGUMENT: "an argument",
    Place.ELEMENT: "an item of a container",
    Place.MODULE: "an attribute of a module",
    Place.OBJECT: "an attribute of an object",
    Place.GLOBAL: "a global variable",
    Place.CLOSURE: "a variable of the enclosing function",
}
"""The places of a value that is not a tensor."""

_AS_TENSOR = "make `{subject}` a tensor, `torch.tensor(...)` of the number, and use it as one"
CHANGES = {
    Change.INT: ("the number {named} was {change}", _AS_TENSOR),
    Change.FLOAT: ("the number {named} was {change}", _AS_TENSOR),
    Change.STRING: (
        "the string {named} was {change}",
        "look up values that depend on `{subject}` before the call, and pass the result as a tensor",
    ),
    Change.BOOL: (
        "the flag {named} was {change}",
        "make `{subject}` a tensor, `torch.tensor({expected})`, and choose with `torch.where({subject}, ..., ...)`",
    ),
    Change.NONE: (
        "{value} was {change}",
        "pass a tensor as `{subject}` in every call: instead of None, one with which the function returns the same",
    ),
    Change.TYPE: (
        "the type of {value} was {change}",
        "convert `{subject}` to one type before the call",
    ),
    Change.LENGTH: (
        "the length of {value} was {change}",
        "pass the items of `{subject}` stacked in one tensor `t`, after `torch._dynamo.mark_dynamic(t, 0)`",
    ),
    Change.CONSTANT: (
        "the constant {named} was {change}",
        "move code that depends on `{subject}` out of the compiled function, before the call",
    ),
    Change.FUNCTION: (
        "the function {named} was {change}",
        "define the function once, before the first call, and use that one in all calls",
    ),
}
"""The changes of such a value, with their sentence and their fix."""

_IN_PLACE = "; change it in place with `fill_`"
"""Before 2.5 torch expects an attribute of a module to be the same tensor in all calls."""
_SCALARS = (Change.INT, Change.FLOAT, Change.BOOL)

OTHER_CLASS = "each class needs an entry of its own"
"""For an object of another class, which no conversion makes one of the first class."""

EACH_VALUE = "each value needs an entry of its own"
"""For a string or a flag that a call or the structure of the result needs, so that no tensor replaces it."""

EACH_BRANCH = f"a branch on it selects what runs, so {EACH_VALUE}"
"""For a string on which a branch runs other operations."""
EACH_FUNCTION = "each function needs an entry of its own"
"""For a function in the place of another one, which is no second definition of the same function."""

VALUES = {
    (place, change): Kind(
        f"{place.value}-{change.value}",
        cause,
        fix + _IN_PLACE if place is Place.MODULE and change in _SCALARS else fix,
        place=place,
        change=change,
        place_words=words,
    )
    for place, words in PLACES.items()
    for change, (cause, fix) in CHANGES.items()
}

_STATIC = (
    "remove `dynamic=False`, or what else sets `torch._dynamo.config.automatic_dynamic_shapes` to False: without it, "
)
MADE_STATIC = f"{_STATIC}torch makes a size dynamic at its second value"
NUMBER_MADE_STATIC = f"{_STATIC}torch makes a number a symbol at its second value"
"""For a size that torch would make dynamic by itself if the program did not forbid it."""

TENSORS = {
    Check.SIZE: Kind(
        "tensor-size",
        "the size of {value} was {change}",
        "call `torch._dynamo.mark_dynamic({subject}, {dimensions})` before the first call",
    ),
    Check.RANK: Kind(
        "tensor-rank",
        "the size of {value} was {change}: another number of dimensions",
        "reshape `{subject}` to one number of dimensions before the call",
    ),
    Check.STRIDE: Kind(
        "tensor-stride",
        "the stride of {value} was {change}",
        "pass `{subject}.contiguous()`",
    ),
    Check.DTYPE: Kind(
        "tensor-dtype",
        "the dtype of {value} was {change}",
        "convert it before the call: `{subject}.to({expected})`",
    ),
    Check.DEVICE: Kind(
        "tensor-device",
        "{value} was {device_change}",
        "create or move it before the call, on one device: `{subject}.to({expected})`",
    ),
    Check.REQUIRES_GRAD: Kind(
        "tensor-requires-grad",
        "requires_grad of {value} was {change}",
        "give `{subject}` the same `requires_grad` in all calls: `{subject}.detach()` where no gradient is needed",
    ),
    Check.TYPE: Kind(
        "tensor-type",
        "the type of {value} was {change}",
        "pass one type: `{subject}.detach()` is a plain tensor",
    ),
    Check.DISPATCH_KEYS: Kind(
        "tensor-dispatch-keys",
        "the dispatch keys of {value} were {change}",
        "pass a plain tensor: `{subject}.resolve_conj()` of a lazy conjugate",
    ),
    Check.ALIASING: Kind(
        "tensor-aliasing",
        "one tensor was passed twice ({subject})",
        "pass a copy: `.clone()` of one of them",
    ),
}

LAYOUT = Kind(
    "tensor-layout",
    "{value} was a sparse tensor in some calls and a dense one in others",
    "",
)
"""Without advice, because the compile for the sparse tensor ends with a graph break, whose finding has it."""
SIZE_ONE = Kind(
    "tensor-size-one",
    "the size of {value} was {change}",
    "",
    is_expected=True,
    note="torch compiles a size of 0 or 1 separately",
)
"""For a size that is 0 or 1 in one of the calls."""
DIMENSION_ONE = Kind(
    "tensor-size-one",
    "dimension {dimension} of {value} was {actual}",
    "",
    is_expected=True,
    note="torch compiles a size of 0 or 1 separately",
)

OFFSET_ZERO = Kind(
    "storage-offset",
    "the storage offset of {value} was {actual}",
    "",
    is_expected=True,
    note="torch compiles an offset of 0 or 1 separately",
)
"""For a view at the beginning of its storage, such as the first batch of `data.split(8)`."""
SIZE_SPECIALIZED = Kind(
    "tensor-size-specialized",
    "the size of {value} was {change}",
    "pad `{subject}` to one size before the call",
    note="torch compiles each size separately",
)
"""For a size that a loop or a call needs as a number. Marking it as dynamic would raise an exception."""
HELD_SIZE = replace(
    SIZE_SPECIALIZED,
    fix="create `{subject}`, and all tensors of the same size, once: with the largest size, as a static cache does",
)
"""For such a size of a tensor that an object holds, which has to match other tensors."""
PARAMETER_SIZE = Kind(
    "parameter-size",
    "the size of the parameter {value} was {change}",
    "set `torch._dynamo.config.force_parameter_static_shapes = False` before the first call",
    note="torch compiles each size of a parameter separately",
)
LIMIT_OF_MODULES = (
    "set `torch._dynamo.config.recompile_limit` above the number of such modules: they share the code of one "
    "`forward`, and its limit"
)
"""The fix where many modules of a class of torch's, such as `Sequential`, have other parts each."""
LIMIT_OF_OBJECTS = (
    "set `torch._dynamo.config.recompile_limit` above the number of such objects: they share the code of one method, "
    "and its limit"
)
OF_EACH_OBJECT = Kind(
    "attribute-of-each-object",
    "{value} was {change}",
    "compute in `__init__` what depends on `{subject}`, if it has fewer values",
    note="`__init__` alone sets it, so each object has its own",
)
"""For an attribute that differs because another object of the class was called."""
CLASS_AGAIN = Kind(
    "class-defined-again",
    "the class {actual} of {value} was defined again",
    "define the class once, before the first call, and create all objects from it",
)
INSIDE = Kind(
    "tensor-size-inside",
    TENSORS[Check.SIZE].cause,
    "compile with `dynamic=True`: there is no variable of yours to mark as dynamic",
)
"""For the size of a tensor that the user's call of a library does not name."""
ARRAY_FIXES = {
    TENSORS[Check.SIZE].name: "compile with `dynamic=True`: only a tensor can be marked as dynamic",
    TENSORS[Check.RANK].name: TENSORS[Check.RANK].fix,
    TENSORS[Check.DTYPE].name: "convert the array to one dtype before the call, with `{subject}.astype(...)`",
    TENSORS[Check.STRIDE].name: "pass `numpy.ascontiguousarray({subject})`",
}
"""The fixes for arrays of numpy, by the kind of the same change of a tensor."""

_MATMUL_PRECISION = Kind(
    "matmul-precision",
    "{value} was {change}",
    "call `torch.set_float32_matmul_precision` once, before the first call",
)
FUNCTION_TRANSFORM = Kind(
    "function-transform",
    "it was called inside of a transform of `torch.func`, such as `vmap` or `grad`, and outside",
    "",
    is_expected=True,
)
STATES = {
    "grad_mode": Kind("grad-mode", "it was called with gradients on and off", "", is_expected=True),
    "training": Kind("train-eval", "it was called in training and in evaluation ({value})", "", is_expected=True),
    "inference_mode": Kind("inference-mode", "it was called under `inference_mode` and without", "", is_expected=True),
    "autocast": Kind(
        "autocast",
        "it was called with autocast {change}",
        "enter one `torch.autocast` in all calls, or `torch.autocast` inside of the compiled function",
    ),
    "default_dtype": Kind(
        "default-dtype",
        "the default dtype was {change}",
        "call `torch.set_default_dtype` once, before the first call",
    ),
    "default_device": Kind(
        "default-device",
        "the default device was {change}",
        "call `torch.set_default_device` once, before the first call, or pass `device=` where a tensor is created",
    ),
    "num_threads": Kind(
        "num-threads",
        "the number of threads was {change}",
        "call `torch.set_num_threads` once, before the first call",
    ),
    "deterministic_algorithms": Kind(
        "deterministic-algorithms",
        "`deterministic_algorithms` was {change}",
        "call `torch.use_deterministic_algorithms` once, before the first call",
    ),
    "torch_function_modes": Kind(
        "torch-function-modes",
        "the torch function modes were {change}",
        "",
    ),
    "functorch": FUNCTION_TRANSFORM,
    **dict.fromkeys(("allow_tf32", "cuda_matmul_precision"), _MATMUL_PRECISION),
}

DEVICE_CONTEXT = Kind(
    "device-context",
    "it was called inside of `with torch.device(...)` and outside, or inside of another number of them",
    "make all calls inside of the same `with torch.device(...)`, or pass `device=` where a tensor is created",
)
OTHER_STATE = Kind("state", "{value} was {change}", "")
"""For a state of torch without a row of its own."""

GROWS = "it grows{step} from one recompile to the next"
COUNTER = Kind(
    "counter",
    "the number {named} was {change}",
    "make `{subject}` a tensor (in a module: `register_buffer`) and change it in place with `add_`",
    note=GROWS,
)
SYMBOLIC_INTEGERS = "; or set `torch._dynamo.config.allow_unspec_int_on_nn_module = True` before the first call"
"""The switch with which torch treats the integers of modules as symbols, as it does with arguments."""
COUNTER_IN_CONDITION = Kind(
    "counter-in-condition",
    "the number {named} was {change}",
    "change `{subject}` before the call, and move the branch or the loop out of the compiled function",
    note=GROWS + ", and a branch or a loop depends on it",
)
"""For a counter that a tensor cannot replace: a branch on a tensor's value ends the graph."""
SET_IN_CALL = Kind(
    "set-in-call",
    "a call set {value}, which was {expected}, to {actual}",
    "set `{subject}` before the first call",
)
GROWTH = Kind(
    "growing-container",
    "the length of {value} was {change}",
    "do not change `{subject}` or read its length in the compiled function: give it all its items before the first "
    "call, or pass each new item alone and combine the results after the call",
    note=GROWS,
)
CHANGED_OUTSIDE = {
    COUNTER.name: "make `{subject}` a tensor (in a module: `register_buffer`) and set it in place with `fill_`",
    GROWTH.name: "give `{subject}` all its items before the first call, keep what is added between calls in another "
    "container, or pass only the items that a call needs",
}
"""The fixes for values that the compiled function does not change, by the names of their kinds."""
KEYS = Kind(
    "dict-keys",
    "the keys of {value} were {change}",
    "give `{subject}` the same keys in the same order in all calls",
)
FILLED = Kind(
    "dict-filled-in-call",
    KEYS.cause,
    "fill `{subject}` before the first call, with all its keys; a cache of keys and values gets tensors of their "
    "largest size, which the function changes in place (a static cache)",
    note="the compiled function itself fills it",
)
OTHER_NUMBER = replace(KEYS, cause="the number of keys of {value} was {change}")
IN_SOME_CALLS = "{value} had the {item} in some calls only"
KEY_IN_SOME_CALLS = replace(
    KEYS,
    cause="{value} had the {item} in some calls only",
    fix="give `{subject}` the same keys in all calls: the {item} with a value with which the function returns the same",
)
NUMBER_OF_MODULES = Kind(
    "number-of-modules",
    "the number of modules in {value} was {change}",
    "",
    note="each number of modules needs an entry of its own",
)
"""For a `ModuleList` or a `Sequential` that gets modules between calls, each of which runs in every later call."""
KEYWORDS = Kind(
    "keyword-arguments",
    "the keyword arguments {value} were {change}",
    "pass the same keywords in the same order in all calls",
)
MISSING_KEYWORD = replace(KEYWORDS, cause="the keyword argument {value} was passed in some calls only")
NUMBER_OF_KEYWORDS = replace(KEYWORDS, cause="the number of keyword arguments in {value} changed")
DEFAULTS = Kind(
    "argument-function",
    "the function {named} was defined again: a default or captured variable was {change}",
    CHANGES[Change.FUNCTION][1],
)
"""For a function with the same code but other defaults or captured variables."""
CAPTURED = {
    ("__closure__", int): "capture a tensor, `torch.tensor(...)` of the number, instead of the number",
    ("__closure__", str): "capture a tensor that is computed from the string, instead of the string",
    ("__defaults__", int): "make the default a tensor, `torch.tensor(...)` of the number",
    ("__defaults__", str): "make the default a tensor that is computed from the string",
}
"""The fixes for a captured variable or a default with another value, by its place: one function has one value."""
MISSING = Kind(
    "missing-attribute",
    "{value} existed in some calls only",
    "set `{subject}` before the first call, and keep it",
)
OWN_ATTRIBUTE = Kind(
    "own-attribute",
    "{value} was an attribute of the object itself in some calls only",
    "set `{subject}` before the first call, for example in `__init__`",
)
"""For an attribute that hides that of the class from the call on in which it is set."""
SYMBOLIC = Kind(
    "symbolic-shape",
    "{value} did not hold{values}",
    "",
)
DUCK_SIZE = Kind(
    "duck-size",
    "two sizes were equal in the first call and are not now{values}",
    "set `torch.fx.experimental._config.use_duck_shape = False` before the first call",
    is_expected=True,
    note="torch takes sizes that are equal at first for one size",
)
"""For an equality that torch itself added, because two dynamic sizes were equal by chance when it compiled."""
IDENTITY = Kind(
    "object-identity",
    "{value} did not hold: they were one object when the entry was made, and are two now",
    "",
    is_expected=True,
)
LEARNING_RATE = Kind(
    "learning-rate",
    "the learning rate {value} was {change}",
    "create the optimizer with its learning rate as a tensor: `lr=torch.tensor(...)`",
)
RATE_REPLACED = Kind(
    "element-type",
    "the type of {value} was {change}",
    'keep the learning rate a tensor, and change it in place: `param_groups[0]["lr"].fill_(rate)`, for each group',
    place=Place.ELEMENT,
    change=Change.TYPE,
    place_words=PLACES[Place.ELEMENT],
)
"""For a learning rate that was a tensor at first, and a number later."""
IN_CONDITION = Kind(
    "number-in-condition",
    "the number {named} was {change}",
    "move the branch or the loop that depends on `{subject}` out of the compiled function",
    note="a branch or a loop depends on it",
)
"""For a number that a tensor cannot replace: a branch on a tensor's value ends the graph."""
IN_CALL = Kind(
    "number-in-call",
    "the number {named} was {change}",
    "compile with `dynamic=True`: torch then treats `{subject}` as a symbol",
    note="a call or a slice needs it as a number",
)
HELD_IN_CALL = Kind(
    "held-number-in-call",
    IN_CALL.cause,
    "pass `{subject}` as an argument, and compile with `dynamic=True`: torch then treats it as a symbol",
    note=IN_CALL.note,
)
"""For a number in a global variable or a module's attribute, which torch treats as a constant."""
ONE_IN_CALL = Kind(
    "number-of-one",
    "the number {named} was {change}",
    "",
    is_expected=True,
    note="torch compiles 0 and 1 separately",
)
SPECIALIZED = Kind(
    "specialized-number",
    "the number {named} was {change}",
    "compute values that depend on `{subject}` before the call, and pass the result",
    note="torch compiles each value separately",
)
"""For a number that an entry treated as a symbol and then compared with a value, such as the index of a list."""
UNKNOWN = Kind("recompile", "{text}", "")

RECOMPILES: tuple[Kind, ...] = (
    *VALUES.values(),
    *TENSORS.values(),
    *(LAYOUT, SIZE_ONE, DIMENSION_ONE, OFFSET_ZERO),
    *(SIZE_SPECIALIZED, INSIDE),
    *STATES.values(),
    *(DEVICE_CONTEXT, OTHER_STATE, PARAMETER_SIZE, CLASS_AGAIN, OF_EACH_OBJECT),
    *(COUNTER, COUNTER_IN_CONDITION, SET_IN_CALL, GROWTH, KEYS, FILLED, NUMBER_OF_MODULES, KEYWORDS),
    *(MISSING, OWN_ATTRIBUTE, SYMBOLIC, DUCK_SIZE, IDENTITY, LEARNING_RATE),
    *(IN_CONDITION, IN_CALL, HELD_IN_CALL, ONE_IN_CALL, SPECIALIZED, UNKNOWN),
)
