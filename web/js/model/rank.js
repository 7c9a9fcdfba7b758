/**
 * From predictions to a list: how to order, what to leave out, ties by catalogue order; and the
 * normal law, for the chance of a like.
 */

/** @typedef {'rating' | 'liked' | 'explore'} By */

/** On the inner scale: a rating of three quarters of the scale and more (4 on 1..5) is a like. */
const LIKED = 1;
/** Share of an item's own effect that the order of a list leaves out. */
const OTHERS = 0.6;
/** What one unit of the log of popularity adds. */
const KNOWN = 0.12;

/**
 * What a list goes by. `safety` is neutral at one half; at 1 what is unsure counts one standard
 * error less, at 0 one more. A model whose ratings say nothing about an item has its own order.
 * Unless it is said by what, the expected rating has company: see `wanted`.
 * @param {import('./kind.js').Kind} kind @param {import('./kind.js').State} state
 * @param {By | undefined} by @param {number} safety
 * @returns {Float64Array}
 */
export function orderScores(kind, state, by, safety) {
  const { mean, sd } = state;
  if (kind.ranksBy !== 'rating') return state.scores ?? mean;
  if (by === 'liked') return mean.map((value, i) => chanceAbove(value, sd[i], LIKED));
  const reach = (by === 'explore' ? 1 : 0) + 1 - 2 * safety;
  const lean = by ? undefined : kind.lean;
  return mean.map((value, i) => value + reach * sd[i] + (lean ? lean[i] : 0));
}

/**
 * What the order of a list adds to the expected rating: less of what everybody thinks of an item,
 * which leaves more of one's own taste, and what many know.
 * @param {Float32Array} baseline @param {ArrayLike<number>} weight
 */
export function wanted(baseline, weight) {
  return Float64Array.from(
    baseline,
    (value, i) => KNOWN * Math.log1p(Math.max(weight[i], 0)) - OTHERS * value,
  );
}

/**
 * The n best items, best first, kept sorted while going through all: n is a few.
 * @param {Float64Array} scores @param {number} n @param {(item: number) => boolean} allowed
 * @returns {number[]}
 */
export function top(scores, n, allowed) {
  /** @type {number[]} */
  const best = [];
  for (let i = 0; i < scores.length; i++) {
    const score = scores[i];
    if (best.length === n && !(score > scores[best[n - 1]])) continue;
    if (n < 1 || score !== score || !allowed(i)) continue;
    let place = best.length;
    while (place > 0 && score > scores[best[place - 1]]) place--;
    best.splice(place, 0, i);
    if (best.length > n) best.pop();
  }
  return best;
}

/** An interval of this many standard deviations on each side holds 80 %. */
export const REACH_80 = 1.2815515655446004;

/** Chebyshev series of log(erfc(z) exp(z^2) / t) in 2t - 1, t = 2 / (2 + z): error below 1e-7. */
const SERIES = [
  -0.6513269, 0.64196979, 0.01947647, -0.00956151, -9.466e-4, 3.6684e-4, 4.252e-5, -2.028e-5,
  -1.62e-6, 1.3e-6,
];

/** The complementary error function. @param {number} x */
export function erfc(x) {
  const z = Math.abs(x);
  const t = 2 / (2 + z);
  const twice = 4 * t - 2;
  let next = 0;
  let after = 0;
  for (let k = SERIES.length - 1; k > 0; k--) {
    const before = next;
    next = twice * next - after + SERIES[k];
    after = before;
  }
  const tail = t * Math.exp(-z * z + SERIES[0] + (twice / 2) * next - after);
  return x >= 0 ? tail : 2 - tail;
}

/**
 * Chance that a new rating reaches a level.
 * @param {number} mean @param {number} sd @param {number} level
 */
export function chanceAbove(mean, sd, level) {
  return 0.5 * erfc((level - mean) / Math.max(sd, 1e-9) / Math.SQRT2);
}
