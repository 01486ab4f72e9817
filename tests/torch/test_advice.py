"""The catalogue of findings: every advice has the two programs that show that it helps."""

from __future__ import annotations

import pytest

pytest.importorskip("torch", reason="the programs of the catalogue compile functions")

from benchmarks.advice import judged  # noqa: E402
from corpus.advice.pair import PAIRS  # noqa: E402
from depyf.findings.catalogue import KINDS  # noqa: E402 - after the check that torch is there
from depyf.torch.adapters import seams  # noqa: E402


def test_what_is_advised_was_tried() -> None:
    advised = {name for name, kind in KINDS.items() if kind.fix}
    assert advised <= {kind for kind, pair in PAIRS.items() if pair.fixed is not None}
    assert set(PAIRS) <= set(KINDS)
    assert len(advised) >= 60


@pytest.mark.skipif(not seams.has_structured_trace(), reason="torch before 2.4 does not tell why")
@pytest.mark.parametrize("kind", ["tensor-size", "module-float", "growing-container", "break-print", "break-file"])
def test_the_advice_helps(kind: str) -> None:
    if PAIRS[kind].lacking:
        pytest.skip(PAIRS[kind].lacking)
    judgement = judged(PAIRS[kind])
    assert (judgement.present, judgement.gone, judgement.equal) == (True, True, True)
    assert judgement.first
