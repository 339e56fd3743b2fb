"""What people see: tables, plots, the HTML report."""
