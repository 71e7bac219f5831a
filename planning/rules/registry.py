"""How a rule is declared, and how all of them judge a spec.

A rule is one function `(spec, facts)` that yields what is wrong; the decorator gives its id, level and source. The
modules beside this one hold the rules by subject, and are loaded by `planning.rules`.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

from planning.catalog.records import Cloud
from planning.facts.derive import Facts
from planning.findings import Finding, Level, near
from planning.spec import AwsSpec, AzureSpec

AnySpec = AwsSpec | AzureSpec


class Fault(NamedTuple):
    """What a rule yields: where, what was found and why it cannot work, what to do instead."""

    path: str
    message: str
    fix: str


def refused_by(policy: str) -> str:
    """What to say of a bold choice that is legal, and that the policy pack takes for a mistake."""
    return f"the policy {policy} refuses it; the profile research of the pack only shows it"


Check = Callable[[AnySpec, Facts], Iterator[Fault]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Rule:
    id: str
    level: Level
    cloud: Cloud | Literal["both"]
    guards: str
    references: Mapping[str, str]
    """The document or public issue behind it, by cloud."""
    waivable: bool
    check: Check

    @property
    def reference(self) -> str:
        """Of the clouds that it is for, a blank between two."""
        return " ".join(dict.fromkeys(self.references.values()))


RULES: dict[str, Rule] = {}


def rule(
    id: str,  # noqa: A002 - the word of the field
    level: Literal["error", "warning", "info"],
    *,
    cloud: Cloud | Literal["both"] = "both",
    reference: str | Mapping[str, str],
    waivable: bool = True,
) -> Callable[[Check], Check]:
    """Registers a check. Its docstring says what it guards; `waivable` is False where no plan could be made.

    A reference is the same for both clouds, or one for each.
    """
    clouds = ("aws", "azure") if cloud == "both" else (cloud,)
    references: dict[str, str] = {c: reference if isinstance(reference, str) else reference[c] for c in clouds}

    def register(check: Check) -> Check:
        if id in RULES:
            raise ValueError(f"rule id {id} is taken")
        guards = " ".join((check.__doc__ or "").split())
        RULES[id] = Rule(
            id=id,
            level=level,
            cloud=cloud,
            guards=guards,
            references=references,
            waivable=waivable,
            check=check,
        )
        return check

    return register


def judge(spec: AnySpec, facts: Facts) -> list[Finding]:
    """All findings of all rules, sorted by path; those that the spec waives are marked so."""
    findings = [
        Finding(fault.path, r.id, r.level, fault.message, fault.fix, r.references[spec.cloud])
        for r in RULES.values()
        if r.cloud in ("both", spec.cloud)
        for fault in r.check(spec, facts)
    ]
    return sorted(_waive(finding, spec.waive) for finding in findings)


def _waive(finding: Finding, waivers: dict[str, str]) -> Finding:
    reason = waivers.get(finding.rule, "").strip()
    if not reason or not RULES[finding.rule].waivable:
        return finding
    return replace(finding, level="waived", message=f"{finding.message} (waived: {reason})", waiver=reason)


@rule("waiver-without-effect", "error", reference="docs/spec.md", waivable=False)
def waiver_without_effect(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A waiver names a rule that exists and can be waived, and gives a reason."""
    for rule_id, reason in spec.waive.items():
        path = f"waive.{rule_id}"
        if rule_id not in RULES:
            close = near(rule_id, list(RULES))
            fix = f"did you mean {' or '.join(close)}?" if close else "`gpu-clusters rules` lists the ids"
            yield Fault(path, f"there is no rule {rule_id}, so the waiver guards nothing", fix)
        elif not RULES[rule_id].waivable:
            yield Fault(
                path,
                f"{rule_id} can not be waived: without it no plan can be made",
                "mend the finding itself",
            )
        elif not reason.strip():
            yield Fault(path, f"the waiver of {rule_id} gives no reason", "say why the finding is acceptable here")


@rule("waiver-unused", "info", reference="docs/spec.md")
def waiver_unused(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """A waiver goes with the finding that it was written for."""
    for rule_id, reason in spec.waive.items():
        waived = RULES.get(rule_id)
        if waived is None or not waived.waivable or not reason.strip() or waived.check is waiver_unused:
            continue
        if waived.cloud not in ("both", spec.cloud) or not any(waived.check(spec, facts)):
            message = f"{rule_id} finds nothing here, and would be waived unseen where it does one day"
            yield Fault(f"waive.{rule_id}", message, "remove it")
