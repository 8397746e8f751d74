"""The chain of keys, as ``protocol.cu`` computes it, in plain integers."""

from __future__ import annotations

_MASK = (1 << 64) - 1
_GOLDEN = 0x9E3779B97F4A7C15

Key = tuple[int, int]


def mix(x: int) -> int:
    """The finaliser of MurmurHash3 on 64 bits."""
    x ^= x >> 33
    x = x * 0xFF51AFD7ED558CCD & _MASK
    x ^= x >> 33
    x = x * 0xC4CEB9FE1A85EC53 & _MASK
    return x ^ x >> 33


def digest(sums: Key, key: Key) -> Key:
    """The digest of a call from the sums over its bytes."""
    return mix(sums[0] + key[0] & _MASK), mix(sums[1] + key[1] & _MASK)


def next_key(key: Key, digested: Key) -> Key:
    """The key of the next call."""
    first = mix(key[0] + digested[0] * _GOLDEN & _MASK)
    return first, mix((key[1] ^ digested[1]) + first & _MASK)


def keys_of(first: Key, digests: list[Key]) -> list[Key]:
    """The key of each call of a batch, from the digests that came back."""
    keys = [first]
    for digested in digests[:-1]:
        keys.append(next_key(keys[-1], digested))
    return keys
