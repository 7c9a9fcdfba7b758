"""What stays with its owner: from the published model and one's own ratings to what one is
told.

`ratings` reads what a person writes, `base` says what a personal model is, `rank`
orders, `results` is the answer, `lists` writes everybody's. Every other file is one personal
model, or the kernels of one.
"""
