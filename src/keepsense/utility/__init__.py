"""Utility: metrics of information lost, of meaning lost, and of tasks done with the released table.

Functions take the `Counts` of the original table and a recoding (`Cuts` or `Cells`); what they need besides is said in
each. Suppressed records lose 1 in every column, cost a whole table each for the discernibility, and are one class for
the average class size.
"""
