"""Fits of all ratings in one piece, without noise: what the twins of several families share.

NOT PRIVATE. Nothing here is used by a sound plan.
"""
