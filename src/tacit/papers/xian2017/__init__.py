"""Xian et al. 2017: SVD++ three ways.

README.md is the page to read first.
"""
