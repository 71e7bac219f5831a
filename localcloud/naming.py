"""Names for what has none: the logical name and a random ending, kept over updates, as the real providers do."""

from __future__ import annotations

import hashlib
import secrets
from dataclasses import dataclass, field
from typing import Literal

from localcloud.values import Properties


@dataclass(frozen=True, slots=True)
class Autonaming:
    """What the stack's `pulumi:autonaming` asks for."""

    mode: Literal["propose", "enforce", "disable"]
    proposed: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Naming:
    """What a resource's generated name is made from."""

    urn: str
    logical: str
    old: Properties = field(default_factory=dict)
    """The inputs that the last check answered; empty for a new resource."""
    seed: bytes = b""
    asked: Autonaming | None = None

    def generate(self, *, ending: int, longest: int, joint: str = "-") -> str | None:
        """None where the stack forbids generated names."""
        if self.asked is not None:
            return None if self.asked.mode == "disable" else self.asked.proposed
        return f"{self.logical[: longest - ending - len(joint)]}{joint}{random_hex(ending, self.seed)}"


def random_hex(length: int, seed: bytes = b"") -> str:
    """Random; the same for the same seed, which the engine gives where a plan must be met again."""
    return (hashlib.sha256(seed).hexdigest() if seed else secrets.token_hex(length))[:length]
