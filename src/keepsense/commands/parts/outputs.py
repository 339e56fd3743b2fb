"""What commands print with `--json`: the shape and the meaning of every key, from which JSON schemas are made.

A shape is `text`, `number`, `whole`, `truth`, `any`, several of these parted by a bar (`number|null`), a list of one
shape, a dictionary of keys, each with its meaning and its shape, or, where its only key is `*`, of any keys. A key that
ends in `?` may be missing.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

_TYPES = {"text": "string", "number": "number", "whole": "integer", "truth": "boolean", "null": "null"}
_PROMISE = {"*": "any"}
_FINDING = {
    "code": ("its code, as the reference lists it", "text"),
    "where?": ("the column or file it is about", "text"),
    "message": ("what it says", "text"),
}
_FINDINGS = ("what to look at", [_FINDING])
_PARAMETERS = ("its parameters", {"*": "any"})
_RELEASE: dict[str, Any] = {
    "file?": ("where the release lies", "text"),
    "table?": ("its table, where it went into a database", "text"),
    "keepsense": ("version that made it", "text"),
    "release": ("name of the released file or table", "text"),
    "promises": ("what is promised, as a project file spells it", [_PROMISE]),
    "in words": ("the same in sentences", ["text"]),
    "neighbours?": ("which tables cannot be told apart, under differential privacy", "text"),
    "method": (
        "how it was made",
        {
            "name": ("the method", "text"),
            "parameters": _PARAMETERS,
            "sets?": ("that for sets", {"name": ("the method", "text"), "parameters": _PARAMETERS}),
        },
    ),
    "columns": (
        "released columns by name",
        {
            "*": {
                "role": ("what it tells about people", "text"),
                "kind": ("what its values are", "text"),
                "width?": ("width of its bands", "number"),
                "level?": ("level of its hierarchy", "whole"),
                "lost?": ("share of its certainty that is gone", "number"),
                "flag?": ("that next to nothing is left of it", "text"),
                "found by it alone?": ("share of the records that its value alone points at", "number|null"),
                "tells?": ("hidden columns it tells about, and how much", {"*": "number|null"}),
            }
        },
    ),
    "removed columns": ("number of columns that are not released", "whole"),
    "suppression limit": ("share of records that could be suppressed", "number"),
    "records": ("rows of the release", "whole"),
    "classes": ("groups of records alike in every quasi-identifier", "whole"),
    "suppressed records": ("records that were hidden or left out", "whole"),
    "of them left out": ("of those, the ones that are not in the file", "whole"),
    "verified": ("whether the written file was read back and every promise held", "truth"),
    "hierarchies": ("by column: each released label and what lies above it", {"*": [["any"]]}),
    "transition matrices?": ("by column: chances that readers need to undo redrawing on counts", {"*": "any"}),
    "dictionary": (
        "the data dictionary: by released column",
        {
            "*": {
                "role": ("what it tells about people", "text"),
                "kind": ("what its values are", "text"),
                "done": ("what was done to it", "text"),
                "marks?": ("cells that tell no value, and what they mean", {"*": "text"}),
                "truth?": ("that its values were changed", "text"),
                "taxonomy?": ("the taxonomy of its concepts", "text"),
                "labels?": (
                    "what its labels mean",
                    {
                        "*": {
                            "lower?": ("lower end, null where open", "number|text|null"),
                            "upper?": ("upper end, null where open", "number|text|null"),
                            "concept?": ("id of its concept", "text"),
                            "meaning?": ("what the concept is", "text"),
                            "stands for?": ("values below it that at least k people hold", ["text"]),
                            "and others?": ("whether it stands for more", "truth"),
                        }
                    },
                ),
            }
        },
    ),
    "utility": ("losses by metric", {"*": "number|null"}),
    "risk": ("risk `before` and `after`, by attack", {"*": {"*": "number|null"}}),
    "cells with an apostrophe?": ("by column: cells that a spreadsheet would have run as formulas", {"*": "whole"}),
    "sha256?": ("digest of the released file", "text|null"),
    "changes": (
        "what became of each quasi-identifier",
        [
            {
                "column": ("its name", "text"),
                "values": ("different values before; null under differential privacy", "whole|null"),
                "released": ("different values after", "whole"),
                "lost": ("share of its certainty that is gone", "number|null"),
                "how": ("how it is released", "text"),
            }
        ],
    ),
    "findings": _FINDINGS,
    "seconds": ("seconds of each stage", {"*": "number"}),
}
_COLUMN: dict[str, Any] = {
    "column": ("its name", "text"),
    "type": ("type of its cells", "text"),
    "values": ("different values", "whole"),
    "missing": ("empty cells", "whole"),
    "values_of_one_row": ("values that one row alone holds", "whole"),
    "role": ("role that fits", "text"),
    "kind": ("kind of its values", "text"),
    "reason": ("why", "text"),
    "confidence": ("how sure that is", "text"),
    "notes": ("what else is seen", ["text"]),
    "taxonomy?": ("the taxonomy that knows its words, and how well", {"*": "any"}),
    "delimiter?": ("what parts the items of its sets", "text"),
    "frequent?": ("its most frequent values with their rows: real data", [["any"]]),
}
_TABLE: dict[str, Any] = {
    "file": ("the table", "text"),
    "format": ("its format", "text"),
    "rows": ("its rows", "whole"),
    "columns": ("its columns", [_COLUMN]),
}
_HIERARCHY: dict[str, Any] = {
    "file": ("the hierarchy file", "text"),
    "kind": ("kind of its values", "text"),
    "values": ("its leaves", "whole"),
    "height": ("levels above the leaves", "whole"),
    "levels": ("labels of each level, from the leaves up", ["whole"]),
    "guessed?": ("how a hierarchy was found without being told", "text"),
    "findings?": _FINDINGS,
}
_SCORED: dict[str, Any] = {
    "file": ("the hierarchy file", "text"),
    "values": ("its leaves", "whole"),
    "height": ("levels above the leaves", "whole"),
    "score": ("its semantic loss: lower is better", "number|null"),
    "grade": ("that in a word", "text"),
    "levels": ("loss of each level", ["number|null"]),
    "left_out": ("leaves whose meaning is not known", "whole"),
}
_FIXES = ("edits that improve it", [{"fix": ("the edit", "text"), "score": ("the loss after it", "number")}])
_TAXONOMY: dict[str, Any] = {
    "name": ("name by which it is found", "text"),
    "title": ("what it is called", "text"),
    "concepts": ("its concepts", "whole"),
    "links": ("its is-a links", "whole"),
    "names": ("its terms", "whole"),
    "depth": ("links from the root to the deepest concept", "whole"),
    "leaves": ("concepts with none below", "whole"),
    "root": ("its root", "text"),
    "relations": ("relations other than is-a", ["text"]),
    "knows": ("what it is about", "text|null"),
    "licence": ("under what it is given", "text|null"),
    "bytes": ("its size on the disk", "whole|null"),
}
_CONCEPT = {"id": ("its id", "text"), "meaning": ("its definition", "text|null")}
_STEP: dict[str, Any] = {
    "title": ("what happens", "text"),
    "chosen": ("what is chosen", "text|null"),
    "score": ("by what", "number|null"),
    "safe": ("whether the promise holds now", "truth"),
    "facts": ("figures", {"*": "any"}),
    "table": ("the rows as they are now", [{"*": "any"}]),
    "group sizes": ("rows of the group of each row", ["whole"]),
    "suppressed?": ("whether each row is suppressed", ["truth"]),
}
_METHOD: dict[str, Any] = {
    "name": ("its name", "text"),
    "title": ("its title", "text"),
    "kind": ("its family", "text"),
    "parent": ("what it is a kind of", "text|null"),
    "intent": ("what it does", "text"),
    "use": ("when to use it", ["text"]),
    "avoid": ("when not to", ["text"]),
    "inputs": ("what it needs", ["text"]),
    "guarantee": ("what it guarantees", "text"),
    "cost": ("what it costs", "text"),
    "example": ("an example", "text"),
    "paper": ("where it is from", "text|null"),
    "truthful": ("whether released values are true", "truth"),
    "in project files": ("its name there", "text|null"),
    "function": ("its function in Python", "text|null"),
    "parameters": _PARAMETERS,
    "combines": ("what goes well with it, and why", {"*": "text"}),
    "conflicts": ("what does not, and why", {"*": "text"}),
    "steps": ("its flow chart", "any"),
}

OUTPUTS: Mapping[str, dict[str, Any]] = {
    "assess": {
        "rows_before": ("rows of the original", "whole"),
        "rows_after": ("rows of the release", "whole"),
        "suppressed": ("records hidden in every column", "whole"),
        "classes_before": ("groups of alike records in the original", "whole"),
        "classes_after": ("groups of alike records in the release", "whole"),
        "k": ("size of the smallest group", "whole"),
        "k_wildcard?": ("the same where cells that are empty or suppressed one by one fit any value", "whole"),
        "hidden_cells?": ("by column: cells that are empty or suppressed one by one", {"*": "whole"}),
        "aligned?": ("whether the rows of both files are in one order", "truth"),
        "removed?": ("columns of the original that are not released", ["text"]),
        "added?": ("columns of the release that the original lacks", ["text"]),
        "notes?": ("what to know about the comparison", ["text"]),
        "sizes?": ("how many groups there are of each size", {"*": "whole"}),
        "risk?": (
            "risk `before` and `after`, by attack; also `after, hidden cells fit any` where there are such",
            {"*": {"*": "number|null"}},
        ),
        "columns?": ("what became of each column", [{"*": "any"}]),
        "sensitive?": (
            "how mixed sensitive values are in groups; `fitting`: hidden cells fit any",
            [{"*": "any"}],
        ),
        "promises?": (
            "promises that were asked about",
            [
                {
                    "promise": ("in words", "text"),
                    "strict": ("whether it holds as the cells stand", "truth"),
                    "fitting": ("whether it holds where hidden cells fit any value", "truth|null"),
                    "records": ("records that break it as the cells stand", "whole"),
                }
            ],
        ),
        "population?": ("how the release lies in the population", {"*": "number"}),
        "associations?": ("how strongly columns go together, before and after", [{"*": "any"}]),
        "association_error?": ("mean difference of these", "number|null"),
        "*": "any",
    },
    "compare": {
        "projects": (
            "each project, run",
            [
                {
                    "project": ("its file", "text"),
                    "method": ("its method", "text"),
                    "promises": ("what it promises", [_PROMISE]),
                    "ok": ("whether a release came out", "truth"),
                    "problem": ("why not", "text|null"),
                    "seconds": ("how long it took", "number|null"),
                    "classes": ("groups of alike records", "whole|null"),
                    "suppressed": ("suppressed records", "whole|null"),
                    "certainty lost": ("share of certainty gone", "number|null"),
                    "class size": ("records of a group on average", "number|null"),
                    "highest risk": ("of being recognized", "number|null"),
                    "average risk": ("of being recognized", "number|null"),
                    "utility": ("losses by metric", {"*": "number|null"}),
                    "risk": ("risk `before` and `after`, by attack", {"*": {"*": "number|null"}}),
                }
            ],
        )
    },
    "demo": {
        "people": ("synthetic people", "whole"),
        "taxonomy": ("taxonomy of their words", "text"),
        "columns": ("how well the taxonomy knows each column", [{"*": "any"}]),
        "measure": ("name of the distance", "text"),
        "distances": ("distances between some words", {"*": {"*": "number"}}),
        "release": ("the release, as `run` prints it", _RELEASE),
        "advice": ("methods that fit", [{"*": "text"}]),
        "verified again": ("whether the file was verified once more", "truth"),
        "reports": ("report files", ["text"]),
        "seconds": ("how long it took", "number"),
    },
    "distance": {
        "taxonomy": ("the taxonomy", "text"),
        "first": ("the first concept", _CONCEPT),
        "second": ("the second concept", _CONCEPT),
        "common": ("what subsumes both", "text"),
        "distances": ("by the distance's name", {"*": "number"}),
    },
    "explain": {
        "algorithms?": ("without a name: the algorithms that can be explained", ["text"]),
        "algorithm?": ("the one that is explained", "text"),
        "k?": ("size of groups", "whole"),
        "settings?": ("its parameters", {"*": "any"}),
        "columns?": ("columns of the example", ["text"]),
        "before?": ("the table before", _STEP),
        "steps?": ("the steps", [_STEP]),
        "released?": ("the table after", _STEP),
        "promise?": ("what is promised", "text"),
        "notes?": ("what to notice", ["text"]),
    },
    "guide": {
        "methods?": ("with `--list`: all methods", [_METHOD]),
        **{f"{key}?": value for key, value in _METHOD.items()},
        "answers?": ("what the advice is for", {"*": "any"}),
        "recommended?": (
            "methods that fit, the best first",
            [
                {
                    "name": ("its name", "text"),
                    "title": ("its title", "text"),
                    "for": ("for which part of the job", "text"),
                    "in project files": ("its name there", "text|null"),
                    "reasons": ("why", ["text"]),
                    "beware": ("what speaks against it", ["text"]),
                    "parameters": _PARAMETERS,
                    "settings": ("what to put into a project file", "text"),
                }
            ],
        ),
        "warnings?": (
            "what to beware of",
            [{"code": ("its code", "text"), "about": ("what it is about", "text"), "text": ("what it says", "text")}],
        ),
        "left out?": ("methods that do not fit, and why", {"*": "text"}),
        "trade?": (
            "with `--try`: what each column would keep if it weighed twice",
            {
                "offers": (
                    "one for each column",
                    [
                        {
                            "column": ("the column", "text"),
                            "lost": ("share it loses now", "number"),
                            "twice": ("share it would lose", "number"),
                            "others": ("what the others lose now, on average", "number"),
                            "others_then": ("what they would lose", "number"),
                        }
                    ],
                ),
                "method": ("the method it was measured with", "text"),
                "combinations": ("combinations of values it was measured on", "whole"),
                "of": ("how many there are", "whole"),
            },
        ),
    },
    "hierarchy build": _HIERARCHY,
    "hierarchy choose": {
        "chosen": ("the best file", "text"),
        "ranking": ("all, the best first", [{"file": ("the file", "text"), "score": ("its loss", "number")}]),
    },
    "hierarchy convert": _HIERARCHY,
    "hierarchy edit": _HIERARCHY,
    "hierarchy explain": {
        **_SCORED,
        "problems": (
            "what is wrong with it",
            [{"problem": ("what", "text"), "fixes": _FIXES}],
        ),
    },
    "hierarchy improve": {
        "file": ("the improved file", "text"),
        "before": ("its loss before", "number"),
        "after": ("its loss after", "number"),
        "fixes": _FIXES,
    },
    "hierarchy score": {"distance": ("the distance", "text"), "hierarchies": ("each file", [_SCORED])},
    "init": {
        "project": ("the project file that was written", "text"),
        **_TABLE,
        "decisions": (
            "what to decide",
            [
                {
                    "columns": ("columns it is about", ["text"]),
                    "question": ("the question", "text"),
                    "remedy": ("how to answer it", "text"),
                }
            ],
        ),
    },
    "inspect": _TABLE,
    "map": {
        "file": ("the table", "text"),
        "column": ("the column", "text"),
        "taxonomy": ("the taxonomy", "text"),
        "guessed?": ("how the taxonomy was found without being told", "text"),
        "values": ("different values", "whole"),
        "rows_mapped": ("share of the rows whose word has a concept", "number"),
        "mapped": ("values and their concepts", [{"*": "any"}]),
        "ambiguous": ("values with several senses, of which one was chosen", [{"*": "any"}]),
        "doubtful": ("values with several senses, of which none is likely enough", [{"*": "any"}]),
        "suggested": ("values known by their last noun alone", [{"*": "any"}]),
        "unmapped": ("values in no taxonomy", [{"*": "any"}]),
        "findings": _FINDINGS,
    },
    "report": {
        "file": ("the release", "text"),
        "verified": ("whether it keeps its promise", "truth"),
        "reports": ("the pages by audience", {"*": "text"}),
        "findings": _FINDINGS,
    },
    "run": _RELEASE,
    "sample": {
        "file": ("the table", "text"),
        "rows": ("its rows", "whole"),
        "columns": ("its columns", ["text"]),
    },
    "schema": {"file?": ("with `--output`: the file", "text"), "*": "any"},
    "studio": {"address": ("the address that lets its owner in", "text")},
    "taxonomy import": _TAXONOMY,
    "taxonomy list": {"taxonomies": ("those that are at hand", [_TAXONOMY])},
    "taxonomy search": {
        "taxonomy": ("the taxonomy", "text"),
        "found": ("concepts", [{**_CONCEPT, "name": ("its name", "text")}]),
    },
    "taxonomy show": {
        "name": ("of the taxonomy, or of the concept", "text"),
        **{f"{key}?": value for key, value in _TAXONOMY.items() if key != "name"},
        "id?": ("the concept's id", "text"),
        "meaning?": ("its definition", "text"),
        "also?": ("its other names", ["text"]),
        "a kind of?": ("what is directly above it", ["text"]),
        "kinds?": ("what is directly below it", ["text"]),
        "up to the root?": ("the way up", ["text"]),
        "concepts below?": ("how many are below it", "whole"),
        "other senses?": ("what else its name means", ["text"]),
        "*": "any",
    },
    "verify": {
        "file": ("the released file", "text"),
        "ok": ("whether every promise holds", "truth"),
        "records": ("rows", "whole"),
        "classes": ("groups of alike records", "whole"),
        "suppressed": ("records hidden in every column", "whole"),
        "promises": (
            "each promise",
            [
                {
                    "promise": ("as a project file spells it", _PROMISE),
                    "holds": ("whether it holds", "truth"),
                    "failing_classes": ("groups that break it", "whole"),
                    "failing_records": ("records in them", "whole"),
                    "worst": ("the worst figure", "number|null"),
                    "reason": ("why it fails, or cannot be checked", "text|null"),
                }
            ],
        ),
        "findings": _FINDINGS,
        "presets?": (
            "with `--preset`: each rule that was checked",
            [
                {
                    "preset": ("name of the rules", "text"),
                    "rule": ("the rule", "text"),
                    "met": ("whether it is met; null where people must look", "truth|null"),
                    "verdict": ("the same in words: met, not met, look", "text"),
                    "why": ("what was seen", "text"),
                    "columns": ("columns it is about", ["text"]),
                    "figures": ("figures that speak to it", {"*": "number"}),
                }
            ],
        ),
        "examples?": ("with `--show-values`: some failing records, real data", [{"*": "any"}]),
    },
    "version": {"version": ("of Keepsense", "text")},
}
"""By the words of the command."""

ERROR: dict[str, Any] = {
    "error": ("what went wrong, in a sentence", "text"),
    "exit": ("the exit code", "whole"),
    "code": (
        "a short name of it: a finding's code, the kind of error, usage, system, memory, interrupted, bug",
        "text",
    ),
    "column": ("the column that it is about", "text|null"),
    "remedies": ("what to do", ["text"]),
}
"""What any command prints with `--json` where it fails."""


def output_schema(command: str | None = None) -> dict[str, Any]:
    """JSON schema of what a command prints, or of an error.

    >>> output_schema("version")["properties"]["version"]
    {'type': 'string', 'description': 'of Keepsense'}
    >>> list(output_schema()["properties"])
    ['error', 'exit', 'code', 'column', 'remedies']
    """
    title = f"keepsense {command} --json" if command else "an error under --json"
    shape = OUTPUTS[command] if command else ERROR
    return {"$schema": "https://json-schema.org/draft/2020-12/schema", "title": title, **_schema(shape)}


def _schema(shape: Any) -> dict[str, Any]:
    if isinstance(shape, str):
        names = shape.split("|")
        if "any" in names:
            return {}
        types = [_TYPES[name] for name in names]
        return {"type": types[0] if len(types) == 1 else types}
    if isinstance(shape, list):
        return {"type": "array", "items": _schema(shape[0])}
    keys = {key: entry for key, entry in shape.items() if key != "*"}
    return {
        "type": "object",
        **({"properties": {key.rstrip("?"): _described(entry) for key, entry in keys.items()}} if keys else {}),
        **({"required": needed} if (needed := [key for key in keys if not key.endswith("?")]) else {}),
        "additionalProperties": _schema(shape["*"]) if "*" in shape else False,
    }


def _described(entry: tuple[str, Any]) -> dict[str, Any]:
    meaning, shape = entry
    return {**_schema(shape), "description": meaning}
