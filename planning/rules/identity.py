"""Rules about where a cluster is and to whom it belongs: account, region, zone."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning import catalog
from planning.azureids import GUID
from planning.facts.derive import Facts
from planning.facts.network import subscription_of
from planning.findings import near, shown
from planning.rules.registry import AnySpec, Fault, rule

AWS_REGION = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+")
AZURE_REGION = re.compile(r"[a-z]+\d*")
ZONE_ID = re.compile(r"([a-z]+\d+)(-[a-z]+\d+)?-az\d+")
ZONE_NAME = re.compile(r"[a-z]{2}(-[a-z]+)+-\d+[a-z]")
OTHER = {"aws": "azure", "azure": "aws"}
CLOUD_NAMES = {"aws": "AWS", "azure": "Azure"}


@rule("account-not-said", "info", reference="docs/spec.md")
def account_not_said(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Without an account, whatever account the credentials belong to is taken."""
    if spec.account is None:
        what, example = ("account", '"123456789012"') if spec.cloud == "aws" else ("subscription", "its GUID")
        message = f"no {what} is given, so the cluster lands in that of whoever deploys it"
        yield Fault("account", message, f"write account: {example}, and any other {what} is refused")


@rule("region-of-other-cloud", "error", reference="docs/spec.md", waivable=False)
def region_of_other_cloud(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The region belongs to the cloud of the spec and has the form of its regions."""
    known = catalog.regions(spec.cloud)
    form = AWS_REGION if spec.cloud == "aws" else AZURE_REGION
    if spec.region in known:
        return
    if spec.region in catalog.regions(OTHER[spec.cloud]):
        other = CLOUD_NAMES[OTHER[spec.cloud]]
        message = f"{spec.region} is a region of {other}, and the cluster is on {CLOUD_NAMES[spec.cloud]}"
    elif not form.fullmatch(spec.region):
        message = f"{shown(spec.region)} has not the form of an {CLOUD_NAMES[spec.cloud]} region"
    else:
        return
    example = "us-east-1" if spec.cloud == "aws" else "eastus"
    close = near(spec.region, list(known))
    yield Fault("region", message, f"write {close[0] if close else f'a region such as {example}'}")


@rule("region-unknown", "warning", reference="docs/spec.md")
def region_unknown(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A region that the catalogue does not know may be new or misspelt; nothing about it can be checked."""
    known = catalog.regions(spec.cloud)
    form = AWS_REGION if spec.cloud == "aws" else AZURE_REGION
    if spec.region in known or spec.region in catalog.regions(OTHER[spec.cloud]) or not form.fullmatch(spec.region):
        return
    close = near(spec.region, list(known))
    fix = f"if it is not new, did you mean {' or '.join(close)}?" if close else "check its spelling"
    yield Fault("region", f"the catalogue does not know the region {spec.region}", fix)


@rule(
    "zone-not-an-id",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html",
    waivable=False,
)
def zone_not_an_id(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The zone is a zone id: the same zone name means different places in different accounts."""
    zone = spec.zone or ""
    if ZONE_ID.fullmatch(zone):
        return
    region = catalog.regions("aws").get(spec.region)
    example = f"{region.zone_prefix if region and region.zone_prefix else 'use1'}-az6"
    if ZONE_NAME.fullmatch(zone):
        message = f"{zone} is a zone name, which differs from account to account; a zone id is wanted"
    else:
        message = f"{shown(zone)} has not the form of a zone id"
    yield Fault("zone", message, f"write an id such as {example}; `aws ec2 describe-availability-zones` lists them")


@rule(
    "zone-of-other-region",
    "error",
    cloud="aws",
    reference="https://docs.aws.amazon.com/global-infrastructure/latest/regions/az-ids.html",
    waivable=False,
)
def zone_of_other_region(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The zone lies in the region of the spec."""
    found = ZONE_ID.fullmatch(spec.zone or "")
    region = catalog.regions("aws").get(spec.region)
    if found and region and region.zone_prefix and found[1] != region.zone_prefix:
        home = next((r.name for r in catalog.regions("aws").values() if r.zone_prefix == found[1]), None)
        where = f"is a zone of {home}" if home else "is no zone of it"
        fix = f"write a zone that begins with {region.zone_prefix}-" + (f", or region: {home}" if home else "")
        yield Fault("zone", f"the cluster is in {spec.region}, and {spec.zone} {where}", fix)


@rule(
    "zone-to-opt-in",
    "info",
    cloud="aws",
    reference="https://docs.aws.amazon.com/local-zones/latest/ug/getting-started.html",
)
def zone_to_opt_in(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A Local Zone is closed to an account until it opts in."""
    found = ZONE_ID.fullmatch(spec.zone or "")
    if found and found[2]:
        place = re.sub(r"(\d+)$", r"-\1", found[2])
        message = f"{spec.zone} is a Local Zone, which an account has to opt into before anything can be made there"
        command = "aws ec2 modify-availability-zone-group --opt-in-status opted-in"
        yield Fault("zone", message, f"if that is not done: {command} --group-name {spec.region}{place}")


@rule(
    "zone-left-open",
    "info",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/reliability/availability-zones-overview",
)
def zone_left_open(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """Nodes and filesystem are in one zone, where the region has zones."""
    if spec.zone is None and facts.lustre is not None:
        message = "without a zone, nodes and Managed Lustre may land in different ones, and all they exchange crosses"
        command = f"az vm list-skus --location {spec.region} --size {spec.nodes.type} --zone"
        yield Fault("zone", message, f"write a zone that offers the size: {command}")


@rule(
    "of-other-subscription",
    "warning",
    cloud="azure",
    reference="https://learn.microsoft.com/azure/role-based-access-control/scope-overview",
)
def of_other_subscription(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """What exists already is in the cluster's subscription, or its owner lets the cluster's deployer in."""
    own = subscription_of(spec)
    said = {
        "nodes.reservation": facts.capacity.reservation,
        "storage.filesystem.existing": spec.storage.filesystem.existing if spec.storage.filesystem else None,
        "storage.objects.existing": spec.storage.objects.existing,
    }
    for path, value in said.items():
        found = re.match(rf"/subscriptions/({GUID})/", value or "", re.IGNORECASE)
        if found and own and found[1].lower() != own.lower():
            message = f"this is in subscription {found[1]}, and the cluster in {own}"
            yield Fault(path, message, "see that who deploys has rights there, or write one of the cluster's own")


@rule(
    "zone-without-the-type",
    "warning",
    cloud="aws",
    reference="https://docs.aws.amazon.com/ec2/latest/instancetypes/",
)
def zone_without_the_type(spec: AnySpec, facts: Facts) -> Iterator[Fault]:
    """The node type is offered in the zone, where the zones that offer it are known."""
    zones = getattr(facts.node, "zones", ())
    region = catalog.regions("aws").get(spec.region)
    if not zones or spec.zone in zones:
        return
    here = [zone for zone in zones if region and zone.startswith(f"{region.zone_prefix}-")]
    where = f"in {spec.region} only in {', '.join(here)}" if here else f"only in {', '.join(zones)}"
    fix = f"write {(here or zones)[0]}" + ("" if here else " and its region") + ", or check what AWS offers by now"
    yield Fault("zone", f"{spec.nodes.type} was seen {where}, not in {shown(spec.zone)}", fix)
