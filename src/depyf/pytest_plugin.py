"""Tests of torch's compiles: the marker `compiles`, the fixture `compiles`, and snapshots.

    @pytest.mark.compiles(graphs=1, breaks=0, recompiles=0)
    def test_step(): ...

Loading the plugin does not import torch; only a test that uses it does. Every such test runs with a reset Dynamo and
with caches in its own folder. So the order of tests and the processes of xdist do not matter.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

import pytest

if TYPE_CHECKING:
    from depyf.findings.contract.facts import Fact
    from depyf.torch.capture.expect import expect

MARKER = "compiles"
FOLDER = "__compiles__"
"""The folder beside a test file for its snapshots, with one folder for each test file."""

_NOTES = pytest.StashKey[list[str]]()
Compiles: TypeAlias = Callable[..., contextlib.AbstractContextManager["expect"]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots."""
    group = parser.getgroup("depyf", "what torch compiles")
    group.addoption("--update-compiles", action="store_true", help="write the snapshots of what tests compile")


def pytest_configure(config: pytest.Config) -> None:
    """Register the marker."""
    config.addinivalue_line(
        "markers",
        "compiles(graphs=None, breaks=None, recompiles=None, eager_calls=None, cache_misses=None, allow=(), "
        "snapshot=False, bits=None): the exact number of graphs that the test compiles, the most of the others, and "
        "whether bits are compared (depyf)",
    )
    config.stash[_NOTES] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Reset Dynamo for a test that uses the plugin, before its fixtures run."""
    wanted = item.get_closest_marker(MARKER) is not None or MARKER in getattr(item, "fixturenames", ())
    if not wanted:
        return (yield)
    if importlib.util.find_spec("torch") is None:
        return (yield)  # The test itself will report the error.
    from depyf.torch.capture.fresh import fresh_caches

    with tempfile.TemporaryDirectory(prefix="depyf_", ignore_cleanup_errors=True) as folder, fresh_caches(Path(folder)):
        return (yield)


@pytest.hookimpl(wrapper=True)
def pytest_runtest_call(item: pytest.Item) -> Iterator[None]:
    """Check the contract of a marked test."""
    __tracebackhide__ = True
    marker = item.get_closest_marker(MARKER)
    if marker is None:
        return (yield)
    with _checked(item, *marker.args, **marker.kwargs):
        return (yield)


@pytest.fixture
def compiles(request: pytest.FixtureRequest) -> Compiles:
    """Give a context manager that checks what its block compiles: `with compiles(graphs=1, breaks=0):`.

    It accepts the arguments of the marker. `snapshot` may be a name, for a test with several blocks.
    """

    def checked(*args: Any, **kwargs: Any) -> contextlib.AbstractContextManager[expect]:  # noqa: ANN401
        return _checked(request.node, *args, **kwargs)

    return checked


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Print how snapshots of another torch differ, which does not fail a test."""
    if config.stash[_NOTES]:
        terminalreporter.section("depyf: what torch compiles")
        for note in config.stash[_NOTES]:
            terminalreporter.line(note)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Send the notes of an xdist worker to the process that prints them."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["depyf"] = session.config.stash[_NOTES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ANN401 - xdist has no types
    """Receive the notes of an xdist worker."""
    node.config.stash[_NOTES].extend(getattr(node, "workeroutput", {}).get("depyf", ()))


@contextlib.contextmanager
def _checked(
    item: pytest.Item,
    *args: Any,  # noqa: ANN401
    snapshot: bool | str = False,
    bits: str | None = None,
    **kwargs: Any,  # noqa: ANN401
) -> Iterator[expect]:
    """Run a block that must keep a contract.

    With `snapshot`, it must compile exactly what the snapshot says. With `bits`, its graphs must have the same bits.
    """
    __tracebackhide__ = True
    from depyf.findings.contract.contract import CompileContractError
    from depyf.findings.contract.facts import facts
    from depyf.torch.capture.expect import expect

    contract, broken = expect(*args, **kwargs), ""
    try:
        with _kept_bits(bits), _unlogged(), contract:
            yield contract
    except CompileContractError as error:
        broken = str(error)
    if broken:
        pytest.fail(broken, pytrace=False)
    if snapshot:
        name = snapshot if isinstance(snapshot, str) else ""
        _compare(item, name, contract.session.torch_version, facts(contract.session, contract.contract.allow))


@contextlib.contextmanager
def _kept_bits(kind: str | None) -> Iterator[None]:
    """Run a block, and fail if its graphs have other bits than eager or than the rows of a batch alone."""
    __tracebackhide__ = True
    if kind is None:
        yield
        return
    from depyf.torch.bits.contract import BitsContractError, kept_bits

    broken = ""
    try:
        with kept_bits(kind):
            yield
    except BitsContractError as error:
        broken = str(error)
    if broken:
        pytest.fail(broken, pytrace=False)


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Keep torch's trace, which torch writes only for depyf, out of the log that pytest captures."""
    logger = logging.getLogger("torch.__trace")
    taken = [handler for handler in logger.handlers if type(handler).__module__.startswith("_pytest.")]
    for handler in taken:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in taken:
            logger.addHandler(handler)


def _compare(item: pytest.Item, name: str, torch_version: str, facts: list[Fact]) -> None:
    __tracebackhide__ = True
    from depyf.findings.contract.snapshot import compare, snapshot_text
    from depyf.model.writer import write_whole

    path = snapshot_path(item, name)
    where = path.relative_to(item.config.rootpath) if path.is_relative_to(item.config.rootpath) else path
    if item.config.getoption("--update-compiles"):
        write_whole(path, snapshot_text(item.name, torch_version, facts))
        return
    if not path.exists():
        pytest.fail(f"there is no snapshot {where}; write it with `pytest --update-compiles`", pytrace=False)
    difference = compare(path.read_text(encoding="utf-8"), torch_version, facts)
    if difference is None:
        return
    lines = "\n".join(f"  {line}" for line in difference.lines)
    if difference.is_of_torch:
        torches = f"{where} was written with torch {difference.made_with}; with {difference.now}"
        item.config.stash[_NOTES].append(f"{item.nodeid}: {torches} it compiles differently, but no worse:\n{lines}")
        return
    worse = "".join(f"\n  {line}" for line in difference.broken)
    ways = "If this is intended, update it with `pytest --update-compiles`."
    pytest.fail(f"it compiles differently than {where} says:\n{lines}{worse}\n{ways}{_details(facts)}", pytrace=False)


def _details(facts: list[Fact]) -> str:
    shown = [fact for fact in facts if fact.aspect not in ("graphs", "kernels")]
    return "".join(
        f"\n{fact.place}: {fact.text}" + "".join(f"\n  {detail}" for detail in fact.details) for fact in shown
    )


def snapshot_path(item: pytest.Item, name: str) -> Path:
    """Return the file of a test's snapshot: beside the test file, in a folder named after it."""
    from depyf.model.names import file_part

    test_name = f"{item.nodeid.partition('::')[2].replace('::', '.')}{f'.{name}' if name else ''}"
    return item.path.parent / FOLDER / item.path.stem / f"{file_part(test_name)}.txt"
