import pulumi
import pulumi_aws as aws

config = pulumi.Config()
cards = config.require_int("cards")
device = config.get_int("device") or 1

vpc = aws.ec2.Vpc("lab", cidr_block="10.0.0.0/16", enable_dns_hostnames=True)
subnet = aws.ec2.Subnet("lab", vpc_id=vpc.id, cidr_block="10.0.0.0/24", availability_zone="us-east-2b")
fabric = aws.ec2.SecurityGroup("fabric", vpc_id=vpc.id, description="EFA between the two nodes")
talk = [
    aws.vpc.SecurityGroupIngressRule(
        "from-self", security_group_id=fabric.id, referenced_security_group_id=fabric.id, ip_protocol="-1"
    ),
    aws.vpc.SecurityGroupEgressRule(
        "to-self", security_group_id=fabric.id, referenced_security_group_id=fabric.id, ip_protocol="-1"
    ),
]
placement = aws.ec2.PlacementGroup("pair", strategy="cluster")
image = aws.ssm.get_parameter(
    name="/aws/service/deeplearning/ami/x86_64/base-oss-nvidia-driver-gpu-ubuntu-22.04/latest/ami-id"
)


def interface(card: int) -> aws.ec2.LaunchTemplateNetworkInterfaceArgs:
    return aws.ec2.LaunchTemplateNetworkInterfaceArgs(
        network_card_index=card,
        device_index=device,
        interface_type="efa-only",
        subnet_id=subnet.id,
        security_groups=[fabric.id],
        delete_on_termination="true",
    )


primary = aws.ec2.LaunchTemplateNetworkInterfaceArgs(
    network_card_index=0,
    device_index=0,
    subnet_id=subnet.id,
    security_groups=[fabric.id],
    delete_on_termination="true",
)
template = aws.ec2.LaunchTemplate(
    "node",
    image_id=image.value,
    instance_type="p5.48xlarge",
    placement={"group_name": placement.name},
    network_interfaces=[primary, *(interface(card) for card in range(cards))],
    metadata_options={"http_tokens": "required"},
)
nodes = [
    aws.ec2.Instance(
        f"node-{i}",
        launch_template={"id": template.id, "version": template.latest_version.apply(str)},
        tags={"Name": f"efa-{i}"},
        opts=pulumi.ResourceOptions(depends_on=talk),
    )
    for i in range(2)
]
pulumi.export("addresses", [node.private_ip for node in nodes])
