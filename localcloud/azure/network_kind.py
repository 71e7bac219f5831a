"""What the rows of Azure's network service share."""

from __future__ import annotations

import uuid

from localcloud.kinds import Call
from localcloud.values import Properties

API = "2024-05-01"
NAME = r"^[a-zA-Z0-9]([a-zA-Z0-9_.-]*[a-zA-Z0-9_])?$"


def created(_: Call) -> Properties:
    return {"resourceGuid": str(uuid.uuid4()), "etag": f'W/"{uuid.uuid4()}"'}
