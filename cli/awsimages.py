"""What AWS says of an image: its id, by the SSM parameter that names it, and what a launch template must know of it.

The one module that calls a cloud, and only for `gpu-clusters images --update`: two reading requests for each image.
"""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from pydantic import ValidationError

from planning.facts.imagerecord import ImageRecord

REFUSED = {
    "ParameterNotFound": "there is no such parameter in this region: take another image, or another region",
    "InvalidAMIID.NotFound": "there is no such AMI in this region, or the account may not use it: AMI ids are regional",
    "InvalidAMIID.Unavailable": "the AMI was withdrawn: take another image",
    "InvalidAMIID.Malformed": "this is no AMI id",
    "ValidationException": "this is no name of a parameter",
}
"""Answers about the image itself, by their code; any other is about who asks."""


class LookUpError(Exception):
    """There is no image to record."""


class NoAnswerError(LookUpError):
    """AWS could not be asked, or does not let this caller ask."""


class UnfitImageError(LookUpError):
    """AWS answered, and there is no such image or none that nodes can be made from."""


def look_up(asked: str, region: str, today: date) -> ImageRecord:
    """Asks for one image. Raises LookUpError with what is wrong."""
    try:
        import boto3
        from botocore.config import Config
        from botocore.exceptions import BotoCoreError, ClientError
        from botocore.parsers import ResponseParserError
    except ImportError:
        raise NoAnswerError("boto3 is not installed: it comes with the extra `aws` of this project") from None
    patience = Config(connect_timeout=5, read_timeout=15, retries={"mode": "standard", "max_attempts": 3})
    try:
        session = boto3.session.Session(region_name=region)
        ami = asked
        if asked.startswith("/"):
            ami = session.client("ssm", config=patience).get_parameter(Name=asked).get("Parameter", {}).get("Value")
        if not ami:
            raise NoAnswerError("what answered is not AWS: a proxy may stand in between")
        images = session.client("ec2", config=patience).describe_images(ImageIds=[ami]).get("Images")
    except ClientError as refusal:
        error = refusal.response.get("Error", {})
        code = error.get("Code", "")
        if code in REFUSED:
            raise UnfitImageError(f"{code}: {REFUSED[code]}") from None
        raise NoAnswerError(
            f"{code}: {error.get('Message', '')} (needed: ssm:GetParameter and ec2:DescribeImages, in a region that "
            "the account has)"
        ) from None
    except (BotoCoreError, ResponseParserError, ValueError) as problem:
        why = str(problem).partition("\n")[0].rstrip(".")  # a proxy's page would follow
        raise NoAnswerError(
            f"AWS can not be asked: {why}. Credentials are looked for as the AWS command line does (`aws sso login`), "
            f"and {region} must be a region"
        ) from None
    if not images:
        raise UnfitImageError(f"{ami}: {REFUSED['InvalidAMIID.NotFound']}")
    return record_of(images[0], today)


def record_of(image: Mapping[str, Any], today: date) -> ImageRecord:
    """From EC2's description. Raises UnfitImageError where nodes can not be made from it."""
    ami = image.get("ImageId", "")
    device = image.get("RootDeviceName", "")
    disks = {disk.get("DeviceName"): disk.get("Ebs", {}) for disk in image.get("BlockDeviceMappings", [])}
    if image.get("State") != "available":
        raise UnfitImageError(f"{ami} is {image.get('State', 'in no known state')}, not available")
    if image.get("Platform", "").lower() == "windows":
        raise UnfitImageError(f"{ami} is a Windows image, and first boot is written for Linux")
    if image.get("RootDeviceType") != "ebs" or "VolumeSize" not in disks.get(device, {}):
        raise UnfitImageError(f"{ami} has no root disk on EBS, which nodes need")
    try:
        return ImageRecord(
            id=ami,
            name=image.get("Name", ""),
            arch=image.get("Architecture", ""),
            root_device=device,
            root_gib=disks[device]["VolumeSize"],
            deprecated=date.fromisoformat(image["DeprecationTime"][:10]) if image.get("DeprecationTime") else None,
            recorded=today,
        )
    except ValueError as problem:
        wrong = problem.errors() if isinstance(problem, ValidationError) else [{"loc": ["deprecated"]}]
        fields = ", ".join(str(error["loc"][0]) for error in wrong)
        raise UnfitImageError(f"{ami} is none that nodes can be made from: its {fields} does not fit") from None
