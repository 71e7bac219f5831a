"""`make prove`: no spec that `check` accepts is refused by the local cloud, over many whole specs of both clouds.

Prints for each field how often it said something of its own, and what share of the specs was accepted. Fails where a
spec is refused, where a field was hardly ever said, or where too few specs are accepted to prove much. A run's seed is
printed, and gives the same specs again on the same day with the same number of processes.

    python -m tests.agreement.prove [--examples 2000] [--seed 0] [--processes 2]
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import time
from collections import Counter
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any

from hypothesis import HealthCheck, Phase, given, seed, settings

from planning.facts.network import subscription_of
from planning.findings import render
from planning.plan import Assessment, assess
from planning.rules import RULES
from tests.agreement.azure_specs import HERE
from tests.agreement.declared import empty_cloud, refusals
from tests.agreement.existing import with_existing
from tests.agreement.fields import fields, left_default
from tests.agreement.specs import whole_specs
from tests.clusters import ROOT
from tests.localcloud.conftest import Refused

CLOUDS = ("aws", "azure")
FOLDER = ROOT / "stacks"
LEAST_SAID = 50
LEAST_ACCEPTED = 0.3
FORETOLD = {"capacity-block-begins-today", "link-roles-unseen", "zone-without-the-type"}
"""Rules that warn of a refusal which is likely but not sure. Nothing is proved of what they speak of."""
SHARED_BY_OTHERS = ("of-other-subscription", "nodes.reservation")
"""The same of a reservation that another subscription has to share first."""
NEVER_ACCEPTED = {
    "aws": {"access.bastion"},
    "azure": {"network.flow_logs", "nodes.reservation.buy", "nodes.reservation.confirm"},
}
"""What the other cloud has, and this one refuses whatever it says."""


@dataclass
class Tally:
    drawn: int = 0
    accepted: int = 0
    said: Counter[str] = field(default_factory=Counter)
    said_accepted: Counter[str] = field(default_factory=Counter)
    refused: dict[str, tuple[str, str]] = field(default_factory=dict)
    """What the cloud said, and the smallest spec that it said it to, as JSON; by what is the same in all of them."""

    def add(self, other: Tally) -> None:
        self.drawn += other.drawn
        self.accepted += other.accepted
        self.said += other.said
        self.said_accepted += other.said_accepted
        for said, spec in other.refused.values():
            self.refuse(said, spec)

    def refuse(self, said: str, spec: str) -> None:
        kind = re.sub(r"[0-9a-f-]{8,}|\d+|" + re.escape(json.loads(spec)["name"]), "#", said)
        kind = re.sub(r"/resourceGroups/[^/]*/|on: .*", "", kind)
        here = (said, spec)
        self.refused[kind] = min(self.refused.get(kind, here), here, key=lambda both: len(both[1]))


def accepted(assessment: Assessment) -> bool:
    """By no waiver of an error, with no refusal foretold, and of the subscription that is deployed from."""
    if assessment.spec is None or assessment.plan is None:
        return False
    if assessment.spec.account is None and subscription_of(assessment.spec) not in (None, HERE):
        return False
    return not any(
        f.rule in FORETOLD
        or (f.rule, f.path) == SHARED_BY_OTHERS
        or (f.level == "waived" and RULES[f.rule].level == "error")
        for f in assessment.findings
    )


def refused(raw: dict[str, Any], today: date) -> list[str]:
    """What the local cloud refuses of an accepted spec, with all that the spec names in place."""
    plan = assess(raw, today, FOLDER).plan
    assert plan is not None
    with empty_cloud(plan.cloud) as driver:
        try:
            raw = with_existing(driver, raw, plan)
        except Refused as refusal:
            return [f"what is said to exist: {refusal}"]
        assessment = assess(raw, today, FOLDER)
        assert assessment.plan is not None, render(assessment.findings)
        return refusals(assessment.plan, driver)


def tally(cloud: str, examples: int, number: int) -> Tally:
    today = datetime.now(UTC).date()
    done = Tally()

    @seed(number)
    @settings(
        max_examples=examples,
        database=None,
        deadline=None,
        phases=[Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(whole_specs(cloud, today))
    def each(raw: dict[str, Any]) -> None:
        done.drawn += 1
        said = list(left_default(cloud, raw))
        done.said.update(said)
        if not accepted(assess(raw, today, FOLDER)):
            return
        done.accepted += 1
        done.said_accepted.update(said)
        for refusal in refused(raw, today):
            done.refuse(refusal, json.dumps(raw))

    each()
    return done


def main(arguments: list[str]) -> int:
    parser = argparse.ArgumentParser(prog="prove", description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--examples", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=random.randrange(10**6))
    parser.add_argument("--processes", type=int, default=os.cpu_count() or 1)
    asked = parser.parse_args(arguments)
    print(f"{asked.examples} specs, seed {asked.seed}, {asked.processes} processes", flush=True)
    start = time.monotonic()
    each = -(-asked.examples // (len(CLOUDS) * asked.processes))
    with ProcessPoolExecutor(asked.processes) as pool:
        parts = [
            (cloud, pool.submit(tally, cloud, each, asked.seed + n)) for n in range(asked.processes) for cloud in CLOUDS
        ]
        tallies = {cloud: Tally() for cloud in CLOUDS}
        for cloud, part in parts:
            tallies[cloud].add(part.result())
    faults = [fault for cloud in CLOUDS for fault in report(cloud, tallies[cloud])]
    print(f"\n{time.monotonic() - start:.0f} s, seed {asked.seed}")
    for fault in faults:
        print(f"FAILED {fault}")
    return 1 if faults else 0


def report(cloud: str, done: Tally) -> list[str]:
    share = done.accepted / done.drawn
    print(f"\n{cloud}: {done.drawn} specs, {done.accepted} accepted ({share:.0%})")
    print(f"{'field':<48}{'said':>6}{'accepted':>10}")
    faults = [] if share >= LEAST_ACCEPTED else [f"{cloud}: {share:.0%} of the specs were accepted"]
    for path in fields(cloud):
        print(f"{path:<48}{done.said[path]:>6}{done.said_accepted[path]:>10}")
        if done.said[path] < LEAST_SAID:
            faults.append(f"{cloud}: {path} was said {done.said[path]} times, and {LEAST_SAID} are wanted")
        if not done.said_accepted[path] and path not in NEVER_ACCEPTED[cloud]:
            faults.append(f"{cloud}: no spec that says {path} was accepted")
    faults += [f"{cloud}: {said}\n  {spec}" for said, spec in sorted(done.refused.values())]
    return faults


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
