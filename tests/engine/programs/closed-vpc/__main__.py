import pulumi
import pulumi_aws as aws

region = aws.get_region().region

vpc = aws.ec2.Vpc("closed", cidr_block="10.6.0.0/16", enable_dns_support=True, enable_dns_hostnames=True)
subnet = aws.ec2.Subnet("closed", vpc_id=vpc.id, cidr_block="10.6.0.0/20")
routes = aws.ec2.RouteTable("closed", vpc_id=vpc.id)
aws.ec2.RouteTableAssociation("closed", subnet_id=subnet.id, route_table_id=routes.id)
aws.ec2.VpcEndpoint("s3", vpc_id=vpc.id, service_name=f"com.amazonaws.{region}.s3", route_table_ids=[routes.id])

https = aws.ec2.SecurityGroup("endpoints", vpc_id=vpc.id)
aws.vpc.SecurityGroupIngressRule(
    "https", security_group_id=https.id, cidr_ipv4=vpc.cidr_block, ip_protocol="tcp", from_port=443, to_port=443
)
for service in ("ssm", "ssmmessages", "ec2messages"):
    aws.ec2.VpcEndpoint(
        service,
        vpc_id=vpc.id,
        service_name=f"com.amazonaws.{region}.{service}",
        vpc_endpoint_type="Interface",
        subnet_ids=[subnet.id],
        security_group_ids=[https.id],
        private_dns_enabled=True,
    )
logs = aws.cloudwatch.LogGroup("nodes", retention_in_days=30)
head = aws.ec2.Instance(
    "head",
    ami="ami-0d52744d6551d851e",
    instance_type="m6i.xlarge",
    subnet_id=subnet.id,
    vpc_security_group_ids=[vpc.default_security_group_id],
    metadata_options={"http_tokens": "required"},
)
pulumi.export("head", head.private_ip)
