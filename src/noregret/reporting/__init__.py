"""How do people see it? Plots and the report."""
