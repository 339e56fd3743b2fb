"""Which method and why: the catalogue of techniques, advice, step-by-step traces.

- the catalogue: `keepsense.guide.catalogue` (`entry`, `flowchart`), drawn by `flowchart_text`, `flowchart_svg` and
  `taxonomy_tree`, told by `describe` and `pages`;
- advice: `keepsense.guide.advise` (`recommend`, `advise`) on `Answers`, with `presets`, tried by `try_out`;
- learning: `keepsense.explain.trace` (`explain`) runs an algorithm on a small table and keeps every step.
"""
