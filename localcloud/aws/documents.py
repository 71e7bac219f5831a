"""The function that writes IAM policies as JSON: `iam.getPolicyDocument`, as terraform-provider-aws does it.

Lists of one become plain words, longer ones are sorted backwards; `&{…}` stands for `${…}`; a statement of an override
takes the place of that with its sid.
"""

from __future__ import annotations

import json
import zlib
from collections.abc import Iterable
from typing import Any

from localcloud.kinds import CloudError
from localcloud.values import Properties

_VERSION = "2012-10-17"


def policy_document(_: object, args: Properties) -> Properties:
    own = [_statement(statement) for statement in args.get("statements") or ()]
    sources = [args.get("sourceJson"), *(args.get("sourcePolicyDocuments") or ())]
    overrides = [args.get("overrideJson"), *(args.get("overridePolicyDocuments") or ())]
    statements = _unlike([*_read(sources), *own])
    for statement in _read(overrides):
        _override(statements, statement)
    document = {
        "Version": args.get("version") or _VERSION,
        **({"Id": args["policyId"]} if args.get("policyId") else {}),
        **({"Statement": statements} if statements else {}),
    }
    text = json.dumps(document, indent=2, ensure_ascii=False)
    minified = json.dumps(document, separators=(",", ":"), ensure_ascii=False)
    return {**args, "id": str(zlib.crc32(text.encode())), "json": text, "minifiedJson": minified}


def _statement(said: Properties) -> dict[str, Any]:
    written = {
        "Sid": said.get("sid"),
        "Effect": said.get("effect") or "Allow",
        "Action": _words(said.get("actions")),
        "NotAction": _words(said.get("notActions")),
        "Resource": _words(said.get("resources")),
        "NotResource": _words(said.get("notResources")),
        "Principal": _principals(said.get("principals") or ()),
        "NotPrincipal": _principals(said.get("notPrincipals") or ()),
        "Condition": _conditions(said.get("conditions") or ()),
    }
    return {key: value for key, value in written.items() if value}


def _words(said: Iterable[str] | None) -> str | list[str]:
    words = sorted((word.replace("&{", "${") for word in said or ()), reverse=True)
    return words[0] if len(words) == 1 else words


def _principals(said: Iterable[Properties]) -> Any:
    by_type: dict[str, list[str]] = {}
    for principal in said:
        by_type.setdefault(principal["type"], []).extend(principal["identifiers"])
    if by_type == {"*": ["*"]}:
        return "*"
    return {type_: _words(ids) for type_, ids in by_type.items()}


def _conditions(said: Iterable[Properties]) -> dict[str, dict[str, Any]]:
    by_test: dict[str, dict[str, Any]] = {}
    for condition in said:
        values = [value.replace("&{", "${") for value in condition["values"]]
        by_test.setdefault(condition["test"], {})[condition["variable"]] = values[0] if len(values) == 1 else values
    return by_test


def _read(documents: Iterable[str | None]) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for text in documents:
        if text:
            try:
                statements = json.loads(text).get("Statement", [])
            except (ValueError, AttributeError):
                raise CloudError(f"reading IAM Policy Document: a source is no JSON policy: {text[:60]}") from None
            found += statements if isinstance(statements, list) else [statements]
    return found


def _unlike(statements: list[dict[str, Any]]) -> list[dict[str, Any]]:
    sids = [statement["Sid"] for statement in statements if statement.get("Sid")]
    for sid in sids:
        if sids.count(sid) > 1:
            raise CloudError(f"merging source documents: duplicate Sid ({sid})")
    return statements


def _override(statements: list[dict[str, Any]], statement: dict[str, Any]) -> None:
    sid = statement.get("Sid")
    same = next((i for i, other in enumerate(statements) if sid and other.get("Sid") == sid), None)
    if same is None:
        statements.append(statement)
    else:
        statements[same] = statement
