"""DPPS-MF of Wang & Tang (their baseline; Liu, Wang & Smola 2015): a plain second
implementation in float64. Nothing of the program is used.

The paper prints settings (section 5.1: eta_1, lambda, rho, d, xi = .3) and no update. It is
read as its own Algorithm 2 on factors (equation 8 and line 5):

    theta <- theta - (epsilon/4B)(eta_t/2) L (gradient + lambda theta) + N(0, rho eta_t)

with eta_t = eta_1 t^-xi, B = 16 tau, L the number of ratings, and the gradient of half the
squared error over at most tau random ratings of a person.

Left open by the text, each a setting of the program; first the default:

- `times`: the drift times the number of ratings (the authors' program), or not;
- `biases`: mean, item biases over n + 10 and people's biases over n + 25 are taken out of
  the ratings first, or the mean alone;
- `people`: predictions from both sides of the chain, or from its items and the ridge
  solution of a person's exact ratings;
- K: 300 steps (`epochs`); the start: N(0, .1^2).
"""

import numpy as np


def biased(used, raw):
    """Mean, item biases, people's biases of what is trained on."""
    rated = used > 0
    mean = used.sum() / rated.sum()
    if not raw:
        return mean, np.zeros(used.shape[1]), np.zeros(len(used))
    left = np.where(rated, used - mean, 0.0)
    item = left.sum(axis=0) / (10 + rated.sum(axis=0))
    left = np.where(rated, left - item, 0.0)
    return mean, item, left.sum(axis=1) / (25 + rated.sum(axis=1))


def chain(
    ratings,
    own,
    items,
    noise,
    *,
    epsilon,
    chosen,
    steps,
    eta,
    decay,
    rho,
    xi,
    tau,
    times="ratings",
    raw=True,
):
    """`noise(t)` gives unit normal numbers for items and people, or zeros. Gives both sides
    and the biases."""
    used = np.where(chosen, ratings, 0.0)
    rated = used > 0
    mean, item, person = biased(used, raw)
    target = used - mean - item - person[:, None]
    many = rated.sum() if times == "ratings" else 1.0
    for t in range(1, steps + 1):
        step = eta * t**-xi
        error = np.where(rated, target - own @ items.T, 0.0)
        slope_items = -error.T @ own + decay * items
        slope_own = -error @ items + decay * own
        share = epsilon / (64 * tau) * step / 2 * many
        z_items, z_own = noise(t)
        items = items - share * slope_items + np.sqrt(rho * step) * z_items
        own = own - share * slope_own + np.sqrt(rho * step) * z_own
    return own, items, mean + item, person


def trained(own, items, baseline, person):
    """From both sides of the chain."""
    return np.clip(baseline + person[:, None] + own @ items.T, 1, 5)


def folded(ratings, items, baseline, decay):
    """A person's level (ridge 25) and vector (ridge lambda) from her exact ratings."""
    wide = np.hstack([np.ones((len(items), 1)), items])
    ridge = np.diag([25.0, *(decay for _ in range(items.shape[1]))])
    out = np.empty(ratings.shape)
    for u, row in enumerate(ratings):
        mine = np.flatnonzero(row)
        x = wide[mine]
        solved = np.linalg.solve(x.T @ x + ridge, x.T @ (row - baseline)[mine])
        out[u] = baseline + wide @ solved
    return np.clip(out, 1, 5)
