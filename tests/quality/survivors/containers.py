"""Tuples, lists, sets and dicts that were made here: what nobody sees as long as nobody else has them."""

from __future__ import annotations

from tests.quality.survivors.running import Running
from tests.quality.survivors.symbols import NUMBERS, Made, Term

METHOD = "method"
GROWING = tuple((METHOD, name) for name in ("append", "extend", "update"))
LIST_METHODS = frozenset(name for name in vars(list) if not name.startswith("_"))


def build_tuple(run: Running) -> bool:
    """Make a tuple, which is its items."""
    return run.give(run.count, run.state.symbols.of("tuple", None, run.many(run.count)))


def build_list(run: Running) -> bool:
    """Make a list."""
    return run.give(run.count, run.state.make("list", run.many(run.count)))


def build_set(run: Running) -> bool:
    """Make a set of numbers and texts, which are hashed by no code of the program."""
    items = run.many(run.count)
    return are_plain(run, items) and run.give(run.count, run.state.make("set", items))


def are_plain(run: Running, terms: tuple[Term, ...]) -> bool:
    """Return whether values are numbers and texts of the code."""
    return all(type(run.state.symbols.values.get(term, ...)) in (*NUMBERS, str) for term in terms)


def build_map(run: Running) -> bool:
    """Make a dict whose keys are constants."""
    flat = run.many(2 * run.count)
    return dict_of(run, flat[::2], flat[1::2], 2 * run.count)


def build_const_key_map(run: Running) -> bool:
    """Make a dict of a constant tuple of keys."""
    keys = run.state.items(run.top())
    return (
        keys is not None and len(keys) == run.count and dict_of(run, keys, run.many(run.count + 1)[:-1], run.count + 1)
    )


def dict_of(run: Running, keys: tuple[Term, ...], values: tuple[Term, ...], pops: int) -> bool:
    """Make a dict, if its keys are numbers and texts."""
    return are_plain(run, keys) and run.give(pops, run.state.make(("dict", keys), values))


def build_slice(run: Running) -> bool:
    """Make a slice, which looks at nothing."""
    return run.give(run.count, run.state.symbols.of("slice", None, bounds_of(run, run.count)))


def bounds_of(run: Running, count: int) -> tuple[Term, ...]:
    """Return the three bounds of a slice of which two or three are given."""
    return (*run.many(count), run.state.symbols.constant(None))[:3]


def load_subscr(run: Running) -> bool:
    """Take a slice of a list that nobody has seen, between places that stand in the code."""
    owner, index = run.many(2)
    container, node = run.state.made.get(owner), run.state.symbols.nodes[index]
    if container is None or container.how != "list" or node.what != "slice":
        return False
    bounds: list[int | None] = []
    for item in node.items:
        bound = run.state.symbols.values.get(run.state.resolve(item), ...)
        if bound is not None and not isinstance(bound, int):
            return False
        bounds.append(bound)
    first, last, stride = bounds
    return stride != 0 and run.give(2, run.state.make("list", container.items[first:last:stride]))


def grow(run: Running, owner: Term, items: tuple[Term, ...] | None, what: str = "list") -> bool:
    """Let a list or set grow that nobody has seen, by what is known."""
    container = run.state.made.get(owner)
    if container is None or container.how != what or items is None:
        return False
    run.state.made[owner] = Made(what, container.items + items)
    return True


def list_append(run: Running) -> bool:
    """Put one value into a new list."""
    return grow(run, run.top(run.count + 1), run.many(1)) and run.give(1)


def list_extend(run: Running) -> bool:
    """Put the items of a tuple or new list into a new list."""
    return grow(run, run.top(run.count + 1), run.state.items(run.top())) and run.give(1)


def set_update(run: Running) -> bool:
    """Put the numbers and texts of a tuple or new list into a new set."""
    items = run.state.items(run.top())
    are_known = items is not None and are_plain(run, tuple(run.state.resolve(item) for item in items))
    return are_known and grow(run, run.top(run.count + 1), items, "set") and run.give(1)


def load_attr(run: Running) -> bool:
    """Make the method of a list or dict that was made here: its type is exactly that, and nobody can change it."""
    method = method_of(run, run.name)
    return method is not None and run.give(1, method)


def load_method(run: Running) -> bool:
    """Make such a method to call it; its owner stands in it, and no second time."""
    name, shape = run.pair
    method, null = method_of(run, str(name)), run.state.symbols.null
    return method is not None and run.give(1, *((null, method) if shape == "below" else (method, null)))


def method_of(run: Running, name: str) -> Term | None:
    """Return a method of the list on top of the stack, or of a new dict, if that is surely one."""
    owner = run.top()
    container = run.state.made.get(owner)
    is_list = container.how == "list" if container is not None else run.state.symbols.sort(owner) == "list"
    has_method = name in LIST_METHODS if is_list else container is not None and is_dict(container) and name == "update"
    return run.state.make((METHOD, name), (owner,)) if has_method else None


def is_dict(new_object: Made) -> bool:
    """Return whether an object is a dict."""
    return isinstance(new_object.how, tuple) and new_object.how[0] == "dict"


def update(run: Running, owner: Term, other: Term) -> bool:
    """Let a dict take over another one, nobody having seen either, if their keys are texts."""
    both = run.state.made.get(owner), run.state.made.get(other)
    items_by_key: dict[Term, Term] = {}
    for container in both:
        if container is None or not is_dict(container) or not isinstance(container.how, tuple):
            return False
        items_by_key.update(zip(container.how[1], container.items))
    if any(type(run.state.symbols.values[name]) is not str for name in items_by_key):
        return False
    run.state.made[owner] = Made(("dict", tuple(items_by_key)), tuple(items_by_key.values()))
    return True


def unpack_sequence(run: Running) -> bool:
    """Take a tuple or list apart that is known."""
    items = run.state.items(run.top())
    return items is not None and len(items) == run.count and run.give(1, *reversed(items))


def grows(run: Running, method: Made) -> bool:
    """Call a method that lets a new list or dict grow, with what is on top of the stack."""
    owner, value = run.state.resolve(method.items[0]), run.top()
    if method.how == (METHOD, "update"):
        return update(run, owner, value)
    return grow(run, owner, (value,) if method.how == (METHOD, "append") else run.state.items(value))
