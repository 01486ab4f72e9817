"""The callback for Lightning, in real Trainer runs."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the trainer needs torch")
pl = pytest.importorskip("lightning.pytorch", reason="the callback is one of Lightning")

import depyf  # noqa: E402
from depyf.integrations.lightning import DepyfCallback  # noqa: E402
from tests.integrations.small import NAMES, Net, rows, scalars_of_tensorboard, weights  # noqa: E402


class Module(pl.LightningModule):
    """The small model, compiled."""

    def __init__(self) -> None:
        super().__init__()
        self.net = Net()
        self.compiled = torch.compile(self.net, backend="eager")

    def training_step(self, batch: dict[str, torch.Tensor], index: int) -> torch.Tensor:
        loss: torch.Tensor = self.compiled(**batch)["loss"]
        return loss

    def configure_optimizers(self) -> Any:
        return torch.optim.SGD(self.net.parameters(), lr=0.01)


def _trained(folder: Path, callbacks: list[Any], logger: Any = False) -> Module:
    torch._dynamo.reset()
    module = Module()
    trainer = pl.Trainer(
        max_steps=8,
        accelerator="cpu",
        callbacks=callbacks,
        logger=logger,
        log_every_n_steps=2,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(folder),
    )
    trainer.fit(module, torch.utils.data.DataLoader(rows(), batch_size=4))
    return module


def test_results_are_equal_and_the_dump_is_there(tmp_path: Path) -> None:
    plain = _trained(tmp_path, [])
    callback = DepyfCallback(tmp_path / "dump", steps=3)
    watched = _trained(tmp_path, [callback])
    assert all(map(torch.equal, weights(plain.net), weights(watched.net)))
    assert NAMES == set(callback.capture.numbers)
    assert callback.capture.numbers["depyf/graph_breaks"] == 1
    assert depyf.read_run(tmp_path / "dump").session.ended
    assert callback.capture.page is not None and callback.capture.page.is_file()


def test_tensorboard_has_the_numbers_in_its_own_files(tmp_path: Path) -> None:
    pytest.importorskip("tensorboard", reason="its files are read back")
    from lightning.pytorch.loggers import TensorBoardLogger

    _trained(tmp_path, [DepyfCallback(tmp_path / "dump", steps=3)], TensorBoardLogger(str(tmp_path / "logs")))
    scalars = scalars_of_tensorboard(tmp_path / "logs")
    of_depyf = {name: values for name, values in scalars.items() if name.startswith("depyf/")}
    assert set(of_depyf) == NAMES
    assert of_depyf["depyf/compiles"] == [(3, 2.0)]
    assert [step for step, _ in of_depyf["depyf/step_seconds"]] == [3, 4, 6, 8]


def test_an_exception_of_the_training_ends_the_capture(tmp_path: Path) -> None:
    class Raises(Module):
        def training_step(self, batch: dict[str, torch.Tensor], index: int) -> torch.Tensor:
            if index == 1:
                raise RuntimeError("seeded")
            return super().training_step(batch, index)

    torch._dynamo.reset()
    trainer = pl.Trainer(
        max_steps=4,
        accelerator="cpu",
        callbacks=[DepyfCallback(tmp_path / "dump", steps=3, report=False)],
        logger=False,
        enable_checkpointing=False,
        enable_progress_bar=False,
        enable_model_summary=False,
        default_root_dir=str(tmp_path),
    )
    with pytest.raises(RuntimeError, match="seeded"):
        trainer.fit(Raises(), torch.utils.data.DataLoader(rows(), batch_size=4))
    assert len(list(depyf.read_run(tmp_path / "dump").session.compiles())) == 2
