"""Matrix factorizations. A method file says what the method is, its settings and its plan.

Methods: `als` (start here), `objective`, `sgd`, `svd`, `input`, `federated`. What they share,
in reading order: `base` (the plan at the unit `user`), `rounds` (the round that learns
factors), `publish`, `state`; `likes`; `value`, `sides` and `noisy` (the unit `value`);
`implicit` (SVD++); `epochs` (gradient descent); `federated` (smaller uploads). Then the
non-private `twin`, the papers as `printed`, and compiled loops (`kernels_*`).
"""
