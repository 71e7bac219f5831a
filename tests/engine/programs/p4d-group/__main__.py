"""A group that fills itself: private nodes, one placement group, outbound traffic by NAT."""

import base64

import pulumi
import pulumi_aws as aws

config = pulumi.Config()
count = config.require_int("nodes")
zones = aws.get_availability_zones(state="available").names[: config.get_int("zones") or 1]

vpc = aws.ec2.Vpc("train", cidr_block="10.1.0.0/16", enable_dns_hostnames=True, enable_dns_support=True)
gateway = aws.ec2.InternetGateway("train", vpc_id=vpc.id)
public = aws.ec2.Subnet("public", vpc_id=vpc.id, cidr_block="10.1.255.0/28", availability_zone=zones[0])
public_routes = aws.ec2.RouteTable(
    "public", vpc_id=vpc.id, routes=[{"cidr_block": "0.0.0.0/0", "gateway_id": gateway.id}]
)
aws.ec2.RouteTableAssociation("public", subnet_id=public.id, route_table_id=public_routes.id)
address = aws.ec2.Eip("nat", domain="vpc")
nat = aws.ec2.NatGateway(
    "nat", subnet_id=public.id, allocation_id=address.id, opts=pulumi.ResourceOptions(depends_on=[gateway])
)
private_routes = aws.ec2.RouteTable("private", vpc_id=vpc.id)
aws.ec2.Route("out", route_table_id=private_routes.id, destination_cidr_block="0.0.0.0/0", nat_gateway_id=nat.id)
subnets = []
for i, zone in enumerate(zones):
    subnet = aws.ec2.Subnet(f"nodes-{i}", vpc_id=vpc.id, cidr_block=f"10.1.{i}.0/24", availability_zone=zone)
    aws.ec2.RouteTableAssociation(f"nodes-{i}", subnet_id=subnet.id, route_table_id=private_routes.id)
    subnets.append(subnet)

efa = aws.ec2.SecurityGroup(
    "efa",
    vpc_id=vpc.id,
    description="all traffic among the nodes",
    ingress=[{"protocol": "-1", "from_port": 0, "to_port": 0, "self": True}],
    egress=[
        {"protocol": "-1", "from_port": 0, "to_port": 0, "self": True},
        {"protocol": "-1", "from_port": 0, "to_port": 0, "cidr_blocks": ["0.0.0.0/0"]},
    ],
)
role = aws.iam.Role(
    "node",
    assume_role_policy=pulumi.Output.json_dumps(
        {
            "Version": "2012-10-17",
            "Statement": [
                {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": "ec2.amazonaws.com"}}
            ],
        }
    ),
)
aws.iam.RolePolicyAttachment("ssm", role=role.name, policy_arn="arn:aws:iam::aws:policy/AmazonSSMManagedInstanceCore")
profile = aws.iam.InstanceProfile("node", role=role.name)
placement = aws.ec2.PlacementGroup("fabric", strategy="cluster")
image = aws.ec2.get_ami(
    most_recent=True,
    owners=["amazon"],
    filters=[{"name": "name", "values": ["Deep Learning Base OSS Nvidia Driver GPU AMI (Ubuntu 22.04)*"]}],
)
template = aws.ec2.LaunchTemplate(
    "node",
    image_id=image.id,
    instance_type="p4d.24xlarge",
    user_data=base64.b64encode(b"#!/bin/bash\nfi_info -p efa\n").decode(),
    iam_instance_profile={"arn": profile.arn},
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 0 if card == 0 else 1,
            "interface_type": "efa",
            "security_groups": [efa.id],
            "delete_on_termination": "true",
        }
        for card in range(4)
    ],
    block_device_mappings=[{"device_name": "/dev/sda1", "ebs": {"volume_size": 300, "volume_type": "gp3"}}],
    update_default_version=True,
)
group = aws.autoscaling.Group(
    "nodes",
    min_size=count,
    max_size=count,
    desired_capacity=count,
    vpc_zone_identifiers=[subnet.id for subnet in subnets],
    placement_group=placement.name,
    launch_template={"id": template.id, "version": "$Latest"},
    tags=[{"key": "Name", "value": "p4d", "propagate_at_launch": True}],
)
pulumi.export("group", group.name)
