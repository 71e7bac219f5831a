import pulumi
import pulumi_aws as aws

config = pulumi.Config()

vpc = aws.ec2.Vpc("block", cidr_block="10.7.0.0/22")
block = aws.ec2.CapacityBlockReservation(
    "block", capacity_block_offering_id="cb-0123456789abcdefg", instance_platform="Linux/UNIX"
)
subnet = aws.ec2.Subnet("block", vpc_id=vpc.id, cidr_block="10.7.0.0/23", availability_zone=block.availability_zone)
efa = aws.ec2.SecurityGroup("block", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule("efa", security_group_id=efa.id, referenced_security_group_id=efa.id, ip_protocol="-1")
aws.vpc.SecurityGroupEgressRule("efa", security_group_id=efa.id, referenced_security_group_id=efa.id, ip_protocol="-1")
layout = [(0, 0, "interface"), *((card, 1, "efa-only") for card in range(32))]
template = aws.ec2.LaunchTemplate(
    "block",
    image_id="ami-0c1f3a8058fde8814",
    instance_type="p5.48xlarge",
    instance_market_options={"market_type": "capacity-block"},
    capacity_reservation_specification={"capacity_reservation_target": {"capacity_reservation_id": block.id}},
    network_interfaces=[
        {"network_card_index": card, "device_index": device, "interface_type": kind, "security_groups": [efa.id]}
        for card, device, kind in layout
    ],
)
group = aws.autoscaling.Group(
    "block",
    min_size=0,
    desired_capacity=0,
    max_size=4,
    vpc_zone_identifiers=[subnet.id],
    launch_template={"id": template.id, "version": "$Default"},
)
pulumi.export("group", group.name)
