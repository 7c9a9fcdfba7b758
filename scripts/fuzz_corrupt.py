"""How files are damaged: with their structure in mind, and without."""

from __future__ import annotations

import gzip
import io
import random
import tarfile
import zipfile

Random = random.Random
NASTY = [
    "",
    " ",
    "nan",
    "-inf",
    "1e999",
    "-1",
    "0",
    "99",
    "01",
    "1.0",
    "9" * 30,
    "9" * 5000,
    "1" * 3000 + "x",
    "\x1b[2J\x1b]0;x\x07",
    "\x9b31m",
    "\u202egnp",
    "a\rb",
    '"',
    '""',
    '"a\nb"',
    "a,b",
    "::",
    "\x00",
    "\x1f",
    "e\u0301",
    "\ufeff",
    "NULL",
    "2005-13-45",
    "0001-01-01T00:00:00+23:59",
    "x" * 20_000,
    "=1+1",
    "🎬",
]
BOMB = 250 << 20


def damage(data: bytes, rng: Random) -> bytes:
    """Bytes here and there."""
    found = bytearray(data)
    for _ in range(rng.choice([1, 1, 2, 3, 8])):
        at = rng.randrange(len(found) + 1)
        if rng.random() < 0.3:  # ends and beginnings matter most
            at = min(
                len(found),
                rng.choice([rng.randrange(64), max(0, len(found) - rng.randrange(1, 400))]),
            )
        act = rng.randrange(6)
        if act == 0 and at < len(found):
            found[at] = rng.randrange(256)
        elif act == 1 and at < len(found):
            found[at] = rng.choice([0, 10, 34, 44, 127, 128, 255])
        elif act == 2:
            del found[at : at + rng.choice([1, 2, 8, 100])]
        elif act == 3:
            found[at:at] = rng.randbytes(rng.choice([1, 2, 8, 100]))
        elif act == 4:
            found[at:at] = found[at : at + rng.choice([4, 50, 500])]
        else:
            del found[at:]
    return bytes(found)


def damage_table(data: bytes, rng: Random) -> bytes:
    """Cells, columns, lines, delimiters and encodings."""
    text = data.decode("utf-8", "replace")
    mark = next((m for m in ("::", "\t", ";", "|", ",") if m in text), ",")
    lines = text.split("\n")
    for _ in range(rng.choice([1, 1, 2, 5])):
        row = rng.randrange(len(lines))
        cells = lines[row].split(mark)
        act = rng.randrange(8)
        if act <= 2:
            cells[rng.randrange(len(cells))] = rng.choice(NASTY)
        elif act == 3:
            cells.insert(rng.randrange(len(cells) + 1), rng.choice(NASTY))
        elif act == 4 and len(cells) > 1:
            del cells[rng.randrange(len(cells))]
        elif act == 5:
            cells[0] = f"{rng.choice(NASTY)}{cells[0]}"
        elif act == 6:
            rng.shuffle(cells)
        lines[row] = mark.join(cells)
        if act == 7:
            lines.insert(row, rng.choice(["", '"', lines[row] * 50, mark * 200]))
    text = "\n".join(lines)
    act = rng.randrange(14)
    if act == 0:
        text = text.replace(mark, rng.choice([" ", "\t", ",", "::", "^", "\x00"]))
    elif act == 1:
        text = text.replace("\n", rng.choice(["\r", "\r\n", "\n\n", "\u2028"]))
    elif act == 2:
        return text.encode("utf-16", "replace")
    elif act == 3:
        return text.encode("latin-1", "replace")
    elif act == 4:
        text = "\ufeff" + text
    elif act == 5:
        text = text.replace("\n", f"{mark}x\n")
    return text.encode("utf-8", "surrogatepass")


def pack(data: bytes, name: str, rng: Random) -> tuple[bytes, str]:
    """An archive of the file, perhaps a damaged or a hostile one."""
    act = rng.randrange(8)
    if act == 0:
        packed, name = gzip.compress(data), f"{name}.gz"
    elif act == 1:
        packed, name = gzip.compress(gzip.compress(data)), f"{name}.gz"
    elif act == 2:
        packed, name = zipped(data, name, rng), f"{name}.zip"
    elif act in (3, 4):
        packed, name = tarred(data, name, rng), f"{name}.tar"
        if act == 4:
            packed, name = gzip.compress(packed), f"{name}.gz"
    elif act == 5:
        packed = zipped(gzip.compress(data), f"{name}.gz", rng)
        name = f"{name}.zip"
    elif act == 6:
        inner = tarred(data, name, rng)
        for _ in range(rng.choice([1, 3])):
            inner = tarred(inner, "inner.tar", rng)
        packed, name = inner, f"{name}.tar"
    else:
        packed, name = (gzip.compress(data) + b"\0" * 100 + gzip.compress(data), f"{name}.gz")
    if rng.random() < 0.6:
        packed = damage(packed, rng)
    return packed, name


def zipped(data: bytes, name: str, rng: Random) -> bytes:
    held = io.BytesIO()
    with zipfile.ZipFile(held, "w", rng.choice([0, 8, 12, 14])) as archive:
        for _ in range(rng.choice([1, 1, 2])):
            archive.writestr(f"f{rng.randrange(9)}/{name}", data)
    found = bytearray(held.getvalue())
    if rng.random() < 0.2:  # a password, or a way to pack that nobody knows
        at = found.find(b"PK\x01\x02")
        found[at + rng.choice([8, 10])] = rng.choice([1, 99])
    return bytes(found)


def tarred(data: bytes, name: str, rng: Random) -> bytes:
    held = io.BytesIO()
    form = rng.choice([tarfile.GNU_FORMAT, tarfile.PAX_FORMAT, tarfile.USTAR_FORMAT])
    with tarfile.open(fileobj=held, mode="w", format=form) as archive:
        for kind in rng.sample(
            [tarfile.REGTYPE, tarfile.FIFOTYPE, tarfile.SYMTYPE, tarfile.CHRTYPE], 2
        ):
            info = tarfile.TarInfo(f"d/{name}")
            info.type = kind
            info.linkname = "/dev/zero"
            info.size = len(data) if kind == tarfile.REGTYPE else 0
            archive.addfile(info, io.BytesIO(data))
        info = tarfile.TarInfo(f"d/{name}")
        info.size = len(data)
        archive.addfile(info, io.BytesIO(data))
    return held.getvalue()


def bomb(kind: int, head: bytes) -> tuple[bytes, str]:
    """A small file that unpacks to hundreds of megabytes."""
    line = b"1,1,3\n" if kind % 2 else b"\0" * 6
    blank = line * (1 << 16)
    held = io.BytesIO()
    if kind < 4:
        with gzip.GzipFile(fileobj=held, mode="wb", compresslevel=1) as packed:
            packed.write(head)
            for _ in range(BOMB // len(blank)):
                packed.write(blank)
        return held.getvalue(), "bomb.csv.gz"
    with zipfile.ZipFile(held, "w", 8) as archive, archive.open("bomb.csv", "w") as packed:
        packed.write(head)
        for _ in range(BOMB // len(blank)):
            packed.write(blank)
    return held.getvalue(), "bomb.zip"
