/** From predictions to a list: how to order, what to leave out, ties by catalogue order. */

import { chanceAbove } from './normal.js';

/** @typedef {'rating' | 'liked' | 'explore'} By */

/** On the inner scale: a rating of three quarters of the scale and more (4 on 1..5) is a like. */
const LIKED = 1;
/** Share of an item's own effect that the order of a list leaves out. */
const OTHERS = 0.6;
/** What one unit of the log of popularity adds. */
const KNOWN = 0.12;
/** Up to so many the best are kept sorted while going through the items. */
const FEW = 200;

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
 * The n best items, best first.
 * @param {Float64Array} scores @param {number} n @param {(item: number) => boolean} allowed
 * @returns {number[]}
 */
export function top(scores, n, allowed) {
  /** @type {number[]} */
  const best = [];
  if (n > FEW) {
    for (let i = 0; i < scores.length; i++) if (scores[i] === scores[i] && allowed(i)) best.push(i);
    return best.sort((a, b) => scores[b] - scores[a] || a - b).slice(0, n);
  }
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
