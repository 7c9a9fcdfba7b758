"""Hua, Xia & Zhong 2015: noisy objectives and untrusted servers.

README.md is the page to read first.
"""
