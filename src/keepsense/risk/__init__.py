"""What an attacker finds: records alike, unique, special or linked, and the metrics of it."""
