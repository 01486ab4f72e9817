"""Two ranks with gloo: the main process captures its first steps, and both train as without a capture."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

torch = pytest.importorskip("torch", reason="the job needs torch")
pytest.importorskip("accelerate", reason="the tracker is one of Accelerate")
if not torch.distributed.is_available() or not torch.distributed.is_gloo_available():
    pytest.skip("the ranks talk by gloo", allow_module_level=True)

PROGRAM = """\
import json, os, sys
import accelerate, torch
from depyf.integrations.accelerate import DepyfTracker
from tests.integrations.small import Net, rows

tracker = DepyfTracker(sys.argv[1], steps=2, report=False) if sys.argv[1] else None
accelerator = accelerate.Accelerator(cpu=True, log_with=[tracker] if tracker else None)
model = Net()
optimizer = torch.optim.SGD(model.parameters(), lr=0.01)
loader = torch.utils.data.DataLoader(rows(), batch_size=4)
prepared, optimizer, loader = accelerator.prepare(model, optimizer, loader)
compiled = torch.compile(prepared, backend="eager")
accelerator.init_trackers("run")
if tracker:
    tracker.follow(accelerator)
losses = []
for step, batch in enumerate(loader):
    loss = compiled(**batch)["loss"]
    accelerator.backward(loss)
    optimizer.step()
    optimizer.zero_grad()
    losses.append(float(loss.detach()))
    accelerator.log({"loss": losses[-1]}, step=step)
accelerator.end_training()
told = {"losses": losses, "numbers": tracker.capture.numbers if tracker else {}}
with open(f"{sys.argv[2]}.{accelerator.process_index}", "w") as file:
    json.dump(told, file)
"""


def _job(folder: Path, dump: str, out: Path, program: str = PROGRAM) -> list[dict[str, object]]:
    script = folder / "job.py"
    script.write_text(program, encoding="utf-8")
    command = [sys.executable, "-m", "torch.distributed.run", "--standalone", "--nproc-per-node", "2"]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "ACCELERATE_USE_CPU": "true"}
    done = subprocess.run(
        [*command, str(script), dump, str(out)], capture_output=True, text=True, env=environment, check=False
    )
    assert done.returncode == 0, done.stderr[-3000:]
    return [json.loads(Path(f"{out}.{rank}").read_text(encoding="utf-8")) for rank in (0, 1)]


@pytest.mark.slow
def test_the_main_process_is_captured_and_both_train_as_without(tmp_path: Path) -> None:
    plain = _job(tmp_path, "", tmp_path / "plain")
    watched = _job(tmp_path, str(tmp_path / "dump"), tmp_path / "watched")
    assert [result["losses"] for result in plain] == [result["losses"] for result in watched]
    # Accelerate calls trackers on the main process only.
    main, other = (result["numbers"] for result in watched)
    assert isinstance(main, dict) and main["depyf/compiles"] >= 2 and other == {}
    index = json.loads((tmp_path / "dump" / "rank_0" / "index.json").read_text(encoding="utf-8"))
    assert index["ended"] and index["functions"]


TRAINER = """\
import json, sys
from transformers import Trainer, TrainingArguments
from depyf.integrations.transformers import DepyfCallback
from tests.integrations.small import Net, rows

callback = DepyfCallback(sys.argv[1], steps=2, report=False) if sys.argv[1] else None
arguments = TrainingArguments(
    sys.argv[2] + ".out", max_steps=4, per_device_train_batch_size=4, report_to="none", save_strategy="no",
    use_cpu=True, torch_compile=True, torch_compile_backend="eager", disable_tqdm=True, logging_steps=1, seed=0,
)
trainer = Trainer(model=Net(), args=arguments, train_dataset=rows(), callbacks=[callback] if callback else [])
trainer.train()
losses = [row["loss"] for row in trainer.state.log_history if "loss" in row]
with open(f"{sys.argv[2]}.{arguments.process_index}", "w") as file:
    json.dump({"losses": losses, "numbers": callback.capture.numbers if callback else {}}, file)
"""


@pytest.mark.slow
def test_every_rank_of_a_trainer_is_captured(tmp_path: Path) -> None:
    pytest.importorskip("transformers", reason="the Trainer is one of transformers")
    plain = _job(tmp_path, "", tmp_path / "plain", TRAINER)
    watched = _job(tmp_path, str(tmp_path / "dump"), tmp_path / "watched", TRAINER)
    assert [result["losses"] for result in plain] == [result["losses"] for result in watched]
    for rank, result in enumerate(watched):
        assert isinstance(result["numbers"], dict) and result["numbers"]["depyf/compiles"] >= 2
        assert json.loads((tmp_path / "dump" / f"rank_{rank}" / "index.json").read_text(encoding="utf-8"))["ended"]
    assert (tmp_path / "dump" / "index.md").is_file()
