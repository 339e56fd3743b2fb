"""What a release costs, is worth and risks, measured for a job or for the tables of another tool."""
