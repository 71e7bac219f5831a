"""The resource types that policies judge, as Pulumi names them (azure-native without API version)."""

from __future__ import annotations

AWS_PROVIDER = "pulumi:providers:aws"
AUTO_SCALING_GROUP = "aws:autoscaling/group:Group"
BATCH_ENVIRONMENT = "aws:batch/computeEnvironment:ComputeEnvironment"
BATCH_JOB = "aws:batch/jobDefinition:JobDefinition"
BUCKETS = ("aws:s3/bucket:Bucket", "aws:s3/bucketV2:BucketV2")
BUCKET_ACCESS_BLOCK = "aws:s3/bucketPublicAccessBlock:BucketPublicAccessBlock"
ACCOUNT_ACCESS_BLOCK = "aws:s3/accountPublicAccessBlock:AccountPublicAccessBlock"
BUCKET_ACLS = ("aws:s3/bucketAcl:BucketAcl", "aws:s3/bucketAclV2:BucketAclV2")
BUCKET_LIFECYCLES = (
    "aws:s3/bucketLifecycleConfiguration:BucketLifecycleConfiguration",
    "aws:s3/bucketLifecycleConfigurationV2:BucketLifecycleConfigurationV2",
)
BUCKET_POLICY = "aws:s3/bucketPolicy:BucketPolicy"
CAPACITY_BLOCK = "aws:ec2/capacityBlockReservation:CapacityBlockReservation"
CAPACITY_RESERVATION = "aws:ec2/capacityReservation:CapacityReservation"
EBS_VOLUME = "aws:ebs/volume:Volume"
ECS_TASK = "aws:ecs/taskDefinition:TaskDefinition"
EFS = "aws:efs/fileSystem:FileSystem"
EIP = "aws:ec2/eip:Eip"
EIP_ASSOCIATION = "aws:ec2/eipAssociation:EipAssociation"
EKS_CLUSTER = "aws:eks/cluster:Cluster"
EKS_NODE_GROUP = "aws:eks/nodeGroup:NodeGroup"
FLEET = "aws:ec2/fleet:Fleet"
FSX_LUSTRE = "aws:fsx/lustreFileSystem:LustreFileSystem"
FSX_ONTAP = "aws:fsx/ontapFileSystem:OntapFileSystem"
FSX_OPENZFS = "aws:fsx/openZfsFileSystem:OpenZfsFileSystem"
IAM_ATTACHMENTS = (
    "aws:iam/groupPolicyAttachment:GroupPolicyAttachment",
    "aws:iam/policyAttachment:PolicyAttachment",
    "aws:iam/rolePolicyAttachment:RolePolicyAttachment",
    "aws:iam/rolePolicyAttachmentsExclusive:RolePolicyAttachmentsExclusive",
    "aws:iam/userPolicyAttachment:UserPolicyAttachment",
)
IAM_POLICIES = (
    "aws:iam/groupPolicy:GroupPolicy",
    "aws:iam/policy:Policy",
    "aws:iam/rolePolicy:RolePolicy",
    "aws:iam/userPolicy:UserPolicy",
)
IAM_ROLE = "aws:iam/role:Role"
IAM_USER_KEYS = (
    "aws:iam/accessKey:AccessKey",
    "aws:iam/serviceSpecificCredential:ServiceSpecificCredential",
    "aws:iam/userLoginProfile:UserLoginProfile",
)
INSTANCE = "aws:ec2/instance:Instance"
LAUNCH_CONFIGURATION = "aws:ec2/launchConfiguration:LaunchConfiguration"
LAUNCH_TEMPLATE = "aws:ec2/launchTemplate:LaunchTemplate"
NAT_GATEWAY = "aws:ec2/natGateway:NatGateway"
NETWORK_INTERFACE = "aws:ec2/networkInterface:NetworkInterface"
PLACEMENT_GROUP = "aws:ec2/placementGroup:PlacementGroup"
PREFIX_LIST = "aws:ec2/managedPrefixList:ManagedPrefixList"
PREFIX_LIST_ENTRY = "aws:ec2/managedPrefixListEntry:ManagedPrefixListEntry"
SECURITY_GROUPS = ("aws:ec2/securityGroup:SecurityGroup", "aws:ec2/defaultSecurityGroup:DefaultSecurityGroup")
SECURITY_GROUP_EGRESS = "aws:vpc/securityGroupEgressRule:SecurityGroupEgressRule"
SECURITY_GROUP_INGRESS = "aws:vpc/securityGroupIngressRule:SecurityGroupIngressRule"
SECURITY_GROUP_RULE = "aws:ec2/securityGroupRule:SecurityGroupRule"
SPOT_FLEET = "aws:ec2/spotFleetRequest:SpotFleetRequest"
SPOT_INSTANCE = "aws:ec2/spotInstanceRequest:SpotInstanceRequest"
SUBNET = "aws:ec2/subnet:Subnet"
VPC = "aws:ec2/vpc:Vpc"
VPC_ENDPOINT = "aws:ec2/vpcEndpoint:VpcEndpoint"
DEFAULT_SUBNET = "aws:ec2/defaultSubnet:DefaultSubnet"

AKS_CLUSTER = "azure-native:containerservice:ManagedCluster"
AKS_POOL = "azure-native:containerservice:AgentPool"
AZURE_BATCH_POOL = "azure-native:batch:Pool"
AZURE_NAT_GATEWAY = "azure-native:network:NatGateway"
AZURE_RESERVATION = "azure-native:compute:CapacityReservation"
BLOB_CONTAINER = "azure-native:storage:BlobContainer"
FEDERATED_CREDENTIAL = "azure-native:managedidentity:FederatedIdentityCredential"
LIFECYCLE = "azure-native:storage:ManagementPolicy"
MACHINE_LEARNING = "azure-native:machinelearningservices:Compute"
MANAGED_LUSTRE = "azure-native:storagecache:AmlFilesystem"
NETAPP_VOLUME = "azure-native:netapp:CapacityPoolVolume"
NIC = "azure-native:network:NetworkInterface"
NSG = "azure-native:network:NetworkSecurityGroup"
NSG_RULE = "azure-native:network:SecurityRule"
PUBLIC_ADDRESS = "azure-native:network:PublicIPAddress"
RESOURCE_GROUP = "azure-native:resources:ResourceGroup"
ROLE_ASSIGNMENT = "azure-native:authorization:RoleAssignment"
ROLE_DEFINITION = "azure-native:authorization:RoleDefinition"
SCALE_SET = "azure-native:compute:VirtualMachineScaleSet"
STORAGE_ACCOUNT = "azure-native:storage:StorageAccount"
VM = "azure-native:compute:VirtualMachine"
