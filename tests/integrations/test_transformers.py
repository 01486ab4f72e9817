"""The callback for transformers, in real Trainer runs."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

torch = pytest.importorskip("torch", reason="the trainer needs torch")
pytest.importorskip("transformers", reason="the callback is one of transformers")
pytest.importorskip("accelerate", reason="the Trainer needs accelerate")

from transformers import Trainer, TrainerCallback, TrainingArguments  # noqa: E402

import depyf  # noqa: E402
from depyf.integrations.transformers import DepyfCallback  # noqa: E402
from tests.integrations.small import NAMES, Net, rows, scalars_of_tensorboard, weights  # noqa: E402

STEPS = 8


def _trained(folder: Path, callbacks: list[TrainerCallback], report_to: list[str], **options: Any) -> Any:
    torch._dynamo.reset()
    arguments = TrainingArguments(
        str(folder / "out"),
        max_steps=STEPS,
        per_device_train_batch_size=4,
        logging_steps=2,
        report_to=report_to or "none",
        save_strategy="no",
        use_cpu=True,
        torch_compile=True,
        torch_compile_backend="eager",
        disable_tqdm=True,
        seed=0,
        **options,
    )
    trainer = Trainer(model=Net(), args=arguments, train_dataset=rows(), callbacks=callbacks)
    trainer.train()
    return trainer


def test_results_are_equal_and_the_log_has_the_numbers(tmp_path: Path) -> None:
    plain = _trained(tmp_path / "plain", [], [])
    callback = DepyfCallback(tmp_path / "dump", steps=3)
    watched = _trained(tmp_path / "watched", [callback], [])
    assert all(map(torch.equal, weights(plain.model), weights(watched.model)))
    history = watched.state.log_history
    first = next(row for row in history if "depyf/compiles" in row)
    assert first["step"] == 3 and NAMES <= set(first)
    assert first["depyf/compiles"] == 2 and first["depyf/graph_breaks"] == 1
    assert sum("depyf/compiles" in row for row in history) == 1
    assert [row["loss"] for row in history if row.get("step") in (4, 6, 8) and "loss" in row][1:] == [
        row["loss"] for row in plain.state.log_history if row.get("step") in (6, 8) and "loss" in row
    ]
    run = depyf.read_run(tmp_path / "dump")
    assert len(list(run.session.compiles())) == 2 and run.session.ended
    assert callback.capture.page is not None and callback.capture.page.is_file()


def test_tensorboard_has_the_numbers_in_its_own_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    pytest.importorskip("tensorboard", reason="its files are read back")
    monkeypatch.setenv("TENSORBOARD_LOGGING_DIR", str(tmp_path / "logs"))
    _trained(tmp_path, [DepyfCallback(tmp_path / "dump", steps=3)], ["tensorboard"])
    scalars = scalars_of_tensorboard(tmp_path)
    of_depyf = {name.removeprefix("train/"): values for name, values in scalars.items() if "depyf/" in name}
    assert set(of_depyf) == NAMES
    assert of_depyf["depyf/compiles"] == [(3, 2.0)]
    assert len(of_depyf["depyf/step_seconds"]) > 2


def test_mlflow_has_the_numbers_and_the_report(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mlflow = pytest.importorskip("mlflow", reason="its files are read back")
    monkeypatch.setenv("MLFLOW_ALLOW_FILE_STORE", "true")
    mlflow.set_tracking_uri((tmp_path / "mlruns").as_uri())
    _trained(tmp_path, [DepyfCallback(tmp_path / "dump", steps=2)], ["mlflow"])
    while mlflow.active_run() is not None:
        mlflow.end_run()
    metrics = {f"depyf/{path.name}": path for path in tmp_path.glob("mlruns/*/*/metrics/depyf/*")}
    assert set(metrics) == NAMES
    compiles = metrics["depyf/compiles"]
    assert float(compiles.read_text(encoding="utf-8").split()[1]) == 2.0
    assert list(tmp_path.glob("mlruns/*/*/artifacts/depyf/index.html"))


def test_a_training_with_fewer_steps_is_captured_whole(tmp_path: Path) -> None:
    callback = DepyfCallback(tmp_path / "dump", steps=100, report=False)
    _trained(tmp_path, [callback], [])
    assert callback.capture.numbers["depyf/compiles"] == 2
    assert json.loads((tmp_path / "dump" / "index.json").read_text(encoding="utf-8"))["ended"]


def test_an_error_inside_never_reaches_the_training(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    (tmp_path / "dump").write_text("a file in the way", encoding="utf-8")
    trainer = _trained(tmp_path, [DepyfCallback(tmp_path / "dump")], [])
    assert trainer.state.global_step == STEPS
    assert any("the training goes on" in record.getMessage() for record in caplog.records)


def test_nothing_of_depyf_is_left_in_torch_after_the_captured_steps(tmp_path: Path) -> None:
    from depyf.torch.capture.active import ACTIVE

    active: list[bool] = []

    class Looks(TrainerCallback):
        def on_step_end(self, args: Any, state: Any, control: Any, **kwargs: Any) -> None:
            active.append(ACTIVE.current() is not None)

    _trained(tmp_path, [Looks(), DepyfCallback(tmp_path / "dump", steps=2, report=False)], [])
    # The callback moves to the front when the training begins.
    assert active == [True, *[False] * (STEPS - 1)]


def test_wrong_numbers_of_steps_are_refused() -> None:
    with pytest.raises(ValueError, match="at least 1"):
        DepyfCallback("dump", steps=0)
