"""Who may talk to whom: the network security groups of nodes and filesystem. InfiniBand does not pass them."""

from __future__ import annotations

from pulumi_azure_native import network as azure

from planning.plan import Plan

LUSTRE_PORTS = ("988", "1019-1023")
"""Source: Azure Managed Lustre prerequisites, network security group."""
LAST = 4096
"""The highest priority number, after which only Azure's own rules come."""


def node_rules(plan: Plan) -> list[azure.SecurityRuleArgs]:
    """Ways to the nodes: among themselves, Lustre, SSH as the spec says, and nothing else, from the internet least.

    Without a way out there is none to the internet either. Azure's own services of every host (DNS, metadata) are not
    subject to these rules.
    """
    network = plan.network
    nodes, cluster = str(network.nodes), str(network.cidr)
    rules = [_rule("nodes", 100, "Nodes among themselves and to their endpoints", nodes, cluster)]
    if network.filesystem is not None:
        filesystem = str(network.filesystem)
        rules.append(_rule("lustre", 110, "Lustre back to the nodes", filesystem, nodes, list(LUSTRE_PORTS)))
        if plan.objects.link:
            endpoints = str(network.endpoints)
            rules.append(_rule("link", 120, "The filesystem to the container", filesystem, endpoints, ["443"]))
    if network.bastion is not None:
        rules.append(_rule("bastion", 130, "SSH through Bastion", str(network.bastion), nodes, ["22"]))
    rules += [
        _rule(f"ssh-{index}", 200 + index, "SSH from a network of the spec", source, nodes, ["22"])
        for index, source in enumerate(plan.access.ssh_from)
    ]
    rules.append(_rule("nothing-else", LAST, "No other way in", "*", "*", access="Deny"))
    if plan.egress == "none":
        text = "Nothing to the internet"
        rules.append(_rule("no-way-out", LAST, text, "*", "Internet", direction="Outbound", access="Deny"))
    return rules


def filesystem_rules(plan: Plan) -> list[azure.SecurityRuleArgs]:
    """Ways of the filesystem: Lustre with the nodes and among its servers, both ways; out to Azure is the default."""
    own, nodes, ports = str(plan.network.filesystem), str(plan.network.nodes), list(LUSTRE_PORTS)
    return [
        _rule("lustre-from-nodes", 100, "Lustre from the nodes", nodes, own, ports),
        _rule("lustre-servers", 110, "Lustre among its servers", own, own, ports),
        _rule("no-internet", LAST, "Nothing from the internet", "Internet", "*", access="Deny"),
        _rule("lustre-to-nodes", 100, "Lustre back to the nodes", own, nodes, ports, direction="Outbound"),
        _rule("lustre-servers-out", 110, "Lustre among its servers", own, own, ports, direction="Outbound"),
    ]


def _rule(
    name: str,
    priority: int,
    description: str,
    source: str,
    destination: str,
    ports: list[str] | None = None,
    *,
    direction: str = "Inbound",
    access: str = "Allow",
) -> azure.SecurityRuleArgs:
    """A rule of a network security group; with `ports` it is for TCP, else for everything."""
    return azure.SecurityRuleArgs(
        name=name,
        priority=priority,
        direction=direction,
        access=access,
        protocol="Tcp" if ports else "*",
        source_address_prefix=source,
        source_port_range="*",
        destination_address_prefix=destination,
        destination_port_ranges=ports or ["*"],
        description=description,
    )
