"""The keys of a stack file: which one is the cluster, and which ones Pulumi drops or hands to a provider we do not use.

Reading the file and the cluster itself: `planning.stackfile`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from planning.findings import UNPLACED, Finding, Level, Place, near

PROJECT = "gpu-clusters"
CLUSTER = f"{PROJECT}:cluster"
CLUSTER_KEYS = (CLUSTER, "cluster", f"{PROJECT}:config:cluster")
"""All spellings of it."""
Places = Mapping[tuple[str | int, ...], Place]
"""Where keys stand, by the keys that lead there."""
TEXT_KEYS = ("secretsprovider", "encryptedkey", "encryptionsalt")
"""What Pulumi itself keeps in a stack file beside config."""


EDITOR_HINT = "# yaml-language-server: $schema=schema.json"
"""First line of a stack file in stacks/: editors then complete and underline by the schema beside it."""


def finding(
    path: str, message: str, fix: str, level: Level = "error", rule: str = "schema", place: Place = UNPLACED
) -> Finding:
    return Finding(path, rule, level, message, fix, place=place)


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


def judge_root(root: Mapping[str, object], anchored: set[str], places: Places) -> Iterator[Finding]:
    """`anchored`: the keys whose values carry an anchor or hold one, thus stand there to be used elsewhere."""
    if root.get("environment") is not None:
        message = "environment: config that comes from there is not in the file, so it is not checked"
        fix = f"keep {CLUSTER} in the stack file"
        yield finding("", message, fix, level="warning", place=places.get(("environment",), UNPLACED))
    if not root.get("config"):
        return
    for key in root:
        if key not in _ROOT_KEYS and key not in anchored:
            fix = f"indent it below {CLUSTER}:, or remove it"
            message = f"{key} stands beside config, where Pulumi ignores it"
            yield finding("", message, fix, level="warning", place=places.get((key,), UNPLACED))


def judge_config(
    root: Mapping[str, object], config: Mapping[str, object], places: Places | None = None
) -> Iterator[Finding]:
    """`places`: of the file's keys, where there is a file."""
    if not any(is_cluster(key) for key in config):
        yield _missing(root, config, places or {})
    for key in config:
        namespace, name = split(key) or ("", "")
        if namespace in _PROVIDERS:
            yield _ignored(key, _PROVIDERS[namespace], name)
        elif namespace == PROJECT and name != "cluster":
            fix = f"move it into {CLUSTER}, or remove it"
            yield finding(key, f"{key} has no effect: the program reads {CLUSTER} only", fix, level="warning")


_ROOT_KEYS = ("config", "environment", *TEXT_KEYS)


def _missing(root: Mapping[str, object], config: Mapping[str, object], places: Places) -> Finding:
    fix = f"write config: and below it {CLUSTER}: with the fields of the cluster"
    if close := [key for key in config if _meant_for_cluster(key)]:
        message = f"there is no {CLUSTER}, and {close[0]} is not what the program reads"
        return finding("", message, f"write {CLUSTER}", place=places.get(("config", close[0]), UNPLACED))
    if config:
        return finding("", f"config has no {CLUSTER}", f"write {CLUSTER}: below config:")
    if {CLUSTER, "cluster", "cloud", "nodes"} & set(root):
        return finding("", "the cluster stands at the top of the file, where Pulumi does not look for it", fix)
    if close := near("config", [key for key in root if key not in _ROOT_KEYS]):
        message = f"the file has no config, and {close[0]} is not what Pulumi reads"
        return finding("", message, "write config", place=places.get((close[0],), UNPLACED))
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
