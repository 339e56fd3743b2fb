"""Speed and memory, as ratios within one run: against a peer, a bare engine or a stated unit."""
