"""Serving of the studio: who may ask, what is handed out, what is kept private."""
