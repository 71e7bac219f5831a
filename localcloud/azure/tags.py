"""What Azure Resource Manager refuses of the tags of anything. Codes and texts of names: as public issues quote them;
the codes of the other refusals are assumed.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from localcloud.azure.refusals import raise_first
from localcloud.kinds import Call, Refusal

_RESERVED = r"[<>%&\\?/\x00-\x1f\x7f]"
_KEPT = ("azure", "microsoft", "windows")
_MOST, _LONGEST_NAME, _LONGEST_VALUE = 50, 512, 256
_LONGEST_NAME_ON_STORAGE = 128
"""Source of the limits: Azure documentation, "Use tags to organize your Azure resources"."""


def judge(call: Call) -> None:
    tags = call.inputs.get("tags")
    if isinstance(tags, dict):
        longest = _LONGEST_NAME_ON_STORAGE if ":storage:" in call.kind.token else _LONGEST_NAME
        raise_first(_refusals(tags, longest))


def _refusals(tags: dict[str, object], longest: int) -> Iterator[Refusal]:
    if len(tags) > _MOST:
        yield Refusal("InvalidTags", f"The number of tags exceeds the maximum of {_MOST}.", target="tags")
    if reserved := [name for name in tags if re.search(_RESERVED, name)]:
        text = f"The tag names '{','.join(reserved)}' have reserved characters '<,>,%,&,\\,?,/' or control characters."
        yield Refusal("InvalidTagNameCharacters", text, target="tags")
    if kept := [name for name in tags if name.casefold().startswith(_KEPT)]:
        text = f"The tag names '{','.join(kept)}' begin with a reserved prefix: {', '.join(_KEPT)}."
        yield Refusal("ReservedTagName", text, target="tags")
    seen: set[str] = set()
    for name, value in tags.items():
        if name.casefold() in seen:
            yield Refusal("DuplicateTagName", f"The tag name '{name}' is given twice; case is ignored.", target="tags")
        seen.add(name.casefold())
        if not 0 < len(name) <= longest:
            yield Refusal("InvalidTagName", f"Tag key too large: 1 to {longest} characters.", target="tags")
        if len(str(value)) > _LONGEST_VALUE:
            yield Refusal(
                "InvalidTagValue", f"Tag value too large: at most {_LONGEST_VALUE} characters.", target="tags"
            )
