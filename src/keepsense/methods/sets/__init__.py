"""Methods for sets of items: microaggregation, generalization and disassociation."""
