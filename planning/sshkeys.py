"""OpenSSH public keys: the kinds in use, and whether the base64 of one holds all of it."""

from __future__ import annotations

import base64

SSH_KEY_KINDS = (
    "ssh-ed25519",
    "ssh-rsa",
    "ecdsa-sha2-nistp256",
    "ecdsa-sha2-nistp384",
    "ecdsa-sha2-nistp521",
)
SMALLEST_RSA_BYTES = 128
"""1024 bits, the least that EC2 imports. Source: EC2 user guide, key pairs."""


def is_whole(kind: str, blob: bytes) -> bool:
    """Whether the fields of such a key are there. Source: RFC 4253 section 6.6, RFC 5656, RFC 8709."""
    match _fields(blob):
        case [b"ssh-ed25519", point]:
            return kind == "ssh-ed25519" and len(point) == 32
        case [b"ssh-rsa", exponent, modulus]:
            return kind == "ssh-rsa" and exponent != b"" and len(modulus) >= SMALLEST_RSA_BYTES
        case [name, curve, point]:
            return kind.encode() == name == b"ecdsa-sha2-" + curve and len(point) > 64
        case _:
            return False


def rsa_bits(key: str) -> int | None:
    """Of the modulus of a whole RSA key; None for one of another kind."""
    kind, _, rest = key.partition(" ")
    if kind != "ssh-rsa":
        return None
    _, _, modulus = _fields(base64.b64decode(rest.split(" ")[0]))
    return int.from_bytes(modulus, "big").bit_length()


def _fields(blob: bytes) -> list[bytes]:
    """Each has its length before it; empty where they do not fill the blob."""
    fields, at = [], 0
    while at < len(blob):
        start = at + 4
        at = start + int.from_bytes(blob[at:start], "big")
        if at > len(blob):
            return []
        fields.append(blob[start:at])
    return fields
