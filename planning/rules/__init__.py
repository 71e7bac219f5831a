"""What a well-shaped spec means: one function per rule. How a rule is declared: `planning.rules.registry`."""

from planning.rules import capacity, fabric, filesystem, identity, lifetime, network, objects, unbuilt
from planning.rules.registry import RULES, Fault, Rule, judge, rule

__all__ = [
    "RULES",
    "Fault",
    "Rule",
    "capacity",
    "fabric",
    "filesystem",
    "identity",
    "judge",
    "lifetime",
    "network",
    "objects",
    "rule",
    "unbuilt",
]
