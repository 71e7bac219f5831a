from typing import Any

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
interfaces: Any = config.require_object("interfaces")
on_template = config.get("groups-on") == "template"

vpc = aws.ec2.Vpc("inference", cidr_block="10.8.0.0/24")
subnet = aws.ec2.Subnet("inference", vpc_id=vpc.id, cidr_block="10.8.0.0/25")
efa = aws.ec2.SecurityGroup(
    "efa",
    vpc_id=vpc.id,
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
)
if not on_template:
    for interface in interfaces:
        interface["securityGroups"] = [efa.id]
template = aws.ec2.LaunchTemplate(
    "g6e",
    image_id="ami-0c1f3a8058fde8814",
    instance_type="g6e.12xlarge",
    vpc_security_group_ids=[efa.id] if on_template else None,
    network_interfaces=interfaces,
)
group = aws.autoscaling.Group(
    "g6e",
    min_size=1,
    max_size=2,
    vpc_zone_identifiers=[subnet.id],
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
)
