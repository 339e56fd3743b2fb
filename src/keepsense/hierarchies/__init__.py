"""Hierarchies: how values generalize; how hierarchies are built, checked, scored, chosen and edited.

- the hierarchy itself: `hierarchy`, as a tree of labels `hierarchy_tree`, its faults `hierarchy_checks`;
- construction: `hierarchy_builder` for a column of any kind and for whole tables; `kinds` holds one module a kind, with
  `intervals`, `round_bands` and `ordinal_scales` for numbers and ordered values;
- words: `word_concepts` (the base hierarchy), `aika_adjustments`, `hierarchy_candidates`, `releasable_labels`;
- judgement: `hierarchy_scores` (GSL and AIKA's four aspects), `hierarchy_faults`, `hierarchy_choice`;
- editing and files: `hierarchy_editor`, `formats`.
"""
