"""Wang & Tang, Differentially Private Neighborhood-based Recommender Systems: a plain second
implementation in float64, written from the paper. Nothing of the program is used.

Ratings are a matrix of people x items on the scale 1 to 5, 0 where there is none.

- Equation 2 (`predicted`): r_i + sum_j s_ij (r_uj - r_j) / sum_j |s_ij| over the person's
  other items j, the divisor at least C (Algorithm 1, line 4: |S_i| I_u >= C).
- Equation 5 (`gradient`): G_ij(u) = e_ui (r_uj - r_ui^ I_uj) / S_i I_u, with the sign of
  s_ij that its text "omits", and on centred ratings as equation 2 has them.
- Algorithm 1 (`descent`): S <- S - eta (beta G + lambda S), G with Laplace noise of scale
  gamma K dF / epsilon, dF = 2 e_max phi / C, e_max = .5 + (phi - 1)/(t + 1), phi = 4.
- Algorithm 2 (`sampling`): S <- S - (epsilon/4B)(eta_t/2)(L g + lambda S o H^-1) + z,
  z ~ N(0, rho eta_t), eta_t = eta_1 t^-xi, B = 16 tau, H of equation 12.
- Section 5.2: of each item the N most similar others are kept, after training.
- PCC and COS (`alike`): equation 2 with Pearson's correlation over common raters, or the
  cosine over all, of ratings less the items' means; section 5.1 has their N.

Left open by the text, each a setting of the program; first the default:

- the first similarities: uniform in +-.1 (the authors' published program), or cosine or
  Pearson of the ratings (`start`);
- the mini-batch: all ratings (`batch`);
- K, eta, lambda, beta, C, eta_1, rho: one of the printed values each;
- "paranoid" records: a neighbour further from the prediction than phi is left out of a
  gradient, or kept (`paranoid`);
- whether the sum in line 5 of Algorithm 2 is multiplied by the number of ratings: yes, with
  the prior, as in the authors' program; or L g = the plain sum (`times`);
- people of up to 20 ratings are not trained on (`least`), but predicted for.
- neighbours of PCC and COS: by the size of the similarity, or the most similar (`nearest`).
- `reading=code`: the steps of the authors' published program (`published_descent`,
  `published_sampling`), which differ from the printed ones: similarities are made symmetric
  in each step; an item counts as its own neighbour; the error is the centred prediction less
  the *raw* rating; the derivative of the divisor and the clamp of errors are missing; lambda
  is multiplied by beta; Laplace noise has that number as its standard deviation; Algorithm 2
  takes whole steps (eta_t, not eta_t/2), held for 40 steps, and H = 1.
"""

import numpy as np

PHI = 4.0


def kept(ratings, least, most=None, chosen=None):
    """What is trained on: rows of up to `least` ratings are empty; of more than `most` those
    that `chosen` (people x items, true or false) keeps."""
    rated = ratings > 0
    busy = rated.sum(axis=1) > least
    used = np.where(busy[:, None], ratings, 0.0)
    if most is not None:
        used = np.where(chosen, used, 0.0)
    return used


def means(ratings):
    """Of each item; of all ratings where there is none."""
    rated = ratings > 0
    count = rated.sum(axis=0)
    every = ratings.sum() / max(rated.sum(), 1)
    return np.where(count > 0, ratings.sum(axis=0) / np.maximum(count, 1), every)


def gradient(used, mean, similar, floor, clamp=np.inf, reach=np.inf):
    """The sum of equation 5 over all ratings, person by person and rating by rating."""
    total = np.zeros_like(similar)
    for row in used:
        mine = np.flatnonzero(row)
        away = row[mine] - mean[mine]
        for place, i in enumerate(mine):
            others = np.delete(mine, place)
            rest = np.delete(away, place)
            s = similar[i, others]
            size = np.abs(s).sum()
            divisor = max(size, floor)
            guess = s @ rest / divisor
            error = np.clip(guess - away[place], -clamp, clamp)
            far = rest - (np.sign(s) * guess if size > floor else 0.0)
            told = np.where(np.abs(far) <= reach, error * far / divisor, 0.0)
            total[i, others] += told
    return total


def descent(
    ratings,
    first,
    noise,
    *,
    epsilon,
    rounds=10,
    eta=0.4,
    decay=0.005,
    beta=10.0,
    floor=10.0,
    least=20,
    reach=PHI,
):
    """Algorithm 1; `noise(t)` are unit Laplace numbers, None for none. Gives S and means."""
    used = kept(ratings, least)
    mean = means(used)
    similar = beta * first
    np.fill_diagonal(similar, 0.0)
    for t in range(1, rounds + 1):
        most = 0.5 + (PHI - 1) / (t + 1)
        scale = rounds * 2 * most * PHI / floor / epsilon
        slope = gradient(used, mean, similar, floor, most, reach)
        if noise is not None:
            slope = slope + scale * noise(t)
        similar = similar - eta * (beta * slope + decay * similar)
        np.fill_diagonal(similar, 0.0)
    return similar, mean


def sampling(
    ratings,
    first,
    noise,
    *,
    epsilon,
    chosen,
    rounds=300,
    eta=8e-6,
    decay=0.02,
    rho=0.006,
    xi=0.3,
    tau=200,
    times="ratings",
    least=20,
):
    """Algorithm 2 with all ratings in each step; `noise(t)` are unit normal numbers."""
    used = kept(ratings, least, tau, chosen)
    mean = means(used)
    similar = first.copy()
    np.fill_diagonal(similar, 0.0)
    count = (used > 0).sum(axis=0)
    total = count.sum()
    share = count / total
    miss = (1 - share) ** (total - 1)
    inclusion = 1 - np.outer(share * miss, share * miss)
    many = total if times == "ratings" else 1.0
    for t in range(1, rounds + 1):
        step = eta * t**-xi
        slope = many * gradient(used, mean, similar, 1e-9)
        prior = many * decay * similar / inclusion
        similar = similar - epsilon / (4 * 16 * tau) * step / 2 * (slope + prior)
        if noise is not None:
            similar = similar + np.sqrt(rho * step) * noise(t)
        np.fill_diagonal(similar, 0.0)
    return similar, mean


def published_gradient(used, mean, similar, floor):
    """As the authors' program has it."""
    rated = (used > 0).astype(float)
    away = (used - mean) * rated
    size = np.maximum(rated @ np.abs(similar).T, floor)
    error = (away @ similar.T / size - used) * rated
    return (error / size).T @ away


def published_descent(ratings, first, noise, *, epsilon, rounds, eta, decay, beta, floor, least):
    """Algorithm 1 in the authors' program."""
    used = kept(ratings, least)
    mean = means(used)
    similar = beta * first
    for t in range(1, rounds + 1):
        similar = (similar + similar.T) / 2
        most = 0.5 + (PHI - 1) / (t + 1)
        spread = rounds * 2 * most * PHI / floor / epsilon
        slope = published_gradient(used, mean, similar, floor)
        slope = slope + decay * similar + spread / np.sqrt(2) * noise(t)
        similar = similar - eta * beta * slope
    return (similar + similar.T) / 2, mean


def published_sampling(
    ratings, first, noise, *, epsilon, chosen, rounds, eta, decay, rho, xi, tau, least
):
    """Algorithm 2 in the authors' program."""
    used = kept(ratings, least, tau, chosen)
    mean = means(used)
    similar = first.copy()
    many = (used > 0).sum()
    step = eta
    for t in range(1, rounds + 1):
        similar = similar + np.sqrt(rho * step) * noise(t)
        similar = (similar + similar.T) / 2
        slope = published_gradient(used, mean, similar, 1e-9) + decay * similar
        similar = similar - step * epsilon / (64 * tau) * many * slope
        step = eta if t < 40 else eta / t**xi
    return (similar + similar.T) / 2, mean


def most_similar(similar, neighbours, by_size=False):
    """All but the N largest of each row (or those of largest size) set to 0; an item is not
    its own neighbour."""
    out = np.zeros_like(similar)
    for i, row in enumerate(similar):
        others = np.delete(np.arange(len(row)), i)
        key = np.abs(row[others]) if by_size else row[others]
        best = others[np.argsort(-key, kind="stable")[:neighbours]]
        out[i, best] = row[best]
    return out


def predicted(ratings, similar, mean, floor):
    """Equation 2 for every person and item, from all of a person's ratings."""
    out = np.tile(mean, (len(ratings), 1))
    for u, row in enumerate(ratings):
        mine = np.flatnonzero(row)
        for i in range(len(mean)):
            others = mine[mine != i]
            s = similar[i, others]
            size = max(np.abs(s).sum(), floor)
            out[u, i] += s @ (row[others] - mean[others]) / size
    return np.clip(out, 1, 5)


def alike(ratings, pearson):
    """Pearson over common raters or cosine over all, of ratings less the items' means."""
    mean = means(ratings)
    rated = ratings > 0
    away = np.where(rated, ratings - mean, 0.0)
    items = ratings.shape[1]
    out = np.zeros((items, items))
    for i in range(items):
        for j in range(items):
            both = rated[:, i] & rated[:, j]
            a, b = away[:, i], away[:, j]
            size = (a[both] ** 2).sum() * (b[both] ** 2).sum()
            if not pearson:
                size = (a**2).sum() * (b**2).sum()
            if i != j and size > 0:
                out[i, j] = (a[both] * b[both]).sum() / np.sqrt(size)
    return out, mean
