"""Policy documents of AWS, which properties hold as JSON: their statements, with one word as a list of one.

What they must not say: `policies.identity`.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from pulumi_policy.proxy import UnknownValueError

from policies.view import View, plain


@dataclass(frozen=True)
class Statement:
    path: str
    """Of the property that holds it, and its place: `policy.Statement[0]`."""
    allows: bool
    actions: list[str]
    all_but: list[str]
    """NotAction: everything except these is meant."""
    resources: list[str]
    principals: list[tuple[str, str]]
    """Kind and name: ("Federated", "arn:…"); ("*", "*") for anybody."""
    conditions: list[tuple[str, str, list[str]]]
    """Operator, key, values."""


def statements(resource: View, path: str) -> Iterator[Statement]:
    """Every statement of every document at a path; what is unknown is remembered, what is no JSON is left to AWS."""
    for view in resource.each(path):
        try:
            document = json.loads(view.value) if isinstance(view.value, str) else plain(view.value)
        except UnknownValueError as unknown:
            resource.unknowns.append(unknown)
            continue
        except ValueError:
            continue
        for index, row in enumerate(_list(document.get("Statement")) if isinstance(document, dict) else []):
            if isinstance(row, Mapping):
                yield _statement(row, f"{view.path}.Statement[{index}]")


def _statement(row: Mapping[str, Any], path: str) -> Statement:
    return Statement(
        path,
        allows=row.get("Effect") == "Allow",
        actions=_words(row.get("Action")),
        all_but=_words(row.get("NotAction")),
        resources=_words(row.get("Resource")) or (["*"] if "NotResource" in row else []),
        principals=_principals(row.get("Principal")),
        conditions=[
            (operator, key, _words(values))
            for operator, keys in (row.get("Condition") or {}).items()
            for key, values in keys.items()
        ],
    )


def _principals(value: Any) -> list[tuple[str, str]]:
    if isinstance(value, str):
        return [(value, value)]
    if not isinstance(value, Mapping):
        return []
    return [(kind, name) for kind, names in value.items() for name in _words(names)]


def _words(value: Any) -> list[str]:
    return [str(word) for word in _list(value)]


def _list(value: Any) -> list[Any]:
    if value is None:
        return []
    return value if isinstance(value, list) else [value]
