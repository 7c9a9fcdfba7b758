"""Methods with an item-item matrix.

What they are: `covariance` (McSherry & Mironov), `knn` (Pearson and cosine), `ease` (likes).
What they share is in `plan`: how the budget is divided, what one person adds, what is known after
each round, what is published. The twins are the same without noise.
"""
