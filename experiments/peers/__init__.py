"""The same tables through Keepsense and through what people use instead."""
