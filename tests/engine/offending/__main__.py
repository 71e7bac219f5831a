"""Declares the broken stacks of tests/policies/cases, all together, each resource under the name of its policy.

Configuration: `cloud`, the only cases taken; `only`, the one policy whose case is taken; `late`, whether every value of
it comes out of another resource, so that a preview does not know it.
"""

import pulumi

from tests.policy_cases import CASES, changed


def with_outputs(value, outputs):
    """A value with an output in place of each `<unknown>`, in turn, the last for the rest."""
    if isinstance(value, dict):
        return {key: with_outputs(inner, outputs) for key, inner in value.items()}
    if isinstance(value, list):
        return [with_outputs(inner, outputs) for inner in value]
    if value == "<unknown>":
        return outputs.pop(0) if len(outputs) > 1 else outputs[0]
    return value


def declare(policy, rows, first=None):
    made = {}
    for row in rows:
        sources = row.get("sources", {})
        props = {
            prop: with_outputs(value, [made[name].id for name in sources.get(prop, [])])
            for prop, value in row.get("props", {}).items()
        }
        if first:
            props = {prop: first.id.apply(lambda _, value=value: value) for prop, value in props.items()}
        options = pulumi.ResourceOptions(protect=row.get("protect", False))
        made[row["name"]] = pulumi.CustomResource(row["type"], f"{policy}-{row['name']}", props, options)


config = pulumi.Config()
only = config.get("only")
late = config.get_bool("late")
for policy, case in CASES.items():
    rows = changed(case, case["wrong"])
    if all(row["type"].startswith(config.require("cloud")) for row in rows) and only in (None, policy):
        first = (
            pulumi.CustomResource("aws:ec2/keyPair:KeyPair", "first", {"publicKey": "ssh-ed25519 AAAA"})
            if late
            else None
        )
        declare(policy, rows, first)
