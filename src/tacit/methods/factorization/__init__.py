"""Matrix factorizations. A method file says what the method is, its settings and its plan.

Methods: `als` (start here), `objective`, `sgd`, `svd`, `input`, `federated`. What they share,
in reading order: `base` (the plan at the unit `user`), `rounds` (the round that learns
factors, and the implicit side of SVD++), `publish`, `state`; `value` and `svd` (the unit `value`);
`noisy` (gradient descent); `federated` (smaller uploads). Then the non-private `twin`.
"""
