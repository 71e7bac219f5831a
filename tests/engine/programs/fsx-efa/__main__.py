import pulumi
import pulumi_aws as aws

config = pulumi.Config()
anywhere = config.get("egress") == "anywhere"

vpc = aws.ec2.Vpc("storage", cidr_block="10.4.0.0/16")
subnet = aws.ec2.Subnet("storage", vpc_id=vpc.id, cidr_block="10.4.4.0/22", availability_zone="us-east-1b")
efa = aws.ec2.SecurityGroup("efa", vpc_id=vpc.id)
inward = aws.vpc.SecurityGroupIngressRule(
    "efa", security_group_id=efa.id, referenced_security_group_id=efa.id, ip_protocol="-1"
)
outward = aws.vpc.SecurityGroupEgressRule(
    "efa",
    security_group_id=efa.id,
    ip_protocol="-1",
    cidr_ipv4="0.0.0.0/0" if anywhere else None,
    referenced_security_group_id=None if anywhere else efa.id,
)
key = aws.kms.Key("storage", description="training data", enable_key_rotation=True, deletion_window_in_days=7)
filesystem = aws.fsx.LustreFileSystem(
    "training",
    deployment_type="PERSISTENT_2",
    storage_type="SSD",
    per_unit_storage_throughput=500,
    storage_capacity=config.require_int("gib"),
    efa_enabled=True,
    metadata_configuration={"mode": "AUTOMATIC"},
    subnet_ids=subnet.id,
    security_group_ids=[efa.id],
    kms_key_id=key.arn,
    automatic_backup_retention_days=7,
    daily_automatic_backup_start_time="04:00",
    opts=pulumi.ResourceOptions(depends_on=[inward, outward]),
)
pulumi.export("dns_name", filesystem.dns_name)
