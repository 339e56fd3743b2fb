"""Inner parts of the TR template: what each column can become, the state of the table, what a step would change."""
