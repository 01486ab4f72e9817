"""One row a field: how data of the model is written as JSON, read back, followed while it changes, and described.

A `Form` says this for values of one kind, a `Row` for one field, and a `Record` for a class. The index, the running
log, the reader and the schema take the rows, which stand below the classes of the model.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from enum import Enum
from operator import attrgetter
from typing import Any

from depyf.bytecode.records import dataclass

Json = dict[str, Any]


def same(value: Any) -> Any:  # noqa: ANN401 - of any type
    """Return a value as it is."""
    return value


@dataclass(frozen=True, slots=True)
class OneLine:
    """A part of the index that is written without line breaks."""

    content: dict[str, Any] | list[Any] | tuple[Any, ...]


@dataclass(frozen=True, slots=True)
class Form:
    """How values of one kind are written, read and described.

    schema: the JSON schema of what is written.
    state: returns a value that differs after a change, for values that change in place.
    """

    schema: Json
    write: Callable[[Any], Any] = same
    read: Callable[[Any], Any] = same
    state: Callable[[Any], object] = same


TEXT, FLAG, NUMBER = Form({"type": "string"}), Form({"type": "boolean"}), Form({"type": "number"})
INTEGER, POSITIVE = Form({"type": "integer"}), Form({"type": "integer", "minimum": 1})
NATURAL = Form({"type": "integer", "minimum": 0})
OBJECT = Form({"type": "object"}, dict, dict, len)
"""Any JSON by name. Names are only added."""

DEFINITIONS: dict[str, Json] = {}
"""The schemas with a name, to which others refer."""


def named(name: str, form: Form, about: str = "") -> Form:
    """Return a form whose schema stands once, under a name.

    Args:
        name: the name in the schema's `$defs`.
        form: the form of the values.
        about: the description in the schema.
    """
    DEFINITIONS[name] = form.schema | ({"description": about} if about else {})
    return Form({"$ref": f"#/$defs/{name}"}, form.write, form.read, form.state)


def nullable(form: Form) -> Form:
    """Return the form of a value or None."""
    kind = form.schema.get("type")
    is_plain = isinstance(kind, str) and len(form.schema) == 1
    schema = {"type": [kind, "null"]} if is_plain else {"anyOf": [form.schema, {"type": "null"}]}
    write, read, state = form.write, form.read, form.state
    return Form(
        schema,
        lambda value: None if value is None else write(value),
        lambda written: None if written is None else read(written),
        lambda value: None if value is None else state(value),
    )


def empty_as_null(form: Form, empty: object) -> Form:
    """Return the form of a value that is null in JSON if it is empty."""
    read = form.read
    return Form(
        {"type": [form.schema["type"], "null"]},
        lambda value: value or None,
        lambda written: empty if written is None else read(written),
    )


def several(form: Form, **schema: object) -> Form:
    """Return the form of a tuple of values."""
    return _items(form, tuple, schema)


def growing(form: Form) -> Form:
    """Return the form of a list of values."""
    return _items(form, list, {})


def _items(form: Form, kind: type, schema: Mapping[str, object]) -> Form:
    write, read, state = form.write, form.read, form.state
    return Form(
        {"type": "array", "items": form.schema, **schema},
        list if write is same else lambda values: [write(value) for value in values],
        kind if read is same else lambda written: kind([read(item) for item in written]),
        tuple if state is same else lambda values: tuple([state(value) for value in values]),
    )


def mapping(form: Form) -> Form:
    """Return the form of a dict from names to values that JSON has."""
    return Form({"type": "object", "additionalProperties": form.schema}, dict, dict, lambda value: tuple(value.items()))


def choice(*words: str) -> Form:
    """Return the form of a word out of a few."""
    return Form({"enum": list(words)})


def by_value(kind: type[Enum]) -> Form:
    """Return the form of a member of an enum, which is written as its value."""
    return Form({"enum": [member.value for member in kind]}, attrgetter("value"), kind)


def by_name(kind: type[Enum]) -> Form:
    """Return the form of a member of an enum, which is written as its name."""
    return Form({"enum": [member.name for member in kind]}, attrgetter("name"), kind.__getitem__)


def one_line(form: Form) -> Form:
    """Return a form that is written without line breaks."""
    write = form.write
    return Form(form.schema, lambda value: OneLine(write(value)), form.read, form.state)


def items_of(record: Record) -> Form:
    """Return the form of a dict whose items are records, as of pairs."""
    return Form(
        {"type": "array", "items": record.schema()},
        lambda value: [record.write(pair) for pair in value.items()],
        lambda written: dict(map(record.read, written)),
    )


class Log(Enum):
    """How the running log follows a field."""

    WHOLE = "written again when it changes"
    GROWS = "only new items are written"
    APART = "written with the first line, or counted"


_REQUIRED = object()


@dataclass(frozen=True, slots=True)
class Row:
    """One field of a class: its key in JSON, its form, and its attribute, which has the name of the key if not given.

    attribute: the name of the attribute, or a function that takes it out of the value.
    argument: the parameter of the class that takes the value when it is read; None if it is not read.
    default: the value of an index without the key.
    older: returns the value from a whole object without the key.
    is_left_out: whether it is not written if it is empty.
    ready: whether an item of a growing field may be written to the log.
    """

    key: str
    form: Form
    attribute: str | Callable[[Any], Any] = ""
    about: str = ""
    default: object = _REQUIRED
    older: Callable[[Json], Any] | None = None
    is_left_out: bool = False
    argument: str | None = ""
    log: Log = Log.WHOLE
    ready: Callable[[Any], bool] | None = None

    @property
    def get(self) -> Callable[[Any], Any]:
        """Return the function that takes the field out of a value."""
        name = self.attribute or self.key
        return attrgetter(name) if isinstance(name, str) else name

    @property
    def argument_name(self) -> str:
        """Return the parameter of the class that takes the value."""
        return self.argument or (self.attribute if isinstance(self.attribute, str) and self.attribute else self.key)

    @property
    def schema(self) -> Json:
        """Return the schema of the field."""
        return self.form.schema | ({"description": self.about} if self.about else {})

    def read(self, written: Json) -> Any:  # noqa: ANN401 - of the field's type
        """Return the field's value from the JSON of its object.

        Raises:
            KeyError: the JSON lacks the key, which has no default.
        """
        return self.form.read(written[self.key]) if self.key in written else self.missing(written)

    def missing(self, written: Json) -> Any:  # noqa: ANN401 - of the field's type
        """Return the field's value from the JSON of an object that lacks the key.

        Raises:
            KeyError: the key has no default.
        """
        if self.older is not None:
            return self.older(written)
        if self.default is _REQUIRED:
            raise KeyError(self.key)
        return self.default() if isinstance(self.default, type) else self.default


class Record:
    """The rows of a class. A row of another record stands for all rows of that one.

    made: makes an instance from the fields by their arguments.
    inside: a record whose value is a field: its rows are written into the same object. It is the field `into`.
    within: takes that field out of an instance; by default it is the attribute.
    changes: whether an instance changes in place.
    """

    def __init__(
        self,
        made: Callable[..., Any],
        *rows: Row,
        inside: Record | None = None,
        into: str = "",
        within: Callable[[Any], Any] | None = None,
        changes: bool = False,
        about: str = "",
    ) -> None:
        self.made = made
        self.rows = rows
        self.changes = changes
        self._about = about
        self._inside, self._into = inside, into
        self._within = within or attrgetter(into or "__class__")
        self._writers = [(row.key, row.get, row.form.write, row.is_left_out) for row in rows]
        self._readers = [
            (row.argument_name, row.key, row.form.read, row.missing) for row in rows if row.argument is not None
        ]
        self._states = [(row.get, row.form.state) for row in rows]

    def write(self, value: Any) -> Json:  # noqa: ANN401 - an instance of the class
        """Return the JSON of an instance."""
        whole = self._inside.write(self._within(value)) if self._inside is not None else {}
        for key, get, write, is_left_out in self._writers:
            field = get(value)
            if not is_left_out or field not in _EMPTY:
                whole[key] = write(field)
        return whole

    def read(self, written: Json, **others: Any) -> Any:  # noqa: ANN401 - an instance of the class
        """Return the instance of some JSON.

        Args:
            written: the JSON of the instance.
            others: the arguments of the class that have no row.

        Raises:
            KeyError: the JSON lacks a required key.
        """
        if self._inside is not None:
            others[self._into] = self._inside.read(written)
        for argument, key, read, missing in self._readers:
            others[argument] = read(written[key]) if key in written else missing(written)
        return self.made(**others)

    def state(self, value: Any) -> object:  # noqa: ANN401 - an instance of the class
        """Return a value that differs after a change of an instance."""
        return tuple(state(get(value)) for get, state in self._states)

    def all_rows(self) -> Iterator[Row]:
        """Yield the rows, also those of a record inside."""
        if self._inside is not None:
            yield from self._inside.rows
        yield from self.rows

    def schema(self, **more: Json) -> Json:
        """Return the JSON schema, which requires every key that is always written. `more` are further properties."""
        rows = list(self.all_rows())
        about = {"description": self._about} if self._about else {}
        return {
            "type": "object",
            **about,
            "additionalProperties": False,
            "properties": {row.key: row.schema for row in rows} | more,
            "required": [*(row.key for row in rows if not row.is_left_out), *more],
        }

    @property
    def form(self) -> Form:
        """Return the form of an instance."""
        return Form(self.schema(), self.write, self.read, self.state if self.changes else same)


_EMPTY: tuple[object, ...] = ("", (), [], {}, None)


def tagged(key: str, kinds: Mapping[str, Record]) -> Form:
    """Return the form of an instance of one of several classes, whose word stands under a key."""
    words = {record.made: word for word, record in kinds.items()}

    def write(value: object) -> Json:
        word = words[type(value)]
        return {key: word, **kinds[word].write(value)}

    schemas = []
    for word, record in kinds.items():
        schema = record.schema()
        properties = {key: {"const": word}} | schema["properties"]
        schemas.append(schema | {"properties": properties, "required": [key, *schema["required"]]})
    return Form({"oneOf": schemas}, write, lambda written: kinds[written[key]].read(written))


def either(record: Record, form: Form) -> Form:
    """Return the form of an instance of a class, whose first key no other object has, or of another value."""
    first = record.rows[0].key

    def read(written: Any) -> Any:  # noqa: ANN401 - JSON
        return record.read(written) if isinstance(written, dict) and first in written else form.read(written)

    return Form(
        {"oneOf": [record.schema(), form.schema]},
        lambda value: record.write(value) if isinstance(value, record.made) else form.write(value),  # type: ignore[arg-type]
        read,
        lambda value: value if isinstance(value, record.made) else form.state(value),  # type: ignore[arg-type]
    )
