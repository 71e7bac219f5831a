"""OpenSSH public keys that are well formed, and belong to nobody."""

from __future__ import annotations

import base64

ED25519 = "ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIGYJof/1iH++8qxPpbhtnQUO+mx0DBoHjXtumkz6IfKM somebody"


def public_key(kind: str, *fields: bytes) -> str:
    blob = b"".join(len(field).to_bytes(4, "big") + field for field in (kind.encode(), *fields))
    return f"{kind} {base64.b64encode(blob).decode()} somebody"


def rsa_key(bits: int) -> str:
    modulus = (1 << (bits - 1)) | 1
    return public_key("ssh-rsa", b"\1\0\1", modulus.to_bytes(bits // 8 + 1, "big"))
