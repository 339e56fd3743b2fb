"""The file of a taxonomy: a header that names the arrays, then the arrays, aligned for memory mapping.

The header is JSON; nothing in the file is executed. Every offset, size and link is checked before use, so a damaged or
hostile file gives an error, not a crash.
"""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, BinaryIO

import numpy as np
from numpy.typing import NDArray

from keepsense.arrays import Rows, Strings
from keepsense.errors import BadInput, BadTaxonomy
from keepsense.files import parsed_json, write_whole

if TYPE_CHECKING:
    from keepsense.taxonomy.taxonomy import Taxonomy

MAGIC = b"KEEPSENSE-TAXONOMY 1\n"
ALIGN = 64
_KINDS = {"uint8": np.uint8, "uint16": np.uint16, "int32": np.int32, "int64": np.int64, "float64": np.float64}
_MAX_HEADER = 1 << 20
_MAX_SECTION = 1 << 31


def save(taxonomy: Taxonomy, path: str | os.PathLike[str], *, compress: bool = False) -> None:
    """Write a taxonomy to one file; the file appears only when it is whole.

    >>> import tempfile, pathlib
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> from keepsense.taxonomy.taxonomy import Taxonomy
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(from_edges([("cat", "animal")]), pathlib.Path(folder) / "pets.taxonomy")
    ...     len(Taxonomy.load(pathlib.Path(folder) / "pets.taxonomy"))
    2
    """
    try:
        arrays = _arrays(taxonomy, compact=compress)
    except BadInput as error:
        raise BadTaxonomy(f"{taxonomy.name}: the taxonomy cannot be written: {error}") from None
    sections: list[dict[str, Any]] = []
    blocks: list[bytes] = []
    offset = 0
    for key, array in arrays.items():
        raw = np.ascontiguousarray(array).tobytes()
        block = zlib.compress(raw, 9) if compress else raw
        sections.append(
            {"key": key, "kind": array.dtype.name, "count": len(array), "offset": offset, "bytes": len(block)}
        )
        blocks.append(block)
        offset += len(block) + (-len(block)) % (1 if compress else ALIGN)
    header = {
        "name": taxonomy.name,
        "concepts": len(taxonomy),
        "terms": len(taxonomy.terms),
        "tables": {key: len(table) for key, table in taxonomy.tables.items()},
        "compressed": compress,
        "info": dict(taxonomy.info),
        "sections": sections,
    }
    text = json.dumps(header, ensure_ascii=False, separators=(",", ":")).encode("utf-8")
    lead = MAGIC + len(text).to_bytes(8, "little") + text
    lead += b" " * ((-len(lead)) % ALIGN)
    padding = [b"\0" * (0 if compress else (-len(block)) % ALIGN) for block in blocks]
    parts = (part for pair in zip(blocks, padding, strict=True) for part in pair)
    write_whole(path, (lead, *parts), BadTaxonomy)


def load(path: str | os.PathLike[str], make: Callable[..., Taxonomy]) -> Taxonomy:
    """Read a taxonomy file; uncompressed arrays are mapped from the file, not copied.

    >>> from keepsense.taxonomy.taxonomy import Taxonomy
    >>> load("/nowhere/pets.taxonomy", Taxonomy)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadTaxonomy: pets.taxonomy: the file cannot be read (No such file or directory)
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            header, start = _read_header(source, file)
            size = os.fstat(file.fileno()).st_size
        if size <= start:
            raise BadTaxonomy(f"{source.name}: the file is cut off after its header; write it again")
        body: NDArray[np.uint8]
        if header["compressed"]:
            body = np.fromfile(source, dtype=np.uint8, offset=start)
        else:
            body = np.memmap(source, dtype=np.uint8, mode="r", offset=start)
    except OSError as error:
        raise BadTaxonomy(f"{source.name}: the file cannot be read ({error.strerror})") from None
    try:
        arrays = {s["key"]: _section(s, body, bool(header["compressed"])) for s in header["sections"]}
        taxonomy = make(**_fields(header, arrays))
        _check(taxonomy)
    except (KeyError, TypeError, ValueError, IndexError, AttributeError, OverflowError, zlib.error) as error:
        raise BadTaxonomy(
            f"{source.name}: the taxonomy file is damaged ({type(error).__name__}: {error}); write it again"
        ) from None
    return taxonomy


def title(path: str | os.PathLike[str]) -> str:
    """Name of the taxonomy in a file, by its header alone.

    >>> import tempfile, pathlib
    >>> from keepsense.taxonomy.taxonomy_builder import from_edges
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     save(from_edges([("cat", "animal")], name="pets"), pathlib.Path(folder) / "pets.taxonomy")
    ...     title(pathlib.Path(folder) / "pets.taxonomy")
    'pets'
    """
    source = Path(path)
    try:
        with source.open("rb") as file:
            return str(_read_header(source, file)[0].get("name", ""))
    except OSError as error:
        raise BadTaxonomy(f"{source.name}: the file cannot be read ({error.strerror})") from None


def _read_header(source: Path, file: BinaryIO) -> tuple[dict[str, Any], int]:
    start = file.read(len(MAGIC))
    if start != MAGIC and start.startswith(MAGIC[:-2]):
        raise BadTaxonomy(f"{source.name}: written by a newer Keepsense in a version not known here; use a newer one")
    if start != MAGIC:
        raise BadTaxonomy(f"{source.name}: not a Keepsense taxonomy file; import it with `keepsense taxonomy import`")
    length = int.from_bytes(file.read(8), "little")
    text = file.read(length) if length <= _MAX_HEADER else b""
    try:
        header = parsed_json(text)
        if not isinstance(header, dict) or not {"sections", "compressed", "concepts", "terms"} <= header.keys():
            raise ValueError
    except ValueError:
        raise BadTaxonomy(f"{source.name}: the taxonomy file's header is damaged; write it again") from None
    end = len(MAGIC) + 8 + length
    return header, end + (-end) % ALIGN


def _section(section: dict[str, Any], body: NDArray[np.uint8], compressed: bool) -> NDArray[Any]:
    kind = np.dtype(_KINDS[section["kind"]])
    offset, size, count = int(section["offset"]), int(section["bytes"]), int(section["count"])
    wanted = count * kind.itemsize
    if min(offset, size, count) < 0 or offset + size > len(body):
        raise ValueError(f"section {section['key']} lies outside the file")
    if compressed:
        if wanted > _MAX_SECTION:
            raise ValueError(f"section {section['key']} claims {wanted:,} bytes")
        unpacker = zlib.decompressobj()
        raw = unpacker.decompress(body[offset : offset + size].tobytes(), wanted) if wanted else b""
        if len(raw) != wanted or (wanted and not _ends(unpacker)):
            raise ValueError(f"section {section['key']} has {len(raw)} bytes, not {wanted}")
        return np.frombuffer(raw, dtype=kind)
    if size != wanted:
        raise ValueError(f"section {section['key']} has {size} bytes, not {wanted}")
    return np.asarray(body[offset : offset + size]).view(kind)


def _ends(unpacker: Any) -> bool:
    """Whether nothing follows what was unpacked but the checksum, which is looked at here."""
    return not unpacker.decompress(unpacker.unconsumed_tail, 1) and bool(unpacker.eof)


@dataclass(frozen=True)
class _Reader:
    arrays: dict[str, NDArray[Any]]

    def ints(self, key: str) -> NDArray[np.int32]:
        array = self.arrays[key]
        return array if array.dtype == np.int32 else array.astype(np.int32)

    def rows(self, key: str) -> Rows:
        if f"{key}.sizes" in self.arrays:
            starts = np.zeros(len(self.arrays[f"{key}.sizes"]) + 1, dtype=np.int32)
            np.cumsum(self.arrays[f"{key}.sizes"], out=starts[1:])
            return Rows(starts, self.ints(f"{key}.indices"))
        return Rows(self.ints(f"{key}.starts"), self.ints(f"{key}.indices"))


def _arrays(taxonomy: Taxonomy, *, compact: bool) -> dict[str, NDArray[Any]]:
    arrays: dict[str, NDArray[Any]] = {}

    def put_rows(key: str, rows: Rows) -> None:
        if compact and len(rows) and rows.sizes.max() < 1 << 16:
            sizes = rows.sizes
            arrays[f"{key}.sizes"] = sizes.astype(np.uint8 if sizes.max() < 256 else np.uint16)
        else:
            arrays[f"{key}.starts"] = rows.starts
        arrays[f"{key}.indices"] = rows.indices

    put_rows("parents", taxonomy.parents)
    put_rows("children", taxonomy.children)
    put_rows("names", taxonomy.names)
    arrays["order"], arrays["depth"], arrays["min_depth"] = taxonomy.order, taxonomy.depth, taxonomy.min_depth
    arrays["hyponyms"], arrays["leaves"] = taxonomy.hyponym_counts, taxonomy.leaf_counts
    for kind, rows in taxonomy.relations.items():
        put_rows(f"relation:{kind}", rows)
    if taxonomy.senses is not None:
        put_rows("senses", taxonomy.senses)
    if taxonomy.sense_counts is not None:
        arrays["sense_counts"] = taxonomy.sense_counts
    for key, array in taxonomy.extra.items():
        arrays[f"extra:{key}"] = array
    for key, table in taxonomy.tables.items():
        arrays[f"table:{key}"] = table.block
    arrays["ids"], arrays["terms"] = taxonomy.ids.block, taxonomy.terms.block
    return arrays


def _fields(header: dict[str, Any], arrays: dict[str, NDArray[Any]]) -> dict[str, Any]:
    read = _Reader(arrays)
    relations = {k[9 : k.rindex(".")] for k in arrays if k.startswith("relation:")}
    return dict(  # noqa: C408
        name=str(header["name"]),
        ids=Strings(arrays["ids"], int(header["concepts"])),
        terms=Strings(arrays["terms"], int(header["terms"])),
        names=read.rows("names"),
        parents=read.rows("parents"),
        children=read.rows("children"),
        order=read.ints("order"),
        depth=read.ints("depth"),
        min_depth=read.ints("min_depth"),
        relations={kind: read.rows(f"relation:{kind}") for kind in sorted(relations)},
        senses=read.rows("senses") if "senses.indices" in arrays else None,
        sense_counts=read.ints("sense_counts") if "sense_counts" in arrays else None,
        extra={k[6:]: a for k, a in arrays.items() if k.startswith("extra:")},
        tables={k[6:]: Strings(a, int(header["tables"][k[6:]])) for k, a in arrays.items() if k.startswith("table:")},
        info={str(k): str(v) for k, v in header["info"].items()},
        _counts=(read.ints("hyponyms"), read.ints("leaves")),
    )


def _check(taxonomy: Taxonomy) -> None:
    """Sizes agree, links stay inside, texts are texts, parents come before children, and what is derived fits."""
    n = len(taxonomy.order)
    terms = len(taxonomy.terms)
    if n == 0 or len(taxonomy.ids) != n:
        raise ValueError("the number of concepts is wrong")
    for table in (taxonomy.ids, taxonomy.terms, *taxonomy.tables.values()):
        table.check()
    for array in (taxonomy.depth, taxonomy.min_depth, *(taxonomy._counts or ())):
        if len(array) != n:
            raise ValueError("an array has the wrong length")
    rows = [(taxonomy.parents, n, n), (taxonomy.children, n, n), (taxonomy.names, n, terms)]
    rows += [(r, n, n) for r in taxonomy.relations.values()]
    if taxonomy.senses is not None:
        rows.append((taxonomy.senses, terms, n))
        counts = taxonomy.sense_counts
        if counts is not None and len(counts) != len(taxonomy.senses.indices):
            raise ValueError("sense counts do not fit the senses")
    for r, size, limit in rows:
        good = len(r) == size and r.starts[0] == 0 and r.starts[-1] == len(r.indices)
        good = good and bool((np.diff(r.starts) >= 0).all())
        if not good or (len(r.indices) and not 0 <= int(r.indices.min()) <= int(r.indices.max()) < limit):
            raise ValueError("links point outside the taxonomy")
    if taxonomy.names.sizes.min() < 1:
        raise ValueError("a concept has no name")
    if int(taxonomy.order.min()) < 0 or int(taxonomy.order.max()) >= n:
        raise ValueError("the order points outside the taxonomy")
    place = np.full(n, -1, dtype=np.int32)
    place[taxonomy.order] = np.arange(n, dtype=np.int32)
    if place.min() < 0 or (place[taxonomy.parents.row_of()] <= place[taxonomy.parents.indices]).any():
        raise ValueError("the order is not one in which parents come first")
    if int((taxonomy.parents.sizes == 0).sum()) != 1:
        raise ValueError("there is not exactly one root")
    _check_derived(taxonomy)


def _check_derived(taxonomy: Taxonomy) -> None:
    """Children are the other end of the parents, depths are theirs, and counts are possible and grow upwards."""
    n, parents, children = len(taxonomy), taxonomy.parents, taxonomy.children
    down = children.row_of().astype(np.int64) + n * children.indices.astype(np.int64)
    up = parents.indices.astype(np.int64) + n * parents.row_of().astype(np.int64)
    if not np.array_equal(np.sort(down), np.sort(up)):
        raise ValueError("children and parents do not fit each other")
    below = np.flatnonzero(parents.sizes)
    for depth, among in ((taxonomy.depth, np.maximum), (taxonomy.min_depth, np.minimum)):
        above = among.reduceat(depth[parents.indices], parents.starts[:-1][below]) if len(below) else depth[:0]
        if depth[taxonomy.root] != 1 or not np.array_equal(depth[below], above + 1):
            raise ValueError("the depths are wrong")
    for counts, total in zip(taxonomy._below, (n - 1, len(taxonomy.leaves()) if n > 1 else 0), strict=True):
        if int(counts.min()) < 0 or counts[taxonomy.root] != total:
            raise ValueError("the counts of what lies below a concept are wrong")
        if (counts[parents.row_of()] > counts[parents.indices]).any():
            raise ValueError("the counts of what lies below a concept are wrong")
