"""What is promised: privacy models, the independent verifier, disclosure risk."""
