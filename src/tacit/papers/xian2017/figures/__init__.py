"""The figures and tables, what is printed of them, and verdicts."""
