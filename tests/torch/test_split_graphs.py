"""A graph that Dynamo splits at the buckets of `DistributedDataParallel`: its parts are files, and can be stepped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the torch part of depyf needs torch")

import depyf  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import seams  # noqa: E402
from tests.torch.test_dump import artefacts, index  # noqa: E402
from tests.torch.test_stepping import lines_run  # noqa: E402

distributed = pytest.importorskip("torch.distributed", reason="this torch has no processes that share their work")
pytestmark = pytest.mark.skipif(not seams.has_structured_trace(), reason="torch before 2.4 does not tell all of this")

WIDTH = 512
"""Of a layer; its weights are as large as the first bucket, 1 MiB."""


class Net(torch.nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.layers = torch.nn.ModuleList(torch.nn.Linear(WIDTH, WIDTH) for _ in range(3))

    def forward(self, x: torch.Tensor) -> torch.Tensor:
        for layer in self.layers:
            x = torch.relu(layer(x))
        return x


@pytest.fixture
def _one_process(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    if not distributed.is_available() or not distributed.is_gloo_available():
        pytest.skip("this torch was built without gloo")
    torch._dynamo.reset()
    store = distributed.FileStore(str(tmp_path_factory.mktemp("store") / "store"), 1)
    distributed.init_process_group("gloo", store=store, rank=0, world_size=1)
    yield
    distributed.destroy_process_group()
    torch._dynamo.reset()


@pytest.mark.usefixtures("_one_process")
def test_each_part_is_a_file_that_it_runs_in(tmp_path: Path) -> None:
    model = torch.nn.parallel.DistributedDataParallel(Net(), bucket_cap_mb=1)
    compiled, x = torch.compile(model, backend="aot_eager"), torch.ones(2, WIDTH)
    with depyf.prepare_debug(tmp_path):
        compiled(x).sum().backward()
    expected = [parameter.grad.clone() for parameter in model.parameters()]
    model.zero_grad()
    files = artefacts(index(tmp_path))
    parts = [artefact["file"] for artefact in files if artefact["stage"] == "Forward_graph"]
    assert len(parts) == 3
    assert {artefact["kind"] for artefact in files if artefact["stage"].startswith("optimize_ddp")} <= {"graph"}
    with depyf.debug(pause=False), lines_run(tmp_path) as seen:
        compiled(x).sum().backward()
    assert set(parts) <= set(seen)
    assert all(
        torch.equal(parameter.grad, other) for parameter, other in zip(model.parameters(), expected, strict=True)
    )
