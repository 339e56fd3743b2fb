"""Hot loops of this room, compiled."""
