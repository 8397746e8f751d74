"""The chain of keys in plain integers, and the same arithmetic in the device's kernels."""

from __future__ import annotations

import pytest

from pytest_kernelbench.errors import MachineError
from pytest_kernelbench.judge import chain
from pytest_kernelbench.judge.nvrtc import protocol_cubin


def test_mix_is_the_published_finaliser() -> None:
    # fmix64 of MurmurHash3: 0 stays 0; 1 is a published test value of the function.
    assert chain.mix(0) == 0
    assert chain.mix(1) == 0xB456BCFC34C2CB2C


def test_every_bit_of_the_input_moves_about_half_of_the_output() -> None:
    for bit in range(64):
        moved = (
            chain.mix(0x0123456789ABCDEF) ^ chain.mix(0x0123456789ABCDEF ^ 1 << bit)
        ).bit_count()
        assert 16 <= moved <= 48, bit


def test_the_next_key_needs_the_digest() -> None:
    key = (3, 5)
    assert chain.next_key(key, (1, 2)) != chain.next_key(key, (1, 3))
    assert chain.next_key(key, (1, 2)) != chain.next_key(key, (2, 2))


def test_keys_of_a_batch_follow_each_other() -> None:
    digests = [(11, 12), (13, 14), (15, 16)]
    keys = chain.keys_of((1, 2), digests)
    assert keys == [
        (1, 2),
        chain.next_key((1, 2), (11, 12)),
        chain.next_key(chain.next_key((1, 2), (11, 12)), (13, 14)),
    ]


@pytest.mark.parametrize("capability", ["8.0", "9.0"])
def test_the_kernels_compile_for(capability: str) -> None:
    try:
        cubin = protocol_cubin(capability)
    except MachineError as error:
        if "was not found" not in str(error):
            raise
        pytest.skip(f"no NVRTC here: {error}")
    assert cubin.startswith(b"\x7fELF")
    for kernel in (b"kb_gate", b"kb_generate", b"kb_digest", b"kb_compare"):
        assert kernel in cubin
