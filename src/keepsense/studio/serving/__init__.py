"""How the studio is served: who may ask, what is handed out, what is kept private."""
