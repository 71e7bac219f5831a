import pulumi
import pulumi_aws as aws

bucket = aws.s3.Bucket("checkpoints", bucket="llm-checkpoints", tags={"stack": pulumi.get_stack()})
aws.s3.BucketVersioning("checkpoints", bucket=bucket.id, versioning_configuration={"status": "Enabled"})
aws.s3.BucketLifecycleConfiguration(
    "checkpoints",
    bucket=bucket.id,
    rules=[{"id": "old", "status": "Enabled", "noncurrent_version_expiration": {"noncurrent_days": 30}}],
)
pulumi.export("uri", pulumi.Output.format("s3://{}", bucket.bucket))
