"""Factorizations as their papers print them: claimed, not certified."""
