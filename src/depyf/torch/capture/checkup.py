"""Check whether depyf works with this torch, by compiling a small function."""

from __future__ import annotations

import tempfile
import types
from dataclasses import field

import torch

from depyf.bytecode.records import dataclass
from depyf.model.run import GuardSet, Session, Transformed, Unavailable
from depyf.torch.adapters.versions import unknown_version
from depyf.torch.capture.prepare import prepare_debug


@dataclass(frozen=True, slots=True)
class Checkup:
    """The results for this torch.

    unavailable: the features that this torch does not offer, each with the reason.
    faults: the failed checks; may be empty.
    """

    torch_version: str
    warning: str
    unavailable: dict[str, str] = field(default_factory=dict)
    faults: list[str] = field(default_factory=list)


def check_up() -> Checkup:
    """Compile a function with two graphs with the backend `eager`, and check that it is captured and proven."""

    def sample(x):  # type: ignore[no-untyped-def]
        x = x + 1
        torch._dynamo.graph_break()
        return x * 2

    # torch caches compiles by code object, so create a new one each time.
    fresh = types.FunctionType(sample.__code__.replace(), globals())
    with tempfile.TemporaryDirectory() as directory, prepare_debug(directory) as session:
        result = torch.compile(fresh, backend="eager")(torch.ones(2))
    faults = _faults(session)
    if result.tolist() != [4.0, 4.0]:
        faults.append(f"the compiled function returned {result.tolist()}, not [4.0, 4.0]")
    return Checkup(session.torch_version, unknown_version(), dict(sorted(session.unavailable.items())), faults)


def _faults(session: Session) -> list[str]:
    compiles = [compiled for _, compiled in session.compiles()]
    faults = [f"inside depyf, {problem.where}: {problem.message}" for problem in session.problems]
    if len(compiles) != 2:
        faults.append(f"{len(compiles)} compiles were captured, not 2")
    for compiled in compiles:
        what = f"compile {compiled.id}"
        if isinstance(compiled.transformed, Unavailable):
            faults.append(f"{what}: no transformed code: {compiled.transformed.reason}")
        elif not compiled.transformed.is_runnable:
            faults.append(f"{what}: its source cannot run: {compiled.transformed.reason}")
        if isinstance(compiled.guards, Unavailable):
            faults.append(f"{what}: no guards: {compiled.guards.reason}")
        elif isinstance(compiled.guards, GuardSet) and compiled.guards.differs:
            faults.append(f"{what}: the guards differ from torch's: {compiled.guards.differs}")
        if isinstance(compiled.transformed, Transformed) and not any(artefact.file for artefact in compiled.artefacts):
            faults.append(f"{what}: no graph was written")
    return faults
