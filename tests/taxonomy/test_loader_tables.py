"""Edge lists, path lists and nested columns, in CSV and Parquet."""

from __future__ import annotations

from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from keepsense.errors import BadInput, BadTaxonomy, InputWarning, KeepsenseError
from keepsense.taxonomy.formats.edge_tables import read_edges, read_nested, read_paths
from keepsense.taxonomy.formats.taxonomy_formats import LOADERS
from keepsense.taxonomy.taxonomy import Taxonomy


def write(tmp_path: Path, text: str | bytes, name: str = "t.csv") -> Path:
    place = tmp_path / name
    place.write_bytes(text if isinstance(text, bytes) else text.encode())
    return place


def links(t: Taxonomy) -> set[tuple[str, str]]:
    return {(t.label(int(c)), t.label(int(p))) for c, p in zip(t.parents.row_of(), t.parents.indices, strict=True)}


PETS = {("cat", "animal"), ("dog", "animal"), ("lap cat", "cat")}

# ---- edge lists --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("delimiter", [",", ";", "\t", "|"])
def test_edges_with_any_delimiter(tmp_path: Path, delimiter: str) -> None:
    text = "child,parent\ncat,animal\ndog,animal\nlap cat,cat\n".replace(",", delimiter)
    assert links(read_edges(write(tmp_path, text))) == PETS


def test_edges_with_labels_synonyms_and_several_parents(tmp_path: Path) -> None:
    text = 'Code,Parent,Title,Also\n1,,animal,\n2,1,"cat, domestic",kitty | feline\n3,1,pet,\n4,2,lap cat,\n'
    text += "4,3,,lap kitty\n"
    t = read_edges(write(tmp_path, text), synonyms=["Also"])
    assert t.synonyms("2") == ["cat, domestic", "kitty", "feline"]
    assert t.synonyms("4") == ["lap cat", "lap kitty"]
    assert sorted(t.labels(t.parents[t.code("4")].tolist())) == ["cat, domestic", "pet"]


def test_edges_by_position_without_a_header(tmp_path: Path) -> None:
    place = write(tmp_path, "cat,animal,Cat\ndog,animal,Dog\n")
    with pytest.raises(BadInput, match=r"cannot tell whether the first row of t\.csv is a header; give header=False"):
        read_edges(place)
    t = read_edges(place, header=False)
    assert sorted(t.labels(t.leaves().tolist())) == ["Cat", "Dog"]
    turned = read_edges(place, header=False, child=1, parent=0, join_roots=True)
    assert turned.is_a("animal", "cat")


def test_edges_with_columns_of_other_names(tmp_path: Path) -> None:
    place = write(tmp_path, "was;ist ein\ncat;animal\ndog;animal\nlap cat;cat\n")
    assert links(read_edges(place, child="was", parent="ist ein")) == PETS
    with pytest.raises(BadInput, match=r"child: t\.csv has the columns 'was', 'ist ein'; say which holds the concept"):
        read_edges(place, parent="ist ein")
    with pytest.raises(BadInput, match=r"parent: t\.csv has no column 'ist'"):
        read_edges(place, child="was", parent="ist")
    with pytest.raises(BadInput, match="both are the column"):
        read_edges(place, child="was", parent="was")


def test_a_table_that_lists_its_roots_is_closed(tmp_path: Path) -> None:
    place = write(tmp_path, "child,parent\nanimal,\ncat,animal\ndog,anmial\n")
    with pytest.raises(BadTaxonomy, match="line 4 names the parent 'anmial', which has no row of its own"):
        read_edges(place)
    assert len(read_edges(place, closed=False, join_roots=True)) == 5


def test_edges_in_parquet(tmp_path: Path) -> None:
    place = tmp_path / "t.parquet"
    child = pa.array(["2", "3", "4"]).dictionary_encode()
    pq.write_table(pa.table({"child": child, "parent": [1, 1, 2], "label": ["cat", "dog", None]}), place)
    t = read_edges(place)
    assert t.labels(["1", "2", "3", "4"]) == ["1", "cat", "dog", "4"]
    assert t.is_a("4", "1")
    pq.write_table(pa.table({"child": ["a"], "parent": [0.5]}), place)
    with pytest.raises(BadTaxonomy, match="'parent' holds neither words nor whole numbers"):
        read_edges(place)


def test_icd_9_cm(shared_data: Path) -> None:
    """17,727 nodes: a root, 19 chapters, 184 blocks, 1,444 categories, 14,567 leaves, as its SOURCE.txt counts them."""
    t = read_edges(shared_data / "icd9cm" / "icd9cm_dx_tree.csv", synonyms=["long"])
    assert len(t) == 17_727
    assert len(t.leaves()) == 14_567
    assert t.id(t.root) == "n/a"
    assert len(t.children[t.root]) == 19
    assert t.labels(t.subsumers("0010"))[1:4] == [
        "Infectious And Parasitic Diseases",
        "Intestinal Infectious Diseases",
        "Cholera",
    ]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "the file is empty"),
        ("\n\n", "holds no rows"),
        ("child,parent\n", "a header and no rows"),
        ("child,parent\na,b\nb,a\n", "cycle: 'a' -> 'b' -> 'a'"),
        ("child,parent\na,a\n", "'a' is its own parent"),
        ("child,parent\na,b\n,b\n", "line 3 names no concept"),
        ("child,parent\na,b\nc,d\n", "2 roots.*join_roots=True"),
        ("child,parent\na,b,c\n", "line 2 has 3 columns where the header has 2"),
        ('child,parent\na,"b\n', "the row that starts in line 2 is not valid CSV"),
        (b"child,parent\ncaf\xe9,b\n", r"line 2 is not valid utf-8 \(byte 16 "),
        (b"child,parent\na,b\0\n", "line 2 holds a NUL character"),
        (b"PAR1nothing of the kind", "not a readable Parquet file"),
        (b"\x1f\x8b\x08\x00", r"compressed \(gzip\); unpack it"),
        (b"PK\x03\x04\x00", r"compressed \(zip\)"),
    ],
)
def test_broken_edge_lists_are_named(tmp_path: Path, text: str | bytes, message: str) -> None:
    with pytest.raises(BadTaxonomy, match=rf"t\.csv: .*{message}"):
        read_edges(write(tmp_path, text))


def test_encodings(tmp_path: Path) -> None:
    text = "child,parent\ncafé,place\n"
    for raw, encoding in ((text.encode("latin-1"), "latin-1"), (text.encode("utf-16"), None), (text.encode(), "utf-8")):
        assert read_edges(write(tmp_path, raw), encoding=encoding).label("café") == "café"
    assert read_edges(write(tmp_path, b"\xef\xbb\xbf" + text.encode())).label("café") == "café"
    with pytest.raises(BadInput, match="unknown encoding 'utf-9'"):
        read_edges(write(tmp_path, text), encoding="utf-9")


def test_quotation_marks_may_have_no_meaning(tmp_path: Path) -> None:
    place = write(tmp_path, 'child\tparent\n"big" cat\tanimal\n', "t.tsv")
    with pytest.raises(BadTaxonomy, match="quote=None"):
        read_edges(place)
    assert '"big" cat' in list(read_edges(place, quote=None).ids)


def test_a_missing_file(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match=r"no\.csv: the file cannot be read \(No such file"):
        read_edges(tmp_path / "no.csv")
    with pytest.raises(BadTaxonomy, match="cannot be read"):
        read_edges(tmp_path)


# ---- path lists --------------------------------------------------------------------------------------------------


def test_paths(tmp_path: Path) -> None:
    t = read_paths(write(tmp_path, "Computers/Systems/Handhelds\nComputers/Software\n/Computers/Systems/\n"))
    assert sorted(t.ids) == ["Computers", "Computers/Software", "Computers/Systems", "Computers/Systems/Handhelds"]
    assert t.label("Computers/Systems/Handhelds") == "Handhelds"


def test_paths_with_a_header_a_separator_and_labels(tmp_path: Path) -> None:
    place = write(tmp_path, "sort,path,title\n1,a > b,Bee\n2,a > c,\n")
    t = read_paths(place, separator=">", label="title")
    assert t.synonyms("a>b") == ["Bee", "b"]
    assert t.label("a>c") == "c"
    with pytest.raises(BadInput, match="separator: give"):
        read_paths(place, separator="")


def test_paths_do_not_guess_headers(tmp_path: Path) -> None:
    place = write(tmp_path, "Shop\nfood/bread\nfood/cheese\n")
    with pytest.raises(BadInput, match=r"header: cannot tell .* give header=False if it is a path, or header=True"):
        read_paths(place)
    assert len(read_paths(place, header=True)) == 3
    assert len(read_paths(place, header=False, join_roots=True)) == 5
    with pytest.raises(BadInput, match=r"column: t\.csv has 2 columns; say which one holds the paths"):
        read_paths(write(tmp_path, "a/b,x\na/c,y\n"))


def test_an_empty_step_is_named(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match="line 2 has a path with an empty step: 'a//c'"):
        read_paths(write(tmp_path, "a/b\na//c\n"))


ESCO = (
    "conceptUri,code,parent,description,preferredLabel,altLabels\n"
    'u1,1,,all who manage,managers,\nu2,11,1,those who make laws,legislators,"senator\nmember of parliament"\n'
)


def test_the_preferred_label_wins_over_a_description_and_lines_part_other_names(tmp_path: Path) -> None:
    t = read_edges(write(tmp_path, ESCO))
    assert t.label("11") == "legislators"
    assert t.synonyms("11") == ["legislators", "senator", "member of parliament"]


def test_labels_that_are_bare_codes_are_warned_of(tmp_path: Path) -> None:
    rows = "".join(f"{n},1\n" for n in range(10, 40))
    with pytest.warns(
        InputWarning, match=r"t\.csv: the labels of 30 of 30 concepts are bare codes; their names may be"
    ):
        read_edges(write(tmp_path, "child,parent\n" + rows))
    read_edges(write(tmp_path, "child,parent,label\n" + "".join(f"{n},1,thing {n}\n" for n in range(10, 40))))


# ---- nested columns ----------------------------------------------------------------------------------------------

FOOD = "ham;sausage;meat\nfrankfurter;sausage;meat\npork;pork;meat\n"


SHORT = "Level 1,Level 2,Level 3\nfood,meat,ham\nfood,meat,\nfood,fruit,apple\nfood,fruit,pear\nfood,,\ntools,,\n"


@pytest.mark.parametrize("padded", [True, False])
def test_short_rows_tell_which_end_the_root_is_at(tmp_path: Path, padded: bool) -> None:
    want = {("ham", "meat"), ("meat", "food"), ("apple", "fruit"), ("pear", "fruit"), ("fruit", "food")}
    text = SHORT if padded else "\n".join(line.rstrip(",") for line in SHORT.splitlines())
    t = read_nested(write(tmp_path, text), join_roots=True, root_label="all")
    assert links(t) == want | {("food", "all"), ("tools", "all")}
    leaf_first = [line.split(",")[::-1] for line in SHORT.splitlines()[1:]]
    turned = "\n".join(";".join(cell for cell in row if cell) for row in leaf_first)
    t = read_nested(write(tmp_path, turned), header=False, join_roots=True, root_label="all")
    assert links(t) == want | {("food", "all"), ("tools", "all")}


def test_nested_columns_leaf_first_and_root_first(tmp_path: Path) -> None:
    want = {("ham", "sausage"), ("frankfurter", "sausage"), ("sausage", "meat"), ("pork", "meat")}
    assert links(read_nested(write(tmp_path, FOOD))) == want
    turned = "\n".join(";".join(reversed(line.split(";"))) for line in FOOD.splitlines())
    assert links(read_nested(write(tmp_path, turned))) == want
    assert links(read_nested(write(tmp_path, turned), order="root-first")) == want


def test_repeated_labels(tmp_path: Path) -> None:
    place = write(tmp_path, FOOD)
    assert read_nested(place).id("pork") == "meat > pork"
    kept = read_nested(place, merge_repeats=False)
    assert "meat > pork > pork" in list(kept.ids)
    assert len(kept.leaves()) == 3
    with pytest.raises(BadInput, match="merge_repeats"):
        read_nested(place, merge_repeats=False, merge_labels=True)


def test_equal_labels_under_two_headings(tmp_path: Path) -> None:
    place = write(tmp_path, "all,fruit,other\nall,meat,other\nall,meat,ham\n")
    assert {"all > fruit > other", "all > meat > other"} <= set(read_nested(place).ids)
    merged = read_nested(place, merge_labels=True)
    assert sorted(merged.labels(merged.parents[merged.code("other")].tolist())) == ["fruit", "meat"]


def test_levels_a_row_does_not_have(tmp_path: Path) -> None:
    t = read_nested(write(tmp_path, "all,fruit,apple\nall,,water\nall,meat,\n"), order="root-first")
    assert links(t) == {("fruit", "all"), ("apple", "fruit"), ("water", "all"), ("meat", "all")}


def test_which_end_the_root_is_at_is_asked_where_it_does_not_show(tmp_path: Path) -> None:
    place = write(tmp_path, "a,b\nc,d\n")
    with pytest.raises(BadInput, match="order='root-first' or order='leaf-first'"):
        read_nested(place)
    with pytest.raises(BadInput, match="order: 'up'"):
        read_nested(place, order="up")  # type: ignore[arg-type]


def test_a_header_that_may_be_none_is_asked_for(tmp_path: Path) -> None:
    place = write(tmp_path, "item,group\napple,fruit\npear,fruit\n")
    with pytest.raises(BadInput, match="header: cannot tell"):
        read_nested(place)
    assert links(read_nested(place, header=True)) == {("apple", "fruit"), ("pear", "fruit")}


def test_chosen_columns(tmp_path: Path) -> None:
    t = read_nested(
        write(tmp_path, "id,level 1,level 2\n1,fruit,apple\n2,fruit,pear\n"), columns=["level 1", "level 2"]
    )
    assert links(t) == {("apple", "fruit"), ("pear", "fruit")}
    with pytest.raises(BadTaxonomy, match="line 2 has no value in the chosen columns"):
        read_nested(write(tmp_path, "level 1,level 2,x\n,,1\na,b,2\na,c,3\n"), columns=["level 1", "level 2"])
    with pytest.raises(BadInput, match="columns: name at least one"):
        read_nested(write(tmp_path, FOOD), columns=[], header=False)


def test_nested_parquet(tmp_path: Path) -> None:
    place = tmp_path / "t.parquet"
    pq.write_table(pa.table({"group": ["fruit", "fruit"], "item": ["apple", "pear"]}), place)
    assert links(read_nested(place)) == {("apple", "fruit"), ("pear", "fruit")}


def test_labels_that_hold_what_ids_are_built_with(tmp_path: Path) -> None:
    with pytest.raises(BadTaxonomy, match="line 2 has labels that hold ' > '"):
        read_nested(write(tmp_path, "r;a > b;c\nr;a;b > c\nr;a;d\n"), order="root-first")


def test_the_groceries_hierarchy(shared_data: Path) -> None:
    """169 items in 55 groups of 10 sections, as its SOURCE.txt counts them; leaf first, '*' last."""
    place = shared_data / "groceries" / "groceries_hierarchy.csv"
    t = read_nested(place, merge_repeats=False)
    assert len(t.leaves()) == 169
    assert len(t) == 1 + 10 + 55 + 169
    assert t.label(t.root) == "*"
    assert t.labels(t.subsumers("frankfurter")) == ["*", "meat and sausage", "sausage", "frankfurter"]
    items = {line.split(";")[0] for line in place.read_text().splitlines()[1:]}
    assert set(t.labels(t.leaves().tolist())) == items
    assert len(read_nested(place)) < len(t)


def test_arx_hierarchies(shared_data: Path) -> None:
    files = sorted((shared_data / "adult").glob("adult_hierarchy_*.csv"))
    assert files
    for place in files:
        t = read_nested(place)
        first = {line.split(";")[0].strip() for line in place.read_text().splitlines() if line.strip()}
        assert {t.label(c) for c in t} >= first
        assert t.label(t.root) == "*"


@pytest.mark.parametrize("reader", [read_edges, read_paths, read_nested])
@pytest.mark.parametrize("delimiter", ["", "ab", "\n", '"'])
def test_impossible_delimiters(tmp_path: Path, reader: object, delimiter: str) -> None:
    with pytest.raises(KeepsenseError):
        reader(write(tmp_path, "child,parent\na,b\n"), delimiter=delimiter)  # type: ignore[operator]


OUTLINE = "level 1,level 2,level 3\nCosmology,Big Bang,Inflation\n,Dark energy,Quintessence\n,,Phantom\nStars,Giants,\n"


def test_an_outline_is_filled_in_from_above_and_never_read_as_many_roots(tmp_path: Path) -> None:
    file = tmp_path / "outline.csv"
    file.write_text(OUTLINE, encoding="utf-8")
    for order in ("root-first", "auto"):
        filled = read_nested(file, fill=True, order=order, join_roots=True)  # type: ignore[arg-type]
        assert filled.labels(filled.path("Phantom", filled.root))[:3] == ["Phantom", "Dark energy", "Cosmology"]
        assert filled.labels(filled.children[filled.root]) == ["Cosmology", "Stars"]
    with pytest.raises(BadInput, match=r"fill: line 3 of outline\.csv has no value where its root would be"):
        read_nested(file, order="root-first", join_roots=True)
    roots = read_nested(file, order="root-first", fill=False, join_roots=True)
    assert len(roots.children[roots.root]) == 4
    assert LOADERS["nested"].spelled({"fill": "yes"}) == {"fill": True}
