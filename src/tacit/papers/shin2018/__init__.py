"""Shin et al. 2018: one noisy bit a phone.

README.md is the page to read first.
"""
