/**
 * What private acts cost together. Never less than Tacit's own accountant says of the same events;
 * the same where all are Gaussian, or all are shares.
 */

import { epsilonAt } from './gaussian.js';

/**
 * A private act as the task announces it, in steps of the grid.
 * @typedef {object} Act
 * @property {string} kind
 * @property {string} name `round/part`
 * @property {number} [times]
 * @property {string | null} [beside]
 * @property {string | null} [instead]
 * @property {number} [sampled]
 * @property {number} [sensitivity]
 * @property {number} [sigma]
 * @property {number} [scale]
 * @property {number} [variance]
 * @property {number} [l1]
 * @property {number} [draws]
 * @property {number} [epsilon]
 * @property {number} [choices]
 * @property {number} [favoured]
 */
/**
 * Acts added up: Gaussian ones by mu squared, shares by their Renyi divergence at order a, which
 * is at most a/2 times `renyi`, pure ones by their epsilons and the squares of them.
 * @typedef {{mu2: number, renyi: number, pure: number, squares: number}} Cost
 */

/** @type {Cost} */
export const NOTHING = { mu2: 0, renyi: 0, pure: 0, squares: 0 };
/** Orders at which the bound for shares holds: whole numbers. */
const ORDERS = [
  ...Array.from({ length: 63 }, (_, k) => k + 2),
  ...Array.from({ length: 179 }, (_, k) => Math.floor(64 * 1.04 ** (k + 1))),
];

/** @param {Cost} one @param {Cost} other @returns {Cost} */
export const plus = (one, other) => ({
  mu2: one.mu2 + other.mu2,
  renyi: one.renyi + other.renyi,
  pure: one.pure + other.pure,
  squares: one.squares + other.squares,
});

/** @param {Act} act @param {number} [often] @returns {Cost} */
export function price(act, often = act.times ?? 1) {
  const { kind, sensitivity: l2 = 0, variance: v = 0, l1 = 0, sigma = 0, scale = 0 } = act;
  if (kind === 'gaussian') return { ...NOTHING, mu2: (often * l2 * l2) / (sigma * sigma - 4) };
  if (kind === 'skellam')
    return { ...NOTHING, renyi: often * ((l2 * l2) / v + (l2 * l2 + 3 * l1) / (v * v)) };
  const epsilon = kind === 'laplace' ? l2 / scale : kind === 'choice' ? (act.epsilon ?? 0) : NaN;
  if (!(epsilon > 0)) throw new Error('nothing bounds what this training reveals');
  return { ...NOTHING, pure: often * epsilon, squares: often * epsilon * epsilon };
}

/** All that a task may ask of one device. @param {Act[]} acts @returns {Cost} */
export function costOf(acts) {
  let total = NOTHING;
  for (const act of acts) {
    const payer = act.beside ?? act.instead;
    if (payer == null) {
      total = plus(total, price(act));
      continue;
    }
    // Over other people, or in the place of another: free if that one costs as much.
    const lead = acts.find((one) => one.name === payer && !one.beside && !one.instead);
    const [paid, own] = [lead && price(lead), price(act)];
    const names = /** @type {(keyof Cost)[]} */ (['mu2', 'renyi', 'pure', 'squares']);
    if (!paid || names.some((name) => paid[name] < own[name]))
      throw new Error('an act that nobody pays for');
  }
  return total;
}

/** Epsilon at this delta. @param {Cost} total @param {number} delta */
export function epsilonOf(total, delta) {
  const { mu2, renyi, pure, squares } = total;
  if (!mu2 && !renyi) return delta > 0 ? Math.min(pure, byOrders(squares, delta)) : pure;
  if (!renyi && !pure) return epsilonAt(Math.sqrt(mu2), delta);
  if (delta <= 0) return Infinity;
  // A pure act diverges by at most a epsilon^2/2 at order a, as a Gaussian one.
  return Math.min(
    byOrders(mu2 + renyi + squares, delta),
    pure + (renyi ? byOrders(mu2 + renyi, delta) : epsilonAt(Math.sqrt(mu2), delta)),
  );
}

/** Proposition 12 of Canonne, Kamath & Steinke 2020. @param {number} rate @param {number} delta */
function byOrders(rate, delta) {
  const least = ORDERS.map((order) => {
    const divergence = (order * rate) / 2;
    if (delta * delta + Math.expm1(-divergence) > 0) return 0;
    return divergence + Math.log1p(-1 / order) - Math.log(delta * order) / (order - 1);
  });
  return Math.max(0, Math.min(...least));
}

/**
 * The act with the norms of what was really added, for its owner's eyes; null for nothing added.
 * @param {Act} act @param {Float64Array} whole @returns {Act | null}
 */
export function realised(act, whole) {
  let [l1, square] = [0, 0];
  for (const q of whole) [l1, square] = [l1 + Math.abs(q), square + q * q];
  if (!l1) return null;
  // Upwards, by more than the sums of floats are off.
  const norm = Math.sqrt(square) * (1 + 1e-9);
  const most = act.kind === 'laplace' ? l1 : norm;
  return {
    ...act,
    sensitivity: Math.min(most, act.sensitivity ?? most),
    l1: Math.min(l1, act.l1 ?? l1),
  };
}
