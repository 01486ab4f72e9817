"""Tests of what torch compiles: the marker `compiles`, the fixture `compiles`, and snapshots beside the tests.

    @pytest.mark.compiles(graphs=1, breaks=0, recompiles=0)
    def test_step(): ...

Loading it imports nothing of torch: only a test that asks for it does. Every such test runs with Dynamo reset and
with caches in a folder of its own, so the order of tests and the processes of xdist make no difference.
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
    from depyf.report.contract.facts import Fact
    from depyf.torch.capture.expect import expect

MARKER = "compiles"
FOLDER = "__compiles__"
"""Beside the test's file: the snapshots of its tests, a folder for each file of tests."""

_NOTES = pytest.StashKey[list[str]]()
Compiles: TypeAlias = Callable[..., contextlib.AbstractContextManager["expect"]]


def pytest_addoption(parser: pytest.Parser) -> None:
    """Add the option that writes snapshots."""
    group = parser.getgroup("depyf", "what torch compiles")
    group.addoption("--update-compiles", action="store_true", help="write the snapshots of what tests compile")


def pytest_configure(config: pytest.Config) -> None:
    """Declare the marker."""
    config.addinivalue_line(
        "markers",
        "compiles(graphs=None, breaks=None, recompiles=None, eager_calls=None, cache_misses=None, allow=(), "
        "snapshot=False): the test compiles exactly so many graphs, and at most so much of the rest (depyf)",
    )
    config.stash[_NOTES] = []


@pytest.hookimpl(wrapper=True, tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item) -> Iterator[None]:
    """Give a test that asks for it a torch in which nothing was compiled, from its fixtures on."""
    wanted = item.get_closest_marker(MARKER) is not None or MARKER in getattr(item, "fixturenames", ())
    if not wanted:
        return (yield)
    if importlib.util.find_spec("torch") is None:
        return (yield)  # The test says so itself.
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

    It takes what the marker takes; `snapshot` may be a name, for a test with several blocks.
    """

    def checked(*args: Any, **kwargs: Any) -> contextlib.AbstractContextManager[expect]:  # noqa: ANN401
        return _checked(request.node, *args, **kwargs)

    return checked


def pytest_terminal_summary(terminalreporter: pytest.TerminalReporter, config: pytest.Config) -> None:
    """Say where a snapshot that another torch made differs, which fails no test."""
    if config.stash[_NOTES]:
        terminalreporter.section("depyf: what torch compiles")
        for note in config.stash[_NOTES]:
            terminalreporter.line(note)


def pytest_sessionfinish(session: pytest.Session) -> None:
    """Hand what a process of xdist has to say to the process that prints it."""
    output = getattr(session.config, "workeroutput", None)
    if output is not None:
        output["depyf"] = session.config.stash[_NOTES]


@pytest.hookimpl(optionalhook=True)
def pytest_testnodedown(node: Any, error: object) -> None:  # noqa: ANN401 - xdist has no types
    """Take in what a process of xdist has to say."""
    node.config.stash[_NOTES].extend(getattr(node, "workeroutput", {}).get("depyf", ()))


@contextlib.contextmanager
def _checked(item: pytest.Item, *args: Any, snapshot: bool | str = False, **kwargs: Any) -> Iterator[expect]:  # noqa: ANN401
    """Run a block that keeps a contract; with `snapshot`, one that compiles what its file says."""
    __tracebackhide__ = True
    from depyf.report.contract.contract import CompileContractError
    from depyf.report.contract.facts import facts
    from depyf.torch.capture.expect import expect

    contract, broken = expect(*args, **kwargs), ""
    try:
        with _unlogged(), contract:
            yield contract
    except CompileContractError as error:
        broken = str(error)
    if broken:
        pytest.fail(broken, pytrace=False)
    if snapshot:
        name = snapshot if isinstance(snapshot, str) else ""
        _compare(item, name, contract.session.torch_version, facts(contract.session, contract.contract.allow))


@contextlib.contextmanager
def _unlogged() -> Iterator[None]:
    """Keep torch's trace, which is made for depyf here, out of the log that pytest captures."""
    logger = logging.getLogger("torch.__trace")
    taken = [each for each in logger.handlers if type(each).__module__.startswith("_pytest.")]
    for handler in taken:
        logger.removeHandler(handler)
    try:
        yield
    finally:
        for handler in taken:
            logger.addHandler(handler)


def _compare(item: pytest.Item, name: str, torch_version: str, told: list[Fact]) -> None:
    __tracebackhide__ = True
    from depyf.report.contract.snapshot import compare, snapshot_text
    from depyf.report.writer import write_whole

    path = snapshot_path(item, name)
    where = path.relative_to(item.config.rootpath) if path.is_relative_to(item.config.rootpath) else path
    if item.config.getoption("--update-compiles"):
        write_whole(path, snapshot_text(item.name, torch_version, told))
        return
    if not path.exists():
        pytest.fail(f"there is no snapshot {where}: `pytest --update-compiles` writes it", pytrace=False)
    found = compare(path.read_text(encoding="utf-8"), torch_version, told)
    if found is None:
        return
    lines = "\n".join(f"  {line}" for line in found.lines)
    if found.is_of_torch:
        torches = f"{where} is of torch {found.made_with}; with {found.now}"
        item.config.stash[_NOTES].append(f"{item.nodeid}: {torches} it compiles otherwise, no worse:\n{lines}")
        return
    worse = "".join(f"\n  {each}" for each in found.broken)
    ways = "If it should, `pytest --update-compiles` writes it anew."
    pytest.fail(f"it compiles otherwise than {where} says:\n{lines}{worse}\n{ways}{_details(told)}", pytrace=False)


def _details(told: list[Fact]) -> str:
    shown = [fact for fact in told if fact.aspect not in ("graphs", "kernels")]
    return "".join(f"\n{fact.place}: {fact.text}" + "".join(f"\n  {each}" for each in fact.details) for fact in shown)


def snapshot_path(item: pytest.Item, name: str) -> Path:
    """Return the file of a test's snapshot: beside the test's file, in a folder named for that file."""
    from depyf.report.names import file_part

    own = f"{item.nodeid.partition('::')[2].replace('::', '.')}{f'.{name}' if name else ''}"
    return item.path.parent / FOLDER / item.path.stem / f"{file_part(own)}.txt"
