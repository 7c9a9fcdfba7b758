"""Methods with an item-item matrix.

What they are: `covariance` (McSherry & Mironov), `knn` (Pearson and cosine), `ease` (likes).
How the budget is divided: `plan`. What one person adds: `rows`; `covariance` measures covariance
and weights apart. What is known after each round: `state`. What is published: `matrix`. As
the paper prints it: `printed`. Compiled: `kernels`. The twins are the same without noise.
"""
