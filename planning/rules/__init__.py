"""What a well-shaped spec means: one function per rule. How a rule is declared: `planning.rules.registry`."""

from planning.rules import (
    access,
    capacity,
    existing_network,
    fabric,
    filesystem,
    identity,
    images,
    keys,
    lifetime,
    mounts,
    network,
    objects,
    reservations,
    tags,
)
from planning.rules.registry import RULES, Fault, Rule, judge, rule

__all__ = [
    "RULES",
    "Fault",
    "Rule",
    "access",
    "capacity",
    "existing_network",
    "fabric",
    "filesystem",
    "identity",
    "images",
    "judge",
    "keys",
    "lifetime",
    "mounts",
    "network",
    "objects",
    "reservations",
    "rule",
    "tags",
]
