"""The tracker for Accelerate, in real loops."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the loop needs torch")
accelerate = pytest.importorskip("accelerate", reason="the tracker is one of Accelerate")

import depyf  # noqa: E402
from depyf.integrations.accelerate import DepyfTracker  # noqa: E402
from tests.integrations.small import NAMES, Net, rows, scalars_of_tensorboard, weights  # noqa: E402


def _trained(folder: Path, tracker: DepyfTracker | None, others: list[Any], steps: int = 6) -> torch.nn.Module:
    torch._dynamo.reset()
    accelerator = accelerate.Accelerator(
        cpu=True, log_with=[*others, *([tracker] if tracker is not None else [])] or None, project_dir=str(folder)
    )
    model = Net()
    optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
    loader = torch.utils.data.DataLoader(rows(), batch_size=4)
    prepared, optimizer, loader = accelerator.prepare(torch.compile(model, backend="eager"), optimizer, loader)
    accelerator.init_trackers("run")
    if tracker is not None:
        tracker.follow(accelerator)
    for step, batch in enumerate(loader):
        if step == steps:
            break
        loss = prepared(**batch)["loss"]
        accelerator.backward(loss)
        optimizer.step()
        optimizer.zero_grad()
        accelerator.log({"loss": float(loss.detach())}, step=step)
    accelerator.end_training()
    accelerator.free_memory()
    return model


def test_results_are_equal_and_the_dump_is_there(tmp_path: Path) -> None:
    plain = _trained(tmp_path, None, [])
    tracker = DepyfTracker(tmp_path / "dump", steps=3)
    watched = _trained(tmp_path, tracker, [])
    assert all(map(torch.equal, weights(plain), weights(watched)))
    assert set(tracker.tracker.numbers) == NAMES
    assert tracker.capture.numbers["depyf/compiles"] == 2
    assert depyf.read_run(tmp_path / "dump").session.ended


def test_tensorboard_has_the_numbers_in_its_own_files(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="its files are read back")
    _trained(tmp_path / "logs", DepyfTracker(tmp_path / "dump", steps=3), ["tensorboard"])
    scalars = scalars_of_tensorboard(tmp_path / "logs")
    of_depyf = {name: values for name, values in scalars.items() if name.startswith("depyf/")}
    assert set(of_depyf) == NAMES
    assert of_depyf["depyf/graph_breaks"] == [(2, 1.0)]
    assert [step for step, _ in of_depyf["depyf/step_seconds"]] == [2, 3, 4, 5]


def test_a_loop_with_fewer_steps_is_captured_whole(tmp_path: Path) -> None:
    tracker = DepyfTracker(tmp_path / "dump", steps=100, report=False)
    _trained(tmp_path, tracker, [], steps=2)
    assert tracker.capture.numbers["depyf/compiles"] == 2
