"""Jobs of many ranks: groups of equal ranks, differences with their causes, and workers that die."""

from __future__ import annotations

import gzip
import json
import random
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import Executor
from concurrent.futures.process import BrokenProcessPool
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from benchmarks.traces import harder_jobs
from benchmarks.traces.jobs import INJECTIONS, job, parsed
from depyf.cli.commands import depyf
from depyf.trace.job.files import find
from depyf.trace.job.groups import job_of, ranks_in_words
from depyf.trace.job.work import scan_all
from depyf.trace.reader import Cause

DATA = Path(__file__).parent / "data"
RANKS = DATA / "ranks"


def test_a_real_job_with_a_shape_of_one_rank_is_told(tmp_path: Path) -> None:
    result = CliRunner().invoke(depyf, ["report", str(RANKS), "-o", str(tmp_path / "out")])
    assert result.exit_code == 0, result.output
    content = json.loads((tmp_path / "out" / "ranks.json").read_text())
    assert [(group["ranks"], group["count"]) for group in content["groups"]] == [("0-2", 3), ("3", 1)]
    (only,) = content["divergences"]
    assert (only["kind"], only["ranks"], only["compile"]) == ("recompile", "3", "1/1")
    assert "compiled `step` once more" in only["cause"] and "expected 16, actual 17" in only["cause"]


@pytest.mark.parametrize("kind", [kind for kind in INJECTIONS if kind not in ("guard", "slow rank")])
def test_one_injected_difference_is_named(kind: str, tmp_path: Path) -> None:
    name = "small_2.13_inductor.log.gz" if kind == "cache" else "ranks/dedicated_log_torch_trace_rank_0_x.log.gz"
    base = parsed(gzip.decompress((DATA / name).read_bytes()).decode())
    chance = random.Random(1)
    chance.randint = lambda low, high: min(high, max(low, 5)) if (low, high) == (8, 64) else (low + high) // 2  # type: ignore[method-assign]
    chosen, divergences = job(base, kind, chance, tmp_path)
    named = [(divergence.kind, divergence.ranks) for divergence in divergences]
    assert named == [] if kind == "none" else named in [[(cause, str(chosen))] for cause in INJECTIONS[kind][1]]


class Dying(Executor):
    """Runs the first task, and then has lost its workers."""

    def map(self, fn: Callable[..., Any], *iterables: Iterable[Any], **_: Any) -> Iterator[Any]:  # type: ignore[override]
        (batches,) = iterables
        yield fn(next(iter(batches)))
        raise BrokenProcessPool("a worker was killed")


def test_workers_that_die_cost_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("depyf.trace.job.work.MOST_FILES", 2)
    sources = find([str(RANKS)])
    whole, after = scan_all(sources), scan_all(sources, Dying())
    assert [rank.rank for rank in after.ranks] == [0, 1, 2, 3]
    assert (after.ranks, after.facts) == (whole.ranks, whole.facts)


def test_a_file_that_vanishes_is_said(tmp_path: Path) -> None:
    for path in RANKS.iterdir():
        (tmp_path / path.name).write_bytes(path.read_bytes())
    sources = find([str(tmp_path)])
    (tmp_path / sources[1].name).unlink()
    scan = scan_all(sources)
    assert ["FileNotFoundError" in rank.error for rank in scan.ranks] == [False, True, False, False]


def test_ranks_of_two_jobs_in_one_folder_are_told_apart(tmp_path: Path) -> None:
    for path in RANKS.iterdir():
        text = gzip.decompress(path.read_bytes())
        (tmp_path / f"first_{path.stem}").write_bytes(text)
        (tmp_path / f"second_{path.stem}").write_bytes(text.replace(b"V1122 18:", b"V1122 20:"))
    sources = find([str(tmp_path)])
    jobs = {number: {source.name[:5] for source in sources if source.job == number} for number in (0, 1)}
    assert jobs == {0: {"first"}, 1: {"secon"}}


def test_more_than_one_difference_is_told_apart(tmp_path: Path) -> None:
    base = parsed(gzip.decompress((RANKS / "dedicated_log_torch_trace_rank_0_x.log.gz").read_bytes()).decode())
    for name, make in harder_jobs.PLANS.items():
        chance, folder = random.Random(3), tmp_path / name
        folder.mkdir()
        plan = make(6, chance)
        assert harder_jobs.is_right(plan, harder_jobs.job(base, plan, 6, chance, folder), 6), (name, plan)


def test_a_compressed_trace_is_read_up_to_its_damage(tmp_path: Path) -> None:
    whole = (DATA / "small_2.13.log.gz").read_bytes()
    for rank, stored in enumerate((whole, whole[: len(whole) // 2], whole, b"")):
        (tmp_path / f"rank_{rank}.log.gz").write_bytes(stored)
    scanned = scan_all(find([str(tmp_path)]))
    assert scanned.ranks[1].records > 20 and Cause.DAMAGED.value in scanned.ranks[1].omitted
    causes = {divergence.ranks: divergence.cause for divergence in job_of(scanned.ranks, scanned.facts).divergences}
    assert causes["1"].startswith("the file is truncated after") and causes["3"] == "the file has no record"


def test_a_number_that_is_no_rank_makes_none_missing(tmp_path: Path) -> None:
    for number in (0, 999_999_999):
        (tmp_path / f"rank_{number}.log.gz").write_bytes((DATA / "small_2.6.log.gz").read_bytes())
    scanned = scan_all(find([str(tmp_path)]))
    assert job_of(scanned.ranks, scanned.facts).missing == []


def test_ranks_in_words() -> None:
    assert ranks_in_words([3, 0, 1, 2, 7]) == "0-3, 7"
