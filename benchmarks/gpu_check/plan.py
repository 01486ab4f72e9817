"""The parts in the order of their worth, each with the most seconds that it may take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Part:
    """A part: its letter, its module in `parts`, what it shows, and its limit in seconds on a device.

    is_alone: whether it measures time, and so runs when no other part does.
    """

    letter: str
    module: str
    what: str
    seconds: int
    is_alone: bool = False


PARTS = (
    Part("a", "first_light", "doctor, and the toy example by all commands", 110),
    Part("b", "whole_models", "five models, forward and backward, in two modes", 200),
    Part("c", "profiles", "times against CUDA events and torch's own table", 90, is_alone=True),
    Part("d", "single_kernels", "kernels alone, and Triton's interpreter against the device", 200),
    Part("e", "numeric_errors", "mutated kernels and the first NaN", 200),
    Part("f", "ambience", "streams, TF32, autocast, pinned memory, device indices", 110),
    Part("g", "costs", "compile time, steady steps and memory with and without", 110, is_alone=True),
    Part("i", "versions", "versions, and what this torch does not offer", 60),
    Part("h", "contract", "the contract tests, as far as time is left", 200),
)
BUDGET = 480
"""The most seconds of the whole check."""
