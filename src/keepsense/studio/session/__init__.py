"""What a publisher works on in the studio, without a page: tested without a browser."""
