"""Xian, Li, Li & Li 2017, Algorithms 1 to 3, from the paper alone: plain loops in double
precision, ratings 1 to 5 as triples (u, i, r) by person and then by item.

Formulas (1) and (2) predict, (4) gives biases and the implicit term, (5) and Algorithm 1 the
descent, (11) to (19) and Algorithm 2 the solves with noise in the objective, Algorithm 3
those with noise on the output. Noise comes in as numbers: unit Laplace draws for Algorithm
1, vectors with density ~ exp(-|b|) for the others; none of it is drawn here.

What the text leaves open, with the name of the setting; the first is the default here:

- P and Q are published and predict (their "Output"); nobody is folded in (`people`).
- Line 12 has p_u alone, not p_u and the implicit term (`lifted`).
- Lines 11 and 12 are equation 5, both from the old factors; or one after the other
  (`update`).
- Section 5.2 (iv), "k = 20 when the error variety is less than 0.0001": k is 20, because
  4.1 has it given in advance; or the descent ends early (`stop`).
- The first P and Q are "random": N(0, .1^2); or uniform (`first`, `start`).
- "for each r_ui" of Algorithms 2 and 3 is the heading of two loops, over people and then
  over items; ratings of Algorithm 1 come by person and item.
- Equations 13 and 16 disagree on what divides b: N, the number of ratings, as in lines 7
  and 9 and in the solutions 18 and 19; or n (`over`). It enters as printed in 18, without
  the 1/2 that the derivative of 13 would have.
- Items minimise (11), whose regressors are p_u and the implicit term (line 16); or are
  solved by (19), which has the item's own count (`solve`).
- Line 9 has e^(epsilon'/4); Algorithm 2 of [20] has e^(epsilon/4), and epsilon' is not
  positive there. It is reached below epsilon = 2 log(1 + C/(N lambda)) only.
- Line 13 of Algorithm 3 has lambda, its explanation lambda_1 (`item_noise`).
- p_max and q_max are assumed and not enforced (`enforce`).
- Items that nobody rated have no formula: they are passed over here, and not compared.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

RATING_SPAN = 4.0


@dataclass
class Data:
    """Ratings of n people and m items, and their biases by formula (4)."""

    triples: list
    n: int
    m: int
    lambda_1: float = 10.0
    lambda_2: float = 25.0
    lambda_3: float = 10.0

    def __post_init__(self):
        self.mu = sum(r for _, _, r in self.triples) / len(self.triples)
        self.of_user = [[] for _ in range(self.n)]
        self.of_item = [[] for _ in range(self.m)]
        for u, i, r in self.triples:
            self.of_user[u].append((i, r))
            self.of_item[i].append((u, r))
        self.b_i = np.array(
            [
                sum(r - self.mu for _, r in rated) / (self.lambda_1 + len(rated))
                for rated in self.of_item
            ]
        )
        self.b_u = np.array(
            [
                sum(r - self.mu - self.b_i[i] for i, r in rated) / (self.lambda_2 + len(rated))
                for rated in self.of_user
            ]
        )

    def implicit(self, count):
        """|R|^-1/2 sum y_j, by formulas (2) and (4): one number."""
        return count**-0.5 * (count / (self.lambda_3 + count)) if count else 0.0


@dataclass
class Model:
    """Formula (1), or (2) where `plus`."""

    data: Data
    P: np.ndarray
    Q: np.ndarray
    plus: bool

    def term(self, u):
        return self.data.implicit(len(self.data.of_user[u])) if self.plus else 0

    def predict(self, u, i):
        data = self.data
        return data.mu + data.b_u[u] + data.b_i[i] + self.Q[i] @ (self.P[u] + self.term(u))


def k_norm(draws, d):
    """A vector with density ~ exp(-|b|) from 2d unit Laplace draws: its length is the sum of
    d magnitudes, its direction that of the normal numbers at the other draws' quantiles."""
    from scipy.stats import laplace, norm

    direction = norm.ppf(laplace.cdf(draws[d:]))
    return direction / np.linalg.norm(direction) * np.abs(draws[:d]).sum()


def algorithm_1(
    data, P, Q, *, plus, epsilon, draws, k=20, gamma=0.001, lam=0.125, e_max=2.0, in_turn=False
):
    """`draws`: one unit Laplace number for each rating of each iteration; all 0: without
    noise (SGDBase++)."""
    model = Model(data, P.copy(), Q.copy(), plus)
    scale = RATING_SPAN * k / epsilon  # line 9: exp(-epsilon |b| / (Delta k))
    place = 0
    for _ in range(k):
        for u, i, r in data.triples:
            e = r - model.predict(u, i)
            e = min(max(e + scale * draws[place], -e_max), e_max)
            place += 1
            p, q = model.P[u].copy(), model.Q[i].copy()
            model.P[u] = p + gamma * (e * q - lam * p)
            seen = model.P[u] if in_turn else p
            model.Q[i] = q + gamma * (e * seen - lam * q)
    return model


def solve_user(model, u, ridge, term):
    """Equation (18): `term` is what b adds inside the brackets."""
    rated = model.data.of_user[u]
    d = model.P.shape[1]
    right = np.zeros(d)
    gram = np.zeros((d, d))
    for i, r in rated:
        q = model.Q[i]
        gram += np.outer(q, q)
        right += (r - model.data.mu - model.data.b_u[u] - model.data.b_i[i]) * q
    right -= gram @ np.full(d, model.term(u))
    return np.linalg.solve(gram + ridge * np.eye(d), right - term)


def solve_item(model, i, ridge, term, equation_19=False):
    """The minimum of (11) over q_i; or equation (19)."""
    rated = model.data.of_item[i]
    d = model.Q.shape[1]
    right = np.zeros(d)
    gram = np.zeros((d, d))
    for u, r in rated:
        x = model.P[u] + (0.0 if equation_19 else model.term(u))
        gram += np.outer(x, x)
        right += (r - model.data.mu - model.data.b_u[u] - model.data.b_i[i]) * x
    if equation_19 and model.plus:
        right -= gram @ np.full(d, model.data.implicit(len(rated)))
    return np.linalg.solve(gram + ridge * np.eye(d), right - term)


def algorithm_2(
    data,
    P,
    Q,
    *,
    plus,
    epsilon,
    draws,
    k=20,
    lam=0.125,
    C=2.0,
    over_people=False,
    equation_19=False,
):
    """`draws`: 2d unit Laplace numbers for each solve; all 0: without noise (ALSBase++)."""
    model = Model(data, P.copy(), Q.copy(), plus)
    N = len(data.triples)
    d = P.shape[1]
    left = epsilon - np.log(1 + 2 * C / (N * lam) + C**2 / (N**2 * lam**2))
    delta = 0.0
    if left <= 0:
        delta = C / (N * (np.exp(epsilon / 4) - 1)) - lam
        left = epsilon / 2
    vectors = iter(draws.reshape(-1, 2 * d))
    divide = data.n if over_people else N

    def term():
        given = next(vectors)
        b = k_norm(given, d) * 2 / left if given.any() else np.zeros(d)
        return b / divide

    for _ in range(k):
        for u in range(data.n):
            ridge = lam * len(data.of_user[u]) + delta / 2
            model.P[u] = solve_user(model, u, ridge, term())
        for i in range(data.m):
            ridge = lam * len(data.of_item[i]) + delta / 2
            b = term()
            if data.of_item[i]:
                model.Q[i] = solve_item(model, i, ridge, b, equation_19)
    return model


def algorithm_3(
    data,
    P,
    Q,
    *,
    plus,
    epsilon,
    draws,
    k=20,
    lam=0.125,
    p_max=0.4,
    q_max=0.5,
    lambda_1_in_noise=False,
):
    """As `algorithm_2`, with noise on each solution."""
    model = Model(data, P.copy(), Q.copy(), plus)
    d = P.shape[1]
    vectors = iter(draws.reshape(-1, 2 * d))
    none = np.zeros(d)

    def noise(count, most, ridge):
        given = next(vectors)
        beta = epsilon / (2 * k) * count * ridge / (2 * most * RATING_SPAN)
        return k_norm(given, d) / beta if given.any() else none

    for _ in range(k):
        for u in range(data.n):
            count = len(data.of_user[u])
            model.P[u] = solve_user(model, u, lam * count, none)
            model.P[u] += noise(count, q_max, lam)
        for i in range(data.m):
            count = len(data.of_item[i])
            ridge = data.lambda_1 if lambda_1_in_noise else lam
            b = noise(max(count, 1), p_max, ridge)
            if count:
                model.Q[i] = solve_item(model, i, lam * count, none) + b
    return model


@dataclass
class Averaged:
    """What PSGD and PALS start from (Berlioz et al., as Xian et al. describe it: "DP
    preprocessing of the input matrix"): noisy averages, and residuals within +-1.

    The shares .02, .14 and .14 of epsilon, the 5 ratings of shrinkage and the bounds 2 and 1
    are not in Xian et al.; each is a setting.
    """

    data: Data
    epsilon: float
    draws: np.ndarray
    """1 + m + n unit Laplace numbers: of all ratings, the items, the people."""
    middle: float = 3.0

    def __post_init__(self):
        data, eps = self.data, self.epsilon
        g, items = self.draws[0], self.draws[1 : 1 + data.m]
        people = self.draws[1 + data.m :]
        total = sum(r - self.middle for _, _, r in data.triples)
        mean = (total + 4 / (0.02 * eps) * g) / len(data.triples)
        self.item = np.array(
            [
                np.clip(
                    (
                        sum(r - self.middle for _, r in rated)
                        + 4 / (0.14 * eps) * items[i]
                        + 5 * mean
                    )
                    / (len(rated) + 5),
                    -2,
                    2,
                )
                for i, rated in enumerate(data.of_item)
            ]
        )
        self.own = np.array(
            [
                np.clip(
                    (
                        sum(r - self.middle - self.item[i] for i, r in rated)
                        + 4 / (0.14 * eps) * people[u]
                    )
                    / (len(rated) + 5),
                    -2,
                    2,
                )
                for u, rated in enumerate(data.of_user)
            ]
        )

    def rest(self, u, i, r):
        return np.clip(r - self.middle - self.item[i] - self.own[u], -1, 1)


def psgd(data, P, Q, *, epsilon, draws, k=20, gamma=0.001, lam=0.125, e_max=2.0):
    """Algorithm 4 of [9]: Algorithm 1's steps for plain MF on the residuals, of which one
    rating moves an error by 2; .7 of epsilon. Gives a function that predicts."""
    first = 1 + data.m + data.n
    known = Averaged(data, epsilon, draws[:first])
    P, Q = P.copy(), Q.copy()
    scale = 2 * k / (0.7 * epsilon)
    place = first
    for _ in range(k):
        for u, i, r in data.triples:
            e = known.rest(u, i, r) - P[u] @ Q[i] + scale * draws[place]
            place += 1
            e = min(max(e, -e_max), e_max)
            p = P[u].copy()
            P[u] = p + gamma * (e * Q[i] - lam * p)
            Q[i] = Q[i] + gamma * (e * p - lam * Q[i])
    return lambda u, i: known.middle + known.item[i] + known.own[u] + P[u] @ Q[i]


def pals(data, P, Q, *, epsilon, draws, k=20, lam=0.125, p_max=0.4, q_max=0.5):
    """Algorithm 5 of [9]: Algorithm 3's solves for plain MF on the residuals."""
    first = 1 + data.m + data.n
    known = Averaged(data, epsilon, draws[:first])
    P, Q = P.copy(), Q.copy()
    d = P.shape[1]
    vectors = iter(draws[first:].reshape(-1, 2 * d))

    def solved(rows, values, most):
        if not rows:
            next(vectors)
            return np.zeros(d)
        rows, values = np.array(rows), np.array(values)
        beta = 0.7 * epsilon / (2 * k) * len(rows) * lam / (2 * most * 2)
        given = next(vectors)
        noise = k_norm(given, d) / beta if given.any() else 0.0
        ridge = lam * len(rows) * np.eye(d)
        return np.linalg.solve(rows.T @ rows + ridge, rows.T @ values) + noise

    for _ in range(k):
        for u, rated in enumerate(data.of_user):
            rest = [known.rest(u, i, r) for i, r in rated]
            P[u] = solved([Q[i] for i, _ in rated], rest, q_max)
        for i, rated in enumerate(data.of_item):
            rest = [known.rest(u, i, r) for u, r in rated]
            Q[i] = solved([P[u] for u, _ in rated], rest, p_max)
    return lambda u, i: known.middle + known.item[i] + known.own[u] + P[u] @ Q[i]
