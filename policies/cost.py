"""What a stack may cost: tags that say whose it is and until when, where it may be, which nodes, and no money for
nothing. How many GPUs: `policies.gpus`.

What only an organisation knows (its tags, types and regions) is empty until its configuration says it, and a policy
without it passes everything.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from fnmatch import fnmatchcase

from pulumi_policy import EnforcementLevel, Severity

from policies import kinds
from policies.declare import Fault, Resource, Stack, resource_policy, stack_policy
from policies.gpus import MACHINE_TYPES
from policies.machines import accelerated
from policies.options import option
from policies.view import UNKNOWN, View, shown

_NODES = (
    *(kind for kind in MACHINE_TYPES if kind not in (kinds.LAUNCH_CONFIGURATION, kinds.LAUNCH_TEMPLATE)),
    kinds.AUTO_SCALING_GROUP,
    kinds.FLEET,
    kinds.SPOT_FLEET,
)
_BILLED = (
    *_NODES,
    *kinds.BUCKETS,
    kinds.EBS_VOLUME,
    kinds.EFS,
    kinds.EIP,
    kinds.EKS_CLUSTER,
    kinds.FSX_LUSTRE,
    kinds.FSX_ONTAP,
    kinds.FSX_OPENZFS,
    kinds.NAT_GATEWAY,
    kinds.AZURE_NAT_GATEWAY,
    kinds.MANAGED_LUSTRE,
    kinds.PUBLIC_ADDRESS,
    kinds.RESOURCE_GROUP,
    kinds.STORAGE_ACCOUNT,
)


@dataclass(frozen=True)
class Tags:
    keys: tuple[str, ...] = option((), "Keys of the tags that everything billed must carry.")
    values: Mapping[str, str] = option({}, "Values to set where the level is remediate and a key is missing.")


def _tags(resource: Resource) -> Iterator[tuple[str, View]]:
    """Keys, and where each has its value: in a map, in that of the provider's defaults too, or in a group's list."""
    for path in ("tags", "tagsAll"):
        for view in resource.each(path):
            if isinstance(view.value, Mapping):
                yield from ((key, view) for key in view.value)
    for tag in resource.each("tags[]"):
        yield str(tag.get("key")), tag


@resource_policy(
    "cost-required-tags",
    *_BILLED,
    area="cost",
    description="What is billed carries the tags of the organisation.",
    why="A bill that nobody can be asked about grows until somebody turns it off by hand.",
    fix="Add the tag, best in one place for the whole stack (the provider's default tags, or a transform).",
    severity=Severity.LOW,
    reference="https://docs.aws.amazon.com/whitepapers/latest/tagging-best-practices/tagging-best-practices.html",
    options=Tags,
    mends=True,
)
def cost_required_tags(resource: Resource, wanted: Tags) -> Iterator[Fault]:
    if not wanted.keys or resource.get("tags") is UNKNOWN:
        return
    carried = dict(_tags(resource))
    for key in wanted.keys:
        if key not in carried:
            value = wanted.values.get(key)
            mend = {"tags": {key: value}} if value and resource.type != kinds.AUTO_SCALING_GROUP else None
            yield resource.fault(f"tags.{key}", "is not set", mend=mend)


@dataclass(frozen=True)
class Expiry:
    tag: str = option(
        "", 'Key of the tag that says until when nodes are needed, such as "expires"; empty asks for none.'
    )


@resource_policy(
    "cost-expiry-tag",
    *_NODES,
    area="cost",
    description="Nodes and the capacity held for them say until when they are needed.",
    why="GPU nodes that nobody remembers are the dearest mistake there is, and only a date lets a job find them.",
    fix='Give it the tag with a date, such as "2035-12-31".',
    severity=Severity.LOW,
    options=Expiry,
)
def cost_expiry_tag(resource: Resource, expiry: Expiry) -> Iterator[Fault]:
    if not expiry.tag or resource.get("tags") is UNKNOWN or not _named(resource):
        return
    holder = dict(_tags(resource)).get(expiry.tag)
    value = holder and holder.at("value" if resource.type == kinds.AUTO_SCALING_GROUP else expiry.tag)
    if value is not UNKNOWN and not re.match(r"\d{4}-\d{2}-\d{2}(?!\d)", str(value)):
        yield resource.fault(f"tags.{expiry.tag}", f"is {shown(value)}")


def _named(resource: Resource) -> bool:
    """Whether it is about accelerators; a group whose template says the type cannot tell, and counts."""
    names = [view.value for view in resource.each(MACHINE_TYPES.get(resource.type, ""))]
    return not names or any(accelerated(str(name)) for name in names)


@dataclass(frozen=True)
class NodeTypes:
    types: tuple[str, ...] = option(
        (), 'Types and sizes with accelerators that may be used; patterns such as "p5.*" hold. Empty allows all.'
    )


@resource_policy(
    "cost-node-type",
    *MACHINE_TYPES,
    area="cost",
    description="Nodes with accelerators are of a type that the organisation has allowed.",
    why="The types differ a hundredfold in price, and quota, images and jobs are made for some of them only.",
    fix="Use one of the allowed types, or have the type allowed.",
    severity=Severity.MEDIUM,
    options=NodeTypes,
)
def cost_node_type(resource: Resource, allowed: NodeTypes) -> Iterator[Fault]:
    if not allowed.types:
        return
    for view in resource.each(MACHINE_TYPES[resource.type]):
        name = str(view.value)
        if accelerated(name) and not any(fnmatchcase(name.lower(), known.lower()) for known in allowed.types):
            yield resource.fault(view.path, f"is {shown(name)}, which is none of {', '.join(allowed.types)}")


@dataclass(frozen=True)
class Regions:
    regions: tuple[str, ...] = option(
        (), 'Regions of both clouds that may be used: "us-east-1", "eastus". Empty allows all.'
    )


@resource_policy(
    "cost-region",
    kinds.AWS_PROVIDER,
    *_BILLED,
    area="cost",
    description="Everything is in a region that the organisation has allowed.",
    why="Prices, quota and the law differ by region, and traffic between regions is billed.",
    fix="Use one of the allowed regions; on AWS say it in the provider, on Azure in location.",
    severity=Severity.MEDIUM,
    options=Regions,
)
def cost_region(resource: Resource, allowed: Regions) -> Iterator[Fault]:
    if not allowed.regions:
        return
    path = "location" if resource.type.startswith("azure") else "region"
    region = resource.get(path)
    if region is None and resource.type != kinds.AWS_PROVIDER:
        return  # the provider's on AWS, the resource group's on Azure
    if region is not UNKNOWN and _plain_region(region) not in {_plain_region(known) for known in allowed.regions}:
        yield resource.fault(path, f"is {shown(region)}, which is none of {', '.join(allowed.regions)}")


def _plain_region(name: object) -> str:
    """Azure also takes the name that people read: "East US"."""
    return str(name).lower().replace(" ", "")


@stack_policy(
    "cost-nat-without-s3-endpoint",
    kinds.NAT_GATEWAY,
    area="cost",
    description="A network with a NAT gateway has a gateway endpoint for S3.",
    why="Data sets and checkpoints go through the NAT gateway, billed by the gigabyte; the endpoint is free.",
    fix='Add an aws.ec2.VpcEndpoint of type Gateway for "com.amazonaws.<region>.s3" with the route table of the nodes.',
    severity=Severity.MEDIUM,
    level=EnforcementLevel.ADVISORY,
    reference="https://docs.aws.amazon.com/vpc/latest/privatelink/vpc-endpoints-s3.html",
)
def cost_nat_without_s3_endpoint(stack: Stack) -> Iterator[Fault]:
    served = {urn for e in stack.of(kinds.VPC_ENDPOINT) if _for_s3(e) for urn in e.made_from("vpcId", kinds.VPC)}
    for gateway in stack.of(kinds.NAT_GATEWAY):
        subnets = [stack.resources[urn] for urn in gateway.made_from("subnetId", kinds.SUBNET)]
        networks = [urn for subnet in subnets for urn in subnet.made_from("vpcId", kinds.VPC)]
        if networks and not served & set(networks):
            yield gateway.fault("subnetId", "is in a network without a gateway endpoint for S3")


def _for_s3(endpoint: Resource) -> bool:
    service = endpoint.get("serviceName")
    return service is UNKNOWN or str(service).endswith(".s3")


@stack_policy(
    "cost-idle-address",
    kinds.EIP,
    kinds.PUBLIC_ADDRESS,
    area="cost",
    description="Public addresses are used by something.",
    why="Both clouds bill every public address by the hour, and one that nothing uses is a door left open.",
    fix="Remove it, or pass it to what it is for.",
    severity=Severity.LOW,
    level=EnforcementLevel.ADVISORY,
    reference="https://aws.amazon.com/vpc/pricing/",
)
def cost_idle_address(stack: Stack) -> Iterator[Fault]:
    used = {source.urn for r in stack.resources.values() for sources in r.sources.values() for source in sources}
    for address in stack.of(kinds.EIP, kinds.PUBLIC_ADDRESS):
        attached = any(address.peek(path) for path in ("instance", "networkInterface", "associationId"))
        made_for = any(address.sources.get(prop) for prop in ("instance", "networkInterface"))
        if address.urn not in used and not attached and not made_for:
            yield address.fault(
                "domain" if address.type == kinds.EIP else "ipAddress", "is used by nothing in the stack"
            )
