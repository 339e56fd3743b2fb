from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from tests.strategies import taxonomies

from keepsense.errors import BadTaxonomy
from keepsense.semantics.distance import distance
from keepsense.taxonomy.taxonomy import Taxonomy
from keepsense.taxonomy.taxonomy_builder import from_edges


def same(a: Taxonomy, b: Taxonomy) -> bool:
    return (
        a.name == b.name
        and list(a.ids) == list(b.ids)
        and [a.synonyms(c) for c in a] == [b.synonyms(c) for c in b]
        and all(np.array_equal(a.parents[c], b.parents[c]) for c in a)
        and all(np.array_equal(a.children[c], b.children[c]) for c in a)
        and np.array_equal(a.depth, b.depth)
        and np.array_equal(a.min_depth, b.min_depth)
        and np.array_equal(a.hyponym_counts, b.hyponym_counts)
        and np.array_equal(a.leaf_counts, b.leaf_counts)
        and all(np.array_equal(a.related(c, "part"), b.related(c, "part")) for c in a)
        and dict(a.info) == dict(b.info)
    )


@settings(deadline=None, max_examples=25)
@given(taxonomies(), st.booleans())
def test_round_trip(tmp_path_factory: pytest.TempPathFactory, t: Taxonomy, compress: bool) -> None:
    path = tmp_path_factory.mktemp("store") / "t.taxonomy"
    t.save(path, compress=compress)
    assert same(t, Taxonomy.load(path))


def test_a_plain_file_is_mapped_not_copied(tmp_path: Path) -> None:
    from_edges([("cat", "animal")]).save(tmp_path / "t.taxonomy")
    loaded = Taxonomy.load(tmp_path / "t.taxonomy")
    base = loaded.depth
    while isinstance(base, np.ndarray) and not isinstance(base, np.memmap):
        base = base.base
    assert isinstance(base, np.memmap)


def test_saving_is_reproducible_and_replaces_at_once(tmp_path: Path) -> None:
    t = from_edges([("cat", "animal"), ("dog", "animal")])
    t.save(tmp_path / "a")
    t.save(tmp_path / "b")
    assert (tmp_path / "a").read_bytes() == (tmp_path / "b").read_bytes()
    assert sorted(p.name for p in tmp_path.iterdir()) == ["a", "b"]


@pytest.mark.parametrize(
    "content", [b"", b"hello", b"KEEPSENSE-TAXONOMY 1\n", b"KEEPSENSE-TAXONOMY 1\n" + b"\xff" * 99]
)
def test_other_files_are_refused(tmp_path: Path, content: bytes) -> None:
    (tmp_path / "x").write_bytes(content)
    with pytest.raises(BadTaxonomy, match=r"^x: "):
        Taxonomy.load(tmp_path / "x")


def test_a_missing_file_and_a_folder(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match="cannot be read"):
        Taxonomy.load(tmp_path / "nowhere")
    with pytest.raises(BadTaxonomy, match="cannot be read"):
        Taxonomy.load(tmp_path)


@pytest.mark.parametrize(
    ("old", "new", "what"),
    [
        (b"cat\0animal", b"cat\0\xff\xfeimal", "utf-8"),
        (b"cat\0animal", b"cat\0ani\0al", "a table of 3 strings holds 4"),
        (b'"concepts":3', b'"concepts":9', "number of concepts"),
        (b'"count":4,"offset":0', b'"count":9,"offset":0', "16 bytes, not 36"),
    ],
)
def test_a_changed_byte_is_told_with_the_file(tmp_path: Path, old: bytes, new: bytes, what: str) -> None:
    path = tmp_path / "pets.taxonomy"
    from_edges([("cat", "animal"), ("dog", "animal")], names={"cat": ["Tom"], "animal": ["Thing"]}).save(path)
    content = path.read_bytes()
    assert old in content
    path.write_bytes(content.replace(old, new, 1))
    with pytest.raises(BadTaxonomy, match=rf"^pets\.taxonomy: .*{what}"):
        Taxonomy.load(path)


@pytest.mark.parametrize("which", ["children", "depth", "min_depth", "hyponyms", "leaves"])
def test_derived_arrays_must_fit_the_links(tmp_path: Path, which: str) -> None:
    import json

    path = tmp_path / "t.taxonomy"
    from_edges([("cat", "animal"), ("dog", "animal"), ("tom", "cat"), ("tom", "dog"), ("rex", "dog")]).save(path)
    content = bytearray(path.read_bytes())
    size = int.from_bytes(content[21:29], "little")
    header = json.loads(content[29 : 29 + size])
    key = "children.indices" if which == "children" else which
    section = next(s for s in header["sections"] if s["key"] == key)
    begin = 29 + size + (-(29 + size)) % 64 + section["offset"]
    numbers = np.frombuffer(bytes(content[begin : begin + section["bytes"]]), dtype=np.int32).copy()
    numbers[1] = numbers[0] if which == "children" else 77
    content[begin : begin + section["bytes"]] = numbers.tobytes()
    path.write_bytes(bytes(content))
    with pytest.raises(BadTaxonomy, match="damaged"):
        Taxonomy.load(path)


def test_what_cannot_be_written_is_refused_and_leaves_nothing(tmp_path: Path) -> None:
    pets = from_edges([("cat", "animal")])
    with pytest.raises(BadTaxonomy, match=r"^x\.taxonomy: the file cannot be written"):
        pets.save(tmp_path / "nowhere" / "x.taxonomy")
    (tmp_path / "folder").mkdir()
    with pytest.raises(BadTaxonomy, match="it is a folder"):
        pets.save(tmp_path / "folder")
    for bad in ("a\0b", "a\ud800b"):
        with pytest.raises(BadTaxonomy, match="odd: the taxonomy cannot be written"):
            from_edges([(bad, "animal")], name="odd").save(tmp_path / "x")
    assert [p.name for p in tmp_path.iterdir()] == ["folder"]


def test_a_file_follows_the_users_permissions(tmp_path: Path) -> None:
    import os

    before = os.umask(0o077)
    try:
        from_edges([("cat", "animal")]).save(tmp_path / "t")
    finally:
        os.umask(before)
    assert (tmp_path / "t").stat().st_mode & 0o777 == 0o600


@settings(deadline=None, max_examples=200)
@given(st.data(), st.booleans())
def test_damaged_files_never_crash(
    tmp_path_factory: pytest.TempPathFactory, data: st.DataObject, compress: bool
) -> None:
    path = tmp_path_factory.mktemp("store") / "t.taxonomy"
    from_edges([("cat", "animal"), ("dog", "animal"), ("tom", "cat"), ("tom", "dog")]).save(path, compress=compress)
    content = bytearray(path.read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        content[data.draw(st.integers(0, len(content) - 1))] = data.draw(st.integers(0, 255))
    path.write_bytes(bytes(content[: data.draw(st.integers(len(content) // 2, len(content)))]))
    try:
        t = Taxonomy.load(path)
        [t.subsumers(c) for c in t]
        [t.synonyms(c) for c in t]
        t.lcs(0, len(t) - 1)
        t.path(0, len(t) - 1)
        assert np.isfinite(distance("lin", t).matrix(range(len(t)))).all()
    except BadTaxonomy:
        pass
