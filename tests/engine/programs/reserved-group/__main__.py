from typing import Any

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
count = config.require_int("nodes")
placed = config.require_bool("placed")

vpc = aws.ec2.Vpc("vpc", cidr_block="10.2.0.0/20")
subnet = aws.ec2.Subnet("nodes", vpc_id=vpc.id, cidr_block="10.2.0.0/22", availability_zone_id="use2-az2")
sg = aws.ec2.SecurityGroup("nodes", vpc_id=vpc.id)
for kind in (aws.vpc.SecurityGroupIngressRule, aws.vpc.SecurityGroupEgressRule):
    kind("among-nodes", security_group_id=sg.id, referenced_security_group_id=sg.id, ip_protocol="-1")

fabric = aws.ec2.PlacementGroup("fabric", strategy=aws.ec2.PlacementStrategy.CLUSTER)
reservation = aws.ec2.CapacityReservation(
    "nodes",
    instance_type="p5en.48xlarge",
    instance_platform="Linux/UNIX",
    availability_zone=config.get("zone") or subnet.availability_zone,
    instance_count=count,
    instance_match_criteria="targeted",
    placement_group_arn=fabric.arn if placed else None,
    opts=pulumi.ResourceOptions(delete_before_replace=True),
)
# p5en: 16 cards with an EFA each, the first beside the node's own interface.
efas = [{"networkCardIndex": card, "deviceIndex": 1, "interfaceType": "efa-only"} for card in range(16)]
interfaces: Any = [
    {**interface, "securityGroups": [sg.id]} for interface in [{"networkCardIndex": 0, "deviceIndex": 0}, *efas]
]
template = aws.ec2.LaunchTemplate(
    "nodes",
    image_id="ami-0c1f3a8058fde8814",
    instance_type="p5en.48xlarge",
    network_interfaces=interfaces,
    capacity_reservation_specification={
        "capacity_reservation_target": {"capacity_reservation_id": reservation.id},
    },
)
version: Any = template.latest_version  # a number, where the group takes a word
group = aws.autoscaling.Group(
    "nodes",
    min_size=count,
    max_size=count,
    vpc_zone_identifiers=[subnet.id],
    placement_group=fabric.name,
    launch_template={"id": template.id, "version": version},
    wait_for_capacity_timeout="15m",
)
pulumi.export("reservation", reservation.id)
pulumi.export("size", group.desired_capacity)
