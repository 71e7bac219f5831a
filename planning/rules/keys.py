"""Rules about the key of one's own that encrypts the filesystem."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.azureids import example
from planning.facts.derive import Facts
from planning.facts.network import subscription_of
from planning.facts.storage import KEY_ARN, KEY_ID, key_arn, vault_key
from planning.findings import shown
from planning.rules.registry import AnySpec, Fault, rule

FSX_KEY = "https://docs.aws.amazon.com/fsx/latest/APIReference/API_CreateFileSystem.html"
AMLFS_KEY = "https://learn.microsoft.com/azure/azure-managed-lustre/customer-managed-encryption-keys"


@rule("kms-key-form", "error", cloud="aws", reference=FSX_KEY, waivable=False)
def kms_key_form(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The key of a filesystem is named by its ARN, or by its id where the account is known."""
    key = spec.storage.filesystem.kms_key if spec.storage.filesystem else None
    if key is None or key_arn(spec):
        return
    if re.fullmatch(KEY_ID, key):
        message, fix = "a key's id alone does not say whose it is", "write account, or the key's ARN"
    elif "alias/" in key:
        message = (
            f"{shown(key)} is an alias: FSx answers with the key's own ARN, and every later preview would replace the "
            "filesystem"
        )
        name = shown("alias/" + key.partition("alias/")[2])
        fix = f"write what this prints: aws kms describe-key --key-id {name} --query KeyMetadata.Arn"
    else:
        message = f"{shown(key)} is not the ARN of a KMS key"
        account = spec.account or "123456789012"
        fix = f"write it as arn:aws:kms:{spec.region}:{account}:key/01234567-89ab-cdef-0123-456789abcdef"
    yield Fault("storage.filesystem.kms_key", message, fix)


@rule("kms-key-of-other-region", "error", cloud="aws", reference=FSX_KEY)
def kms_key_of_other_region(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The key is in the filesystem's region."""
    found = KEY_ARN.fullmatch(key_arn(spec) or "")
    if found and found["region"] != spec.region:
        message = f"the key is in {found['region']}, and a filesystem in {spec.region} takes keys of that region only"
        yield Fault("storage.filesystem.kms_key", message, f"write a key of {spec.region}")


@rule("vault-key-form", "error", cloud="azure", reference=AMLFS_KEY, waivable=False)
def vault_key_form(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The key of a filesystem is named by the id of one version of it, which says its vault, too."""
    key = spec.storage.filesystem.kms_key if spec.storage.filesystem else None
    if key is None or vault_key(spec):
        return
    message = f"{shown(key)} is not the id of a key's version"
    if ".vault.azure.net/" in key:
        message = "a key's URL does not say in which resource group its vault is, and Managed Lustre asks for both"
    elif re.search(r"/Microsoft\.KeyVault/vaults/[^/]+/keys/[^/]+$", key, re.I):
        message = "Managed Lustre takes one version of a key and never turns to a newer one by itself"
    version = "keys/lustre/versions/0123456789abcdef0123456789abcdef"
    such = example(f"Microsoft.KeyVault/vaults/research/{version}", spec.account, group="security")
    yield Fault("storage.filesystem.kms_key", message, f"write it as {such}")


@rule("vault-key-of-other-subscription", "error", cloud="azure", reference=AMLFS_KEY)
def vault_key_of_other_subscription(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """The key's vault is in the filesystem's subscription."""
    key, own = vault_key(spec), subscription_of(spec)
    if key and own and key.subscription.lower() != own.lower():
        message = f"the key is in subscription {key.subscription}, and Managed Lustre takes keys of its own only"
        yield Fault("storage.filesystem.kms_key", message, f"write a key of {own}")
