import json

import pulumi
import pulumi_aws as aws


def trust(service: str) -> str:
    statement = {"Effect": "Allow", "Action": "sts:AssumeRole", "Principal": {"Service": service}}
    return json.dumps({"Version": "2012-10-17", "Statement": [statement]})


def role(name: str, service: str, *policies: str) -> aws.iam.Role:
    made = aws.iam.Role(name, assume_role_policy=trust(service))
    for policy in policies:
        arn = f"arn:aws:iam::aws:policy/{policy}"
        aws.iam.RolePolicyAttachment(f"{name}-{policy}", role=made.name, policy_arn=arn)
    return made


control_role = role("control", "eks.amazonaws.com", "AmazonEKSClusterPolicy")
node_role = role("node", "ec2.amazonaws.com", "AmazonEKSWorkerNodePolicy", "AmazonEKS_CNI_Policy")

vpc = aws.ec2.Vpc("eks", cidr_block="10.5.0.0/16", enable_dns_hostnames=True)
subnets = [
    aws.ec2.Subnet(f"eks-{zone}", vpc_id=vpc.id, cidr_block=f"10.5.{64 * i}.0/18", availability_zone=f"us-west-2{zone}")
    for i, zone in enumerate("abc")
]
cluster = aws.eks.Cluster(
    "train",
    role_arn=control_role.arn,
    vpc_config={"subnet_ids": [subnet.id for subnet in subnets], "endpoint_private_access": True},
)
fabric = aws.ec2.SecurityGroup("efa", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule(
    "efa", security_group_id=fabric.id, referenced_security_group_id=fabric.id, ip_protocol="-1"
)
aws.vpc.SecurityGroupEgressRule(
    "efa", security_group_id=fabric.id, referenced_security_group_id=fabric.id, ip_protocol="-1"
)
placement = aws.ec2.PlacementGroup("efa", strategy="cluster")
template = aws.ec2.LaunchTemplate(
    "efa",
    instance_type="p4d.24xlarge",
    placement={"group_name": placement.name},
    network_interfaces=[
        {
            "network_card_index": card,
            "device_index": 1 if card else 0,
            "interface_type": "efa",
            "security_groups": [fabric.id],
        }
        for card in range(4)
    ],
)
nodes = aws.eks.NodeGroup(
    "p4d",
    cluster_name=cluster.name,
    node_role_arn=node_role.arn,
    subnet_ids=[subnets[0].id],
    ami_type="AL2023_x86_64_NVIDIA",
    scaling_config={"desired_size": 2, "min_size": 2, "max_size": 4},
    launch_template={"id": template.id, "version": template.latest_version.apply(str)},
    labels={"fabric": "efa"},
)
pulumi.export("cluster", cluster.name)
