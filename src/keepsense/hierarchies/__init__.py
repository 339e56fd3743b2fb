"""How values generalize: hierarchies, their construction, scoring and choice.

- the hierarchy itself: `Hierarchy`, `check`, `signature`;
- files: `read_hierarchy` and `write_hierarchy` by their ending, or `read_arx`, `read_xml`, `read_json`, `read_tree` and
  the matching `write_...`;
- editing: `Editor` and the operations of `keepsense.hierarchies.hierarchy_editor`;
- construction: `build_hierarchy` for a column of any kind, `hierarchies_for` a whole table; for words `base_hierarchy`,
  the four adjustments and `candidates`; hierarchies of numbers, dates, masked strings and ordered values;
- judgement: `score` (GSL), `explain`, `improve`, `evaluate` (four aspects), `choose` (before anonymizing or by trying).
"""
