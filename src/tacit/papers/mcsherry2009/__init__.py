"""McSherry & Mironov 2009: noisy covariances.

README.md is the page to read first.
"""
