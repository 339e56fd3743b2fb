"""Inputs made from others: bytes flipped, pieces moved, repeated, nested without end, numbers made extreme."""

from __future__ import annotations

import random
import re
from collections.abc import Sequence

LONGEST = 1 << 16
NUMBERS = [*b"0 -1 1e999 NaN inf 2147483648 9223372036854775808 0.1 4294967296".split(), b"9" * 5000]
WORDS = rb"\ud800 \u0000 &#0; ]]> <!-- null true [] {} _: encoding='UTF-7' <!DOCTYPE+a> 2024-02-30".split()
WORDS += [bytes([sign]) for sign in b"\0\r\n\t\"'\\\\<>&{}[],;:.=#/@|*"]
WORDS += [b"\xed\xa0\x80", b"\xff\xfe", b"\xef\xbb\xbf", b"\xc2\x85", b"\xe2\x80\xa8", b"\xf0\x9f\x98\x80"]
RAW = [b"\xff\xff\xff\xff", b"\0\0\0\0", b"\xff\xff\xff\x7f", b"\1\0\0\0", b"\0\0\0\x80", b"\xff" * 8, b"\0" * 16]
_TOKEN = re.compile(rb"[A-Za-z_:.\-]+|\d+|[^\w\s]|\s+")


def tokens(seeds: Sequence[bytes]) -> list[bytes]:
    """The words that a format is made of, from inputs in it."""
    return sorted({token for seed in seeds for token in _TOKEN.findall(seed) if len(token) < 60})


def mutated(raw: bytes, others: Sequence[bytes], words: Sequence[bytes], rng: random.Random, *, binary: bool) -> bytes:
    """Another input, some changes away from one and with pieces of others."""
    data = bytearray(raw)
    for _ in range(rng.choice((1, 1, 1, 2, 3, 8))):
        _change(data, others, words, rng, binary)
    return bytes(data[:LONGEST]) if not binary else bytes(data)


def _change(data: bytearray, others: Sequence[bytes], words: Sequence[bytes], rng: random.Random, binary: bool) -> None:
    size = len(data)
    at = rng.randrange(size + 1)
    if binary and size > 600 and rng.random() < 0.4:  # where formats keep what describes the rest
        at = rng.choice((rng.randrange(300), size - 1 - rng.randrange(600)))
    kind = rng.randrange(6 if binary else 10)
    if kind == 0 and size:
        data[at : at + 1] = bytes([rng.randrange(256)])
    elif kind == 1 and at < size:
        data[at] ^= 1 << rng.randrange(8)
    elif kind == 2:
        del data[at : at + rng.choice((1, 2, 8, 40, size))]
    elif kind == 3:
        other = rng.choice(others)
        start = rng.randrange(len(other) + 1)
        data[at : at + rng.choice((0, 8))] = other[start : start + rng.choice((4, 16, 100))]
    elif kind == 4:
        piece = rng.choice(RAW if binary else WORDS)
        data[at : at + (len(piece) if binary else 0)] = piece
    elif binary:
        data[at : at + 4] = rng.randrange(1 << rng.choice((8, 16, 31))).to_bytes(4, "little")
    else:
        _reword(data, at, words, rng, kind)


def _reword(data: bytearray, at: int, words: Sequence[bytes], rng: random.Random, kind: int) -> None:
    """Change a text by its words and lines."""
    if kind in (5, 7):
        piece = rng.choice(list((re.compile(rb"\d+") if kind == 5 else _TOKEN).finditer(data)) or [None])
        if piece is not None:
            data[piece.start() : piece.end()] = rng.choice(NUMBERS if kind == 5 else words)
    elif kind == 6:
        data[at:at] = rng.choice(words)
    elif kind == 8:
        lines = data.splitlines(keepends=True)
        if lines:
            line = rng.randrange(len(lines))
            lines.insert(rng.randrange(len(lines) + 1), lines[line] if rng.random() < 0.5 else lines.pop(line))
            data[:] = b"".join(lines)
    elif rng.random() < 0.1:
        data[at:at] = rng.choice((*words, b"[", b'{"a":')) * rng.choice((10, 3000))
