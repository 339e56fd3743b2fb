"""Synthetic people to try things on: nobody in them is real, and their words are ordinary English nouns.

>>> from keepsense.sample import people
>>> table = people(1000, seed=1)
>>> table.num_rows, table.column_names
(1000, ['id', 'sex', 'age', 'postcode', 'place', 'occupation', 'workplace', 'hobby', 'interests', 'diagnosis'])
"""

from keepsense.sample.generate import COLUMNS, SEPARATOR, WORD_COLUMNS, people, write_people

__all__ = ["COLUMNS", "SEPARATOR", "WORD_COLUMNS", "people", "write_people"]
