"""Wang & Tang: learned neighbourhoods.

README.md is the page to read first.
"""
