"""The work of a publisher in the studio, without pages: tested without a browser."""
