import pulumi
import pulumi_aws as aws

config = pulumi.Config()

data = aws.s3.Bucket("imagenet", force_destroy=True)
aws.s3.BucketPublicAccessBlock(
    "imagenet",
    bucket=data.id,
    block_public_acls=True,
    block_public_policy=True,
    ignore_public_acls=True,
    restrict_public_buckets=True,
)
vpc = aws.ec2.Vpc("lustre", cidr_block="10.3.0.0/24")
subnet = aws.ec2.Subnet("lustre", vpc_id=vpc.id, cidr_block="10.3.0.0/26")
lustre = aws.ec2.SecurityGroup("lustre", vpc_id=vpc.id, description="Lustre clients and servers")
rules = []
for name, first, last in (("lnet", 988, 988), ("more", 1018, 1023)):
    rules += [
        kind(
            name,
            security_group_id=lustre.id,
            referenced_security_group_id=lustre.id,
            ip_protocol="tcp",
            from_port=first,
            to_port=last,
        )
        for kind in (aws.vpc.SecurityGroupIngressRule, aws.vpc.SecurityGroupEgressRule)
    ]
scratch = aws.fsx.LustreFileSystem(
    "scratch",
    deployment_type="SCRATCH_2",
    file_system_type_version=config.get("lustre"),
    storage_capacity=config.require_int("gib"),
    subnet_ids=subnet.id,
    security_group_ids=[lustre.id],
    data_compression_type="LZ4",
    opts=pulumi.ResourceOptions(depends_on=rules),
)
link = aws.fsx.DataRepositoryAssociation(
    "imagenet",
    file_system_id=scratch.id,
    file_system_path="/imagenet",
    data_repository_path=pulumi.Output.format("s3://{}", data.bucket),
    batch_import_meta_data_on_create=True,
    s3={"auto_import_policy": {"events": ["NEW", "CHANGED", "DELETED"]}},
)
pulumi.export("mount", pulumi.Output.format("{}@tcp:/{}", scratch.dns_name, scratch.mount_name))
