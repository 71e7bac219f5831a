"""The keys of a stack file: which one is the cluster, and which ones Pulumi drops or hands to a provider we do not use.

Reading the file and the cluster itself: `planning.stackfile`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planning.findings import Finding, Level, near

PROJECT = "gpu-clusters"
CLUSTER = f"{PROJECT}:cluster"
TEXT_KEYS = ("secretsprovider", "encryptedkey", "encryptionsalt")
"""What Pulumi itself keeps in a stack file beside config."""


def finding(path: str, message: str, fix: str, level: Level = "error", rule: str = "schema") -> Finding:
    return Finding(path, rule, level, message, fix)


def split(key: str) -> tuple[str, str] | None:
    """Namespace and name of a config key; None where Pulumi refuses it."""
    match key.split(":"):
        case [name]:
            return PROJECT, name
        case [namespace, name] | [namespace, "config", name]:
            return namespace, name
    return None


def is_cluster(key: str) -> bool:
    return split(key) == (PROJECT, "cluster")


def is_provider(key: str) -> bool:
    """Whether the key is for a cloud's default provider."""
    parts = split(key)
    return parts is not None and parts[0] in _PROVIDERS


def judge_root(root: Mapping[str, object], anchored: set[str]) -> Iterator[Finding]:
    """`anchored`: the keys whose values carry an anchor or hold one, thus stand there to be used elsewhere."""
    if root.get("environment") is not None:
        message = "environment: config that comes from there is not in the file, so it is not checked"
        yield finding("", message, f"keep {CLUSTER} in the stack file", level="warning")
    if not root.get("config"):
        return
    for key in root:
        if key not in _ROOT_KEYS and key not in anchored:
            fix = f"indent it below {CLUSTER}:, or remove it"
            yield finding("", f"{key} stands beside config, where Pulumi ignores it", fix, level="warning")


def judge_config(root: Mapping[str, object], config: Mapping[str, object]) -> Iterator[Finding]:
    if not any(is_cluster(key) for key in config):
        yield _missing(root, config)
    for key in config:
        namespace, name = split(key) or ("", "")
        if namespace in _PROVIDERS:
            yield _ignored(key, _PROVIDERS[namespace], name)
        elif namespace == PROJECT and name != "cluster":
            fix = f"move it into {CLUSTER}, or remove it"
            yield finding(key, f"{key} has no effect: the program reads {CLUSTER} only", fix, level="warning")


_ROOT_KEYS = ("config", "environment", *TEXT_KEYS)


def _missing(root: Mapping[str, object], config: Mapping[str, object]) -> Finding:
    fix = f"write config: and below it {CLUSTER}: with the fields of the cluster"
    if close := [key for key in config if _meant_for_cluster(key)]:
        return finding("", f"there is no {CLUSTER}, and {close[0]} is not what the program reads", f"write {CLUSTER}")
    if config:
        return finding("", f"config has no {CLUSTER}", f"write {CLUSTER}: below config:")
    if {CLUSTER, "cluster", "cloud", "nodes"} & set(root):
        return finding("", "the cluster stands at the top of the file, where Pulumi does not look for it", fix)
    if close := near("config", [key for key in root if key not in _ROOT_KEYS]):
        return finding("", f"the file has no config, and {close[0]} is not what Pulumi reads", "write config")
    return finding("", "the file has no config, so it describes no cluster", fix)


def _meant_for_cluster(key: str) -> bool:
    namespace, name = split(key) or ("", "")
    return name == "cluster" or (namespace == PROJECT and bool(near(name, ["cluster"])))


_PROVIDERS = {"aws": "AWS", "azure-native": "Azure", "azure": "Azure"}
_FIELDS = {
    "region": "region", "location": "region", "allowedAccountIds": "account", "subscriptionId": "account",
    "defaultTags": "tags",
}  # fmt: skip
_ENVIRONMENT = {
    "profile": "AWS_PROFILE", "accessKey": "AWS_ACCESS_KEY_ID", "secretKey": "AWS_SECRET_ACCESS_KEY",
    "token": "AWS_SESSION_TOKEN", "clientId": "ARM_CLIENT_ID", "clientSecret": "ARM_CLIENT_SECRET",
    "tenantId": "ARM_TENANT_ID", "useOidc": "ARM_USE_OIDC", "useMsi": "ARM_USE_MSI", "environment": "ARM_ENVIRONMENT",
}  # fmt: skip


def _ignored(key: str, provider: str, name: str) -> Finding:
    message = f"{key} has no effect: the cluster has an {provider} provider of its own, which ignores such keys"
    if name in _FIELDS:
        fix = f"remove it, and write {_FIELDS[name]} in {CLUSTER}"
    elif name in _ENVIRONMENT:
        fix = f"remove it, and set {_ENVIRONMENT[name]} in the environment"
    elif provider == "AWS":
        fix = "remove it, and put it into the profile that AWS_PROFILE in the environment names"
    else:
        fix = "remove it, and set its ARM_ variable in the environment"
    return finding(key, message, fix, rule="provider-key-ignored")
