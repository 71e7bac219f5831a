import pulumi
import pulumi_aws as aws

NODES = 4

vpc = aws.ec2.Vpc("sweep", cidr_block="172.31.0.0/16", tags={"Name": "sweep"})
subnet = aws.ec2.Subnet("sweep", vpc_id=vpc.id, cidr_block="172.31.16.0/20", availability_zone="us-west-2a")
group = aws.ec2.SecurityGroup("sweep", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule(
    "peers-in", security_group_id=group.id, referenced_security_group_id=group.id, ip_protocol="-1"
)
aws.vpc.SecurityGroupEgressRule(
    "peers-out", security_group_id=group.id, referenced_security_group_id=group.id, ip_protocol="-1"
)
key = aws.ec2.KeyPair(
    "sweep",
    public_key="ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIInTbxmG/32lhxpiJrTAjf+S/R2L8iduNSFQWkUFQOnP trainer@workstation",
)
template = aws.ec2.LaunchTemplate(
    "sweep",
    image_id="ami-0c1f3a8058fde8814",
    instance_type="p4de.24xlarge",
    key_name=key.key_name,
    network_interfaces=[
        aws.ec2.LaunchTemplateNetworkInterfaceArgs(
            network_card_index=card,
            device_index=min(card, 1),
            interface_type="efa",
            security_groups=[group.id],
        )
        for card in range(4)
    ],
)
fleet = aws.ec2.Fleet(
    "sweep",
    type="instant",
    terminate_instances=True,
    launch_template_configs=[
        aws.ec2.FleetLaunchTemplateConfigArgs(
            launch_template_specification=aws.ec2.FleetLaunchTemplateConfigLaunchTemplateSpecificationArgs(
                launch_template_id=template.id, version=template.latest_version.apply(lambda version: str(version))
            ),
            overrides=[aws.ec2.FleetLaunchTemplateConfigOverrideArgs(subnet_id=subnet.id)],
        )
    ],
    target_capacity_specification={"total_target_capacity": NODES, "default_target_capacity_type": "spot"},
    spot_options={"allocation_strategy": "price-capacity-optimized"},
)
pulumi.export("fulfilled", fleet.fulfilled_capacity)
