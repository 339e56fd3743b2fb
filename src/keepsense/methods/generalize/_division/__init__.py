"""The compiled form of the plainest division: strict median cuts for promises about k alone."""
