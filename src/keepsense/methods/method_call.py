"""Calls of methods: options from a project file are checked, and missing values are kept."""

from __future__ import annotations

import inspect
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np

from keepsense.counts import Counts, distinct_rows
from keepsense.errors import BadInput, InputWarning, did_you_mean
from keepsense.hierarchies.column_kinds import KINDS
from keepsense.methods import blocking
from keepsense.methods.edit_rules import Edit, mend
from keepsense.methods.method import Method
from keepsense.methods.method import method as find_method
from keepsense.methods.task import Task, group_size, weights_of
from keepsense.privacy.privacy_model import Model
from keepsense.progress import Listener
from keepsense.recoding import Cells, Recoding
from keepsense.secure_random import Random, generator
from keepsense.semantics.attribute import Attribute

# Missing values, for methods that draw a new value for every cell: a stand-in takes part, and they stay empty


def filled(counts: Counts, names: Sequence[str], rng: Random = None) -> Counts:
    """The same tuples, each empty cell of some columns with a value drawn as often as the column holds it.

    So gaps hardly change the mean and the spread of a column. Where there are none, the counts themselves.

    >>> filled(Counts.of({"age": [31, None]}), ["age"]).codes.tolist()
    [[0], [0]]
    """
    gappy = [name for name in names if None in counts.values_of(name)]
    if not gappy:
        return counts
    random = generator(rng)
    values, codes = list(counts.values), counts.codes.copy()
    for name in gappy:
        j = counts.names.index(name)
        empty = values[j].index(None)
        there = np.delete(np.arange(len(values[j])), empty)
        if not len(there):
            raise BadInput(f"column {name!r} is empty; drop it or give it another role")
        rows = counts.marginal(name)[there].astype(np.float64)
        gaps = np.flatnonzero(codes[:, j] == empty)
        codes[gaps, j] = random.choice(there, len(gaps), p=rows / rows.sum())
        codes[:, j] -= codes[:, j] > empty
        values[j] = tuple(values[j][i] for i in there.tolist())
    return replace(counts, values=tuple(values), codes=codes)


def emptied(counts: Counts, cells: Cells) -> Cells:
    """A recoding made for `filled` counts, with the cells empty again that are so in the counts.

    >>> counts = Counts.of({"age": [31, None]})
    >>> made = Cells(("age",), ((30, 33),), np.arange(2), np.array([[1], [0]]), np.ones(2))
    >>> emptied(counts, made).apply(counts).rows_of("age")
    {30: 0, 33: 1, None: 1}
    """
    values, codes = list(cells.values), cells.codes.copy()
    for j, name in enumerate(cells.names):
        if name not in counts.names or None not in counts.values_of(name):
            continue
        gaps = counts.column(name)[cells.source] == counts.values_of(name).index(None)
        values[j] = (*values[j], None)
        codes[gaps, j] = len(values[j]) - 1
    distinct, where = distinct_rows(np.column_stack([cells.source, codes]).astype(np.int32))
    if "groups" in cells.info or cells.suppressed is not None:  # they speak of the rows one by one
        return replace(cells, values=tuple(values), codes=codes)
    amount = np.bincount(where, cells.multiplicity, len(distinct)).astype(np.int64)
    return Cells(cells.names, tuple(values), distinct[:, 0].astype(np.int64), distinct[:, 1:], amount, info=cells.info)


# Calls with checked options

_NOT_TO_SET = {"counts", "hierarchies", "columns", "models", "listener", "rng"}


def call(function: Callable[..., Any], parameters: Mapping[str, Any], *given: Any, **fixed: Any) -> Any:
    """Call a method with a project file's parameters; one it does not take is refused with the nearest as a hint.

    `fixed` are offered by keyword, and dropped where the method does not take them.

    >>> def method(counts, *, k=2, rng=None):
    ...     return k
    >>> call(method, {"k": 5}, None, rng=1, listener=None)
    5
    >>> call(method, {"kk": 5}, None)
    Traceback (most recent call last):
    ...
    keepsense.errors.BadInput: the method takes no parameter 'kk'; it takes k. Did you mean k?
    """
    parameters = _renamed(function, parameters)
    takes = {n for n, p in inspect.signature(function).parameters.items() if p.kind is not p.VAR_KEYWORD}
    open_to = sorted(takes - set(fixed) - _NOT_TO_SET)
    for name in parameters:
        if name not in open_to:
            hint = did_you_mean(name, open_to)
            raise BadInput(f"the method takes no parameter {name!r}; it takes {', '.join(open_to) or 'none'}.{hint}")
    _check_types(function, parameters)
    return function(*given, **{k: v for k, v in fixed.items() if k in takes}, **parameters)


_OUTDATED = {"measure": "metric"}


def _renamed(function: Callable[..., Any], parameters: Mapping[str, Any]) -> dict[str, Any]:
    """The parameters under the names they have now; an outdated one is still understood, with a warning."""
    takes = inspect.signature(function).parameters
    named = {}
    for name, value in parameters.items():
        now = _OUTDATED.get(name, name)
        if now != name and now in takes and name not in takes:
            warnings.warn(f"the method's parameter {name!r} is called {now!r} now", InputWarning, stacklevel=4)
            name = now
        named[name] = value
    return named


def _check_types(function: Callable[..., Any], parameters: Mapping[str, Any]) -> None:
    """Refuse a parameter of another type than the method says it takes."""
    from typing import get_type_hints

    from pydantic import ConfigDict, PydanticUserError, TypeAdapter, ValidationError

    if not parameters:
        return
    try:
        hints = get_type_hints(function)
    except (NameError, TypeError):  # types that are known to checkers only
        hints = {}
    for name, value in parameters.items():
        spelled = hints.get(name)
        if spelled is None:
            continue
        # a list of a TOML file may stand for a tuple, but a text never for a number
        config = ConfigDict(strict=not isinstance(value, list | dict), arbitrary_types_allowed=True)
        try:
            TypeAdapter(spelled, config=config).validate_python(value)
        except ValidationError as error:
            problem = error.errors()[0]
            expected = str(problem.get("ctx", {}).get("expected", ""))
            expected = expected or str(problem["msg"]).removeprefix("Input should be ")
            raise BadInput(f"the method's parameter {name!r} must be {expected}") from None
        except PydanticUserError:
            continue


def by_hierarchies(
    method: Method, task: Task, parameters: Mapping[str, Any], listener: Listener | None
) -> list[Recoding]:
    """Generalize: the counts, the hierarchies and the promises, and by keyword what else a task has."""
    if "target" in method.needs and task.target is None:
        raise BadInput('this method needs a column with the role "target"')
    offered: dict[str, Any] = {
        "suppression": task.suppression,
        "listener": listener,
        "rng": task.rng,
        "numbers": [name for name in task.quasi_identifiers if KINDS[task.column(name).kind].numbers],
        "importance": weights_of(task),
        "distances": task.distances if "distances" in inspect.signature(method.function).parameters else {},
    }
    if task.target is not None:
        offered["target"] = task.target
    fixed = {name: value for name, value in offered.items() if name not in parameters}
    return [call(method.function, parameters, task.counts, task.hierarchies, task.models, **fixed)]


def by_columns(
    method: Method,
    task: Task,
    parameters: Mapping[str, Any],
    listener: Listener | None,
    *,
    beside: Sequence[str] = (),
) -> list[Recoding]:
    """Change values: the counts, what each column means and the promises; then mend impossible combinations.

    `beside` are further columns that decide where a record goes, but are not changed. `edits` of the parameters are
    combinations that must not come out: a list of columns with their values each. `block`, for methods that can be run
    so, is the number of distinct records in a block at most; tables with very many are cut into blocks by themselves.

    >>> from keepsense.methods.method import method
    >>> from keepsense.release.example import example_job
    >>> job = example_job()
    >>> rules = by_columns(method("rank swapping"), job, {"k": 4}, None)
    >>> rules[0].names, rules[0].apply(rules[0].inputs).rows_of("job") == job.counts.rows_of("job")
    (('age', 'job'), True)
    """
    options = dict(parameters)
    edits = _edits(task, options.pop("edits", []))
    counts = task.count([*task.quasi_identifiers, *beside])
    whole = filled(counts, task.quasi_identifiers, task.rng) if method.gaps == "filled" else counts
    columns = task.attributes(whole, meaning=method.gaps == "filled", apart=method.gaps == "apart")
    cells = _in_blocks(method, task, options, whole, columns)
    if cells is None:
        offered = {"importance": weights_of(task), "rng": task.rng, "listener": listener}
        cells = call(method.function, options, whole, columns, task.models, **offered)
    if whole is not counts:
        cells = emptied(counts, cells)
    if edits:
        cells = mend(counts, cells, edits, rng=task.rng)
    return [cells.bound(counts)]


def _in_blocks(
    method: Method, task: Task, options: dict[str, Any], counts: Counts, columns: Sequence[Attribute]
) -> Cells | None:
    """The same, block by block, wherever the task lets it be done; None where no blocks are asked for or needed.

    The parameter `block` is taken out of the options.
    """
    kind = method.cut(task.models, options)
    asked = None if kind == "none" else options.pop("block", None)
    most = None if kind == "none" else blocking.size_of_blocks(counts, asked)
    if most is None:
        return None
    k = group_size(task.models, options.get("k"))
    # by its name, and without promises about tables: that is all that has to travel
    mechanisms = [model for model in task.models if model.about == "mechanism"]
    given = (method.name, {**method.settings, **options, "k": k}, mechanisms, weights_of(task))
    kernel = partial(_call_on_block, *given)
    if kind == "single columns":
        return blocking.column_by_column(kernel, counts, columns, asked, 2 * k, task)
    parts = blocking.blocks_of(counts, columns, most, least=2 * k, rng=task.rng)
    work = partial(blocking.recoded, kernel, columns, kind == "varying columns")
    done = task.each(work, parts)
    return blocking.merged(counts, [column.name for column in columns], list(zip(parts, done, strict=True)))


def _call_on_block(
    name: str,
    options: Mapping[str, Any],
    models: Sequence[Model],
    importance: Mapping[str, float],
    counts: Counts,
    columns: Sequence[Attribute],
    rng: Random,
) -> Cells:
    here = {column.name: importance[column.name] for column in columns}
    cells: Cells = call(find_method(name).function, options, counts, columns, models, importance=here, rng=rng)
    return cells


def _edits(task: Task, listed: Any) -> list[Edit]:
    if not isinstance(listed, list) or not all(isinstance(rule, Mapping) and rule for rule in listed):
        raise BadInput(
            'edits are a list of impossible combinations, such as [{ sex = ["m"], diagnosis = ["pregnancy"] }]'
        )
    edits = []
    for number, rule in enumerate(listed, start=1):
        for name in rule:
            if name not in task.quasi_identifiers:
                raise BadInput(f"edit {number} names the column {name!r}, which is no quasi-identifier of this method")
        edits.append(Edit(f"edit {number}", {name: _one_of(values) for name, values in rule.items()}))
    return edits


def _one_of(values: Any) -> Callable[[Any], bool]:
    """Whether a cell is one of some values, however its type spells them."""
    spelled = {str(value) for value in (values if isinstance(values, list) else [values])}
    return lambda cell: cell is not None and str(cell) in spelled
