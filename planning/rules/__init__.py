"""What a well-shaped spec means: one function per rule. How a rule is declared: `planning.rules.registry`."""

from planning.rules import (
    capacity,
    fabric,
    filesystem,
    identity,
    images,
    lifetime,
    network,
    objects,
    reservations,
    tags,
    unbuilt,
)
from planning.rules.registry import RULES, Fault, Rule, judge, rule

__all__ = [
    "RULES",
    "Fault",
    "Rule",
    "capacity",
    "fabric",
    "filesystem",
    "identity",
    "images",
    "judge",
    "lifetime",
    "network",
    "objects",
    "reservations",
    "rule",
    "tags",
    "unbuilt",
]
