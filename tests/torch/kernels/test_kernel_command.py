"""`depyf kernel` writes a kernel of a dump alone, of C++ and of Triton, and the file runs without depyf."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner

pytest.importorskip("torch", reason="the torch part of depyf needs torch")

from depyf.cli.commands import depyf  # noqa: E402 - after the check that they can run
from depyf.links.documents import kernel_sources  # noqa: E402
from depyf.model.index_reader import read_run  # noqa: E402
from depyf.torch.adapters import lacking  # noqa: E402
from tests.torch.needs import needs  # noqa: E402

PROGRAM = Path(__file__).with_name("written.py")
HAS_TRITON = importlib.util.find_spec("triton") is not None

pytestmark = [pytest.mark.slow, needs(lacking.structured_trace())]
triton = pytest.mark.skipif(not HAS_TRITON, reason="triton is not installed (`make test-triton` does that)")


@pytest.fixture(scope="module", params=["cpp", pytest.param("triton", marks=triton)])
def dump(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    directory = tmp_path_factory.mktemp(request.param)
    environment = {**os.environ, "TORCHINDUCTOR_CACHE_DIR": str(directory / "cache"), "INDUCTOR_PROVENANCE": "1"}
    environment["TORCH_TRACE"] = str(directory / "trace")
    subprocess.run([sys.executable, str(PROGRAM), str(directory / "dump"), request.param], check=True, env=environment)
    return directory / "dump"


def kernels(dump: Path) -> list[str]:
    done = CliRunner().invoke(depyf, ["kernel", str(dump)])
    assert done.exit_code == 0, done.output
    return [line.split()[0] for line in done.output.splitlines()]


def test_every_kernel_alone_gives_what_the_nodes_give(dump: Path, tmp_path: Path) -> None:
    names = kernels(dump)
    assert len(names) >= 2
    # A C++ compiler takes its time.
    for name in names if names[0].startswith("triton") else names[:1]:
        path = tmp_path / f"{name}.py"
        done = CliRunner().invoke(depyf, ["kernel", str(dump), name, "-o", str(path)])
        assert done.exit_code == 0, done.output
        alone = {key: value for key, value in os.environ.items() if key != "PYTHONPATH"}
        ran = subprocess.run([sys.executable, str(path)], env=alone, capture_output=True, text=True)
        assert ran.returncode == 0, ran.stdout + ran.stderr
        assert re.search(r"^\w+ is \w+ within", ran.stdout, re.MULTILINE), ran.stdout


def test_a_trace_has_the_same_kernels(dump: Path, tmp_path: Path) -> None:
    trace = dump.with_name("trace")
    assert kernels(trace) == kernels(dump)
    name = next(name for name in kernels(dump) if "softmax" in name)
    texts = []
    for source in (dump, trace):
        path = tmp_path / f"{source.name}.py"
        done = CliRunner().invoke(depyf, ["kernel", str(source), name, "-o", str(path)])
        assert done.exit_code == 0, done.output
        texts.append(path.read_text(encoding="utf-8"))
    assert texts[0] == texts[1]


def test_a_changed_kernel_is_told_from_its_nodes(dump: Path, tmp_path: Path) -> None:
    name = next(name for name in kernels(dump) if "softmax" in name)
    path = tmp_path / "changed.py"
    assert CliRunner().invoke(depyf, ["kernel", str(dump), name, "-o", str(path)]).exit_code == 0
    text = path.read_text(encoding="utf-8")
    changed, count = re.subn(r"libdevice\.exp\((\w+)\)|(\w+)\.exp\(\)", r"(\1\2 + \1\2)", text, count=1)
    assert count == 1
    path.write_text(changed, encoding="utf-8")
    ran = subprocess.run([sys.executable, str(path)], capture_output=True, text=True)
    assert ran.returncode == 1, ran.stderr
    assert "IS NOT" in ran.stdout


def test_lines_inside_of_kernels_come_from_their_own_lines(dump: Path) -> None:
    run = read_run(dump)
    softmax = line_of("torch.softmax")
    ran_kernels = set()
    for _, compiled in run.session.compiles():
        for source in kernel_sources(run, compiled):
            for launched in source.launched():
                for line in launched.lines:
                    if "exp" in line.computes:
                        ran_kernels |= {number for name in line.computes for _, number in source.nodes.get(name, ())}
    assert ran_kernels == {softmax}


def line_of(text: str) -> int:
    lines = PROGRAM.read_text(encoding="utf-8").splitlines()
    return next(number for number, line in enumerate(lines, start=1) if text in line)


def test_a_kernel_that_is_not_there_is_told_with_those_that_are(dump: Path) -> None:
    done = CliRunner().invoke(depyf, ["kernel", str(dump), "no_such_kernel"])
    assert done.exit_code == 2
    assert kernels(dump)[0] in done.output


def test_without_a_dump_it_says_so(tmp_path: Path) -> None:
    done = CliRunner().invoke(depyf, ["kernel", str(tmp_path / "nothing")])
    assert done.exit_code == 2, done.output
    assert done.output.startswith("depyf kernel: ")
