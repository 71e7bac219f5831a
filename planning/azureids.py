"""Azure resource ids: how they are told from other text, and their parts. Which resources: `planning.facts`."""

from __future__ import annotations

import re

GUID = "[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}"
"""Of a subscription, a tenant or a principal."""
EXAMPLE_SUBSCRIPTION = "01234567-89ab-cdef-0123-456789abcdef"


def resource_id(provider: str, tail: str) -> re.Pattern[str]:
    """The form of an id in a resource group: its parts are `subscription`, `group` and those that the tail names.

    Letter case says nothing. Source: Azure resource naming rules.
    """
    group = rf"/subscriptions/(?P<subscription>{GUID})/resourceGroups/(?P<group>[\w.()-]+)"
    return re.compile(rf"{group}/providers/{re.escape(provider)}/{tail}", re.I)


def id_to(found: re.Match[str], part: str) -> str:
    """The id up to a part of it: that of the VNet which a subnet is in, of the vault which holds a key."""
    return found.string[: found.end(part)]


def example(tail: str, subscription: str | None = None, group: str = "research") -> str:
    """An id as a fix shows it."""
    return f"/subscriptions/{subscription or EXAMPLE_SUBSCRIPTION}/resourceGroups/{group}/providers/{tail}"
