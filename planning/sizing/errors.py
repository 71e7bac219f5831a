"""Why a workload can not be sized: one message, and what to do instead."""

from __future__ import annotations


class SizingError(ValueError):
    """A mistake in what was asked."""

    def __init__(self, message: str, fix: str) -> None:
        super().__init__(f"{message}; {fix}")
        self.message = message
        self.fix = fix


class ImpossibleError(SizingError):
    """A sound question whose answer is no. `would` lists what would do, the nearest first."""

    def __init__(self, message: str, would: tuple[str, ...]) -> None:
        super().__init__(message, "what would: " + "; ".join(would))
        self.would = would
