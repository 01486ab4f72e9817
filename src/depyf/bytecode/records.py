"""`dataclass` as in the standard library, made in a quarter of the time.

depyf defines some 350 data classes, of which a first capture loads 190 and uses 100. The standard library writes six
methods of each as text and compiles them, which takes 0.4 ms a class: half of what depyf took to load. Here `__init__`
alone is compiled, when the first instance is made. `__eq__`, `__hash__` and `__repr__` are ordinary functions that ask
for the fields. That a class is frozen is checked by the type checker and not again at runtime, which makes instances in
half the time, too.
"""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from dataclasses import dataclass as dataclass
else:
    from dataclasses import MISSING
    from operator import attrgetter
    from reprlib import recursive_repr

    def dataclass(cls=None, /, *, frozen=False, eq=True, repr=True, order=False, **options):
        """Take what `dataclasses.dataclass` takes and return such a class, whose `frozen` types alone hold.

        Args:
            frozen: whether instances are immutable to a type checker, and hashable; nothing enforces it at run time.
            eq: whether instances compare by their fields.
            repr: whether the text of an instance shows its fields.
            order: whether instances also have `<`, `<=`, `>` and `>=`.
            **options: the other options of `dataclasses.dataclass`, such as `slots`.
        """

        def decorate(cls):
            namespace = vars(cls)
            begins, shows, compares = (name not in namespace for name in ("__init__", "__repr__", "__eq__"))
            hashes = namespace.get("__hash__") is None
            processed = _processed(cls, init=False, eq=order, order=order, repr=False, **options)
            if begins:
                processed.__init__ = _written_once(processed)
                processed.__signature__ = _Signature()
            if repr and shows:
                processed.__repr__ = _repr
            if eq:
                equal, hashed = _comparing([field.name for field in dataclasses.fields(processed) if field.compare])
                if compares:
                    processed.__eq__ = equal
                if hashes:
                    processed.__hash__ = hashed if frozen else None
            return processed

        return decorate if cls is None else decorate(cls)

    def _processed(cls, **options):
        """Let the standard library make the class, without its search for `ClassVar` in the text of each annotation.

        The search takes three regular expressions a field, a third of the time of a class.
        """
        types = vars(cls).get("__annotations__")
        if (
            types is None
            or not all(isinstance(annotation, str) for annotation in types.values())
            or _SPECIAL & _words(types)
        ):
            return dataclasses.dataclass(**options)(cls)
        cls.__annotations__ = dict.fromkeys(types, object)
        processed = dataclasses.dataclass(**options)(cls)
        cls.__annotations__ = processed.__annotations__ = types
        for name, kind in types.items():
            processed.__dataclass_fields__[name].type = kind
        return processed

    _SPECIAL = {"ClassVar", "InitVar", "KW_ONLY"}

    def _words(types):
        return {word for kind in types.values() for word in kind.replace("[", ".").split(".")}

    def _written_once(processed):
        """Return an `__init__` that writes the class's own at its first call."""

        def __init__(self, *args, **values):
            _write_init(processed)
            processed.__init__(self, *args, **values)

        __init__.is_to_be_written = True
        return __init__

    class _Factory:
        """The default of a parameter whose value is made for each instance."""

        def __repr__(self):
            return "<factory>"

    FACTORY = _Factory()

    class _Signature:
        """The signature of a class whose `__init__` is to be written: `inspect` finds it there, once that is done."""

        def __get__(self, instance, owner):
            for base in owner.__mro__:
                if hasattr(vars(base).get("__init__"), "is_to_be_written"):
                    _write_init(base)
            raise AttributeError("__signature__")

    def _write_init(processed):
        """Compile the `__init__` of a class for its fields, as the standard library does."""
        scope, given, named, lines = {"FACTORY": FACTORY}, [], [], []
        for field in dataclasses.fields(processed):
            name, value, makes = field.name, field.default, field.default_factory is not MISSING
            scope[f"default_{name}"], scope[f"make_{name}"] = value, field.default_factory
            has_default = makes or value is not MISSING
            shown = f"make_{name}()" if makes else f"default_{name}"
            if field.init:
                default = "" if not has_default else " = FACTORY" if makes else f" = {shown}"
                (named if field.kw_only else given).append(name + default)
                shown = f"{shown} if {name} is FACTORY else {name}" if makes else name
            if field.init or has_default:
                lines.append(f"self.{name} = {shown}")
        if hasattr(processed, "__post_init__"):
            lines.append("self.__post_init__()")
        parameters = ", ".join(["self", *given, *["*"][: len(named)], *named])
        exec(f"def __init__({parameters}):\n " + "\n ".join(lines or ["pass"]), scope)
        init = processed.__init__ = scope["__init__"]
        init.__qualname__, init.__module__ = f"{processed.__qualname__}.__init__", processed.__module__
        init.__annotations__ = {field.name: field.type for field in dataclasses.fields(processed) if field.init}
        init.__annotations__["return"] = None

    def _comparing(names):
        values = attrgetter(*names) if len(names) > 1 else lambda of: tuple(getattr(of, name) for name in names)

        def equal(self, other):
            if self.__class__ is not other.__class__:
                return NotImplemented
            return values(self) == values(other)

        def hashed(self):
            return hash(values(self))

        return equal, hashed

    @recursive_repr()
    def _repr(self):
        shown = (field.name for field in dataclasses.fields(self) if field.repr)
        return f"{self.__class__.__qualname__}({', '.join(f'{name}={getattr(self, name)!r}' for name in shown)})"
