"""What a storage account may be by its own inputs, and what its lifecycle rules may say.

Codes are Azure's where public reports quote them: azure-cli#25748 (hierarchical namespace), azurerm#15968 (NFS),
azurerm#32722 and the documents on feature support (conflicts of a hierarchical namespace). Elsewhere the code is the
service's general one, InvalidRequestPropertyValue, and the words are ours.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from localcloud.kinds import Refusal
from localcloud.values import Properties, at, first

_STANDARD = ("Standard_LRS", "Standard_ZRS", "Standard_GRS", "Standard_RAGRS", "Standard_GZRS", "Standard_RAGZRS")
_PREMIUM = ("Premium_LRS", "Premium_ZRS")
_SKUS = {
    "StorageV2": (*_STANDARD, *_PREMIUM[:1]),
    "Storage": ("Standard_LRS", "Standard_GRS", "Standard_RAGRS", "Premium_LRS"),
    "BlobStorage": ("Standard_LRS", "Standard_GRS", "Standard_RAGRS"),
    "BlockBlobStorage": _PREMIUM,
    "FileStorage": (*_PREMIUM, "PremiumV2_LRS", "PremiumV2_ZRS", "StandardV2_LRS", "StandardV2_ZRS", "StandardV2_GRS"),
}
_TIERS = ("tierToCool", "tierToCold", "tierToArchive", "tierToHot", "enableAutoTierToHotFromCool")
_AGES = ("tierToCool", "tierToCold", "tierToArchive", "delete")
_MOST_RULES = 100
_MOST_PREFIXES = 10


def bad_value(target: str, value: object, why: str = "") -> Refusal:
    text = f"The value '{value}' is not allowed for property {target}."
    return Refusal("InvalidRequestPropertyValue", f"{text} {why}".rstrip(), target=target)


def account_refusals(inputs: Properties) -> Iterator[Refusal]:
    kind, sku = str(inputs["kind"]), str(first(inputs, "sku.name"))
    skus = _SKUS.get(kind)
    if skus is None:
        yield bad_value("kind", kind, f"It is one of {', '.join(_SKUS)}.")
    elif sku not in skus:
        yield bad_value("sku.name", sku, f"An account of kind {kind} takes {', '.join(skus)}.")
    yield from _namespace(inputs, kind, sku)
    yield from _nfs(inputs, sku)
    if inputs.get("accessTier") == "Archive":
        yield bad_value("accessTier", "Archive", "Blobs are archived one by one.")
    tls = inputs.get("minimumTlsVersion")
    if tls is not None and tls not in ("TLS1_0", "TLS1_1", "TLS1_2", "TLS1_3"):
        yield bad_value("minimumTlsVersion", tls, "It is one of TLS1_0, TLS1_1, TLS1_2, TLS1_3.")


def _namespace(inputs: Properties, kind: str, sku: str) -> Iterator[Refusal]:
    if inputs.get("isHnsEnabled"):
        takes = (kind == "StorageV2" and sku.startswith("Standard")) or kind == "BlockBlobStorage"
        if not takes:
            why = "For more information, see - https://aka.ms/storageaccounthns"
            yield bad_value("isHnsEnabled", True, f"{why} (premium: kind BlockBlobStorage)")
        return
    for name in ("isSftpEnabled", "enableNfsV3"):
        if inputs.get(name):
            yield bad_value(name, True, "It needs a hierarchical namespace (isHnsEnabled).")


def _nfs(inputs: Properties, sku: str) -> Iterator[Refusal]:
    if not inputs.get("enableNfsV3"):
        return
    if first(inputs, "networkRuleSet.defaultAction", "Allow") != "Deny":
        text = "NFSv3 needs network rules that deny by default and allow a virtual network or private endpoint."
        target = "networkRuleSet.defaultAction"
        yield Refusal("NetworkAclsDefaultActionMisconfigured", text, target=target)
    if inputs.get("enableHttpsTrafficOnly", True):
        yield bad_value("enableHttpsTrafficOnly", True, "NFSv3 is not encrypted: it must be false.")
    if not sku.endswith(("_LRS", "_ZRS")):
        yield bad_value("sku.name", sku, "NFSv3 needs locally or zone-redundant storage.")


def service_refusals(inputs: Properties, account: Properties) -> Iterator[Refusal]:
    """Of the blob service."""
    wanted = {
        "isVersioningEnabled": inputs.get("isVersioningEnabled"),
        "changeFeed": first(inputs, "changeFeed.enabled"),
        "restorePolicy": first(inputs, "restorePolicy.enabled"),
    }
    for name, on in wanted.items():
        if on and account.get("isHnsEnabled"):
            text = "This feature is not supported for the account because hierarchical namespace is enabled."
            yield Refusal("FeatureNotSupportedForAccount", text, status=409, target=name)
    if wanted["restorePolicy"]:
        kept = first(inputs, "deleteRetentionPolicy.enabled")
        if not (wanted["isVersioningEnabled"] and wanted["changeFeed"] and kept):
            why = "It needs versioning, the change feed and soft deletion of blobs."
            yield bad_value("restorePolicy.enabled", True, why)


def lifecycle_refusals(inputs: Properties, account: Properties) -> Iterator[Refusal]:
    rules = [rule for _, rule in at(inputs, "policy.rules[]")]
    if not 1 <= len(rules) <= _MOST_RULES:
        yield bad_value("policy.rules", len(rules), f"A policy has 1 to {_MOST_RULES} rules.")
    names = [str(rule.get("name", "")).casefold() for rule in rules]
    for i, rule in enumerate(rules):
        place = f"policy.rules[{i}]"
        if names[i] in names[:i]:
            yield bad_value(f"{place}.name", rule.get("name"), "Each rule has a name of its own.")
        yield from _filters(rule, f"{place}.definition.filters")
        yield from _actions(rule, f"{place}.definition.actions", account)


def _filters(rule: Properties, place: str) -> Iterator[Refusal]:
    kinds = [kind for _, kind in at(rule, "definition.filters.blobTypes[]")]
    if not kinds or not set(kinds) <= {"blockBlob", "appendBlob"}:
        yield bad_value(f"{place}.blobTypes", kinds, "It holds blockBlob, appendBlob or both.")
    prefixes = first(rule, "definition.filters.prefixMatch", [])
    if len(prefixes) > _MOST_PREFIXES:
        yield bad_value(f"{place}.prefixMatch", len(prefixes), f"A rule has {_MOST_PREFIXES} prefixes at most.")
    for j, prefix in enumerate(prefixes):
        container = str(prefix).partition("/")[0]
        if not re.fullmatch(r"\$root|\$logs|[a-z0-9]([a-z0-9-]*[a-z0-9])?", container) or "*" in prefix:
            why = "A prefix begins with the name of a container and has no wildcards."
            yield bad_value(f"{place}.prefixMatch[{j}]", prefix, why)


def _actions(rule: Properties, place: str, account: Properties) -> Iterator[Refusal]:
    actions = first(rule, "definition.actions", {})
    done = [action for part in ("baseBlob", "snapshot", "version") for action in (actions.get(part) or {})]
    if not done:
        yield bad_value(place, "", "A rule needs an action.")
    sku = str(first(account, "sku.name"))
    for tier in _TIERS:
        if tier in done and sku.startswith("Premium"):
            yield bad_value(f"{place}.baseBlob.{tier}", tier, "Premium accounts have no tiers; blobs can be deleted.")
    if "tierToArchive" in done and sku.endswith("ZRS"):
        yield bad_value(f"{place}.baseBlob.tierToArchive", sku, "Zone-redundant accounts have no archive.")
    base = actions.get("baseBlob") or {}
    if "appendBlob" in first(rule, "definition.filters.blobTypes", []) and set(base) - {"delete"}:
        yield bad_value(f"{place}.baseBlob", sorted(base), "Append blobs can be deleted only.")
    ages = [(name, first(base, f"{name}.daysAfterModificationGreaterThan")) for name in _AGES]
    known = [(name, age) for name, age in ages if age is not None]
    for (one, young), (two, old) in pairwise(known):
        if young >= old:
            yield bad_value(f"{place}.baseBlob.{two}", old, f"It must come later than {one} ({young}).")
