"""Rules about the tags of a cluster's resources."""

from __future__ import annotations

import re
from collections.abc import Iterator

from planning.facts.derive import Facts
from planning.findings import shown
from planning.names import OUR_TAGS
from planning.rules.registry import AnySpec, Fault, rule

AWS_TAGS = "https://docs.aws.amazon.com/tag-editor/latest/userguide/best-practices-and-strats.html"
AZURE_TAGS = "https://learn.microsoft.com/azure/azure-resource-manager/management/tag-resources"
TAGS = {"aws": AWS_TAGS, "azure": AZURE_TAGS}
LONGEST_KEY = 128
LONGEST_VALUE = 256
MOST_TAGS = 45
"""A resource takes 50; the rest is for the project's own."""
REFUSED = {"aws": r"[^\w\s.:/=+@-]", "azure": r"[<>%&\\?/]"}
KEPT_BY_AZURE = ("azure", "microsoft", "windows")
CLOUD_NAMES = {"aws": "AWS", "azure": "Azure"}


@rule("tag-key-refused", "error", reference=TAGS)
def tag_key_refused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Tag keys keep to what every resource of the cloud takes."""
    for key in spec.tags:
        path, refused = f"tags.{key}", REFUSED[spec.cloud]
        if spec.cloud == "aws" and key.casefold().startswith("aws:"):
            message = f"AWS keeps tags that begin with aws: for itself, and {shown(key)} does"
            yield Fault(path, message, f"write {key[4:] or 'another key'}")
        elif spec.cloud == "azure" and key.casefold().startswith(KEPT_BY_AZURE):
            message = f"Azure keeps tags that begin with azure, microsoft or windows for itself, and {shown(key)} does"
            yield Fault(path, message, "choose another key")
        elif found := re.search(refused, key):
            message = f"the tag key {shown(key)} holds {found[0]!r}, which {CLOUD_NAMES[spec.cloud]} refuses"
            yield Fault(path, message, f"write {re.sub(refused, '-', key)}")
        elif not key or len(key) > LONGEST_KEY:
            message = f"a tag key has 1 to {LONGEST_KEY} characters, and this has {len(key)}"
            yield Fault(path, message, "shorten it" if key else "give it a name, or remove it")


@rule("tag-value-refused", "error", reference=TAGS)
def tag_value_refused(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """Tag values keep to what every resource of the cloud takes."""
    for key, value in spec.tags.items():
        if len(value) > LONGEST_VALUE:
            message = f"a tag value has at most {LONGEST_VALUE} characters, and this has {len(value)}"
            yield Fault(f"tags.{key}", message, "shorten it")
        elif spec.cloud == "aws" and (found := re.search(REFUSED["aws"], value)):
            message = f"the value of the tag holds {found[0]!r}, which AWS refuses"
            yield Fault(f"tags.{key}", message, f"write - in place of {found[0]}")


@rule("tag-twice", "error", reference=TAGS)
def tag_twice(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A tag is given once, and is none that the project sets itself. Azure does not tell cases apart."""
    same = str.casefold if spec.cloud == "azure" else str
    ours = {same(key) for key in OUR_TAGS[spec.cloud]}
    seen: dict[str, str] = {}
    for key in sorted(spec.tags):
        first = seen.setdefault(same(key), key)
        if first != key:
            message = f"Azure takes tag keys without regard to case, so {shown(key)} and {shown(first)} are the same"
            yield Fault(f"tags.{key}", message, f"keep {first}")
        elif same(key) in ours:
            yield Fault(f"tags.{key}", f"the project sets the tag {key} itself", "remove it, or choose another key")


@rule("tags-too-many", "error", reference=TAGS)
def tags_too_many(spec: AnySpec, _facts: Facts) -> Iterator[Fault]:
    """A resource takes 50 tags on either cloud."""
    if len(spec.tags) > MOST_TAGS:
        message = f"{len(spec.tags)} tags are given, and a resource takes 50, of which this project sets some"
        yield Fault("tags", message, f"keep {MOST_TAGS} or fewer")
