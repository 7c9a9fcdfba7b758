/**
 * A randomized choice: one of a few answers, the true ones likelier by e^epsilon. Exact given ideal
 * bits, like `tacit.noise.device`.
 */

import { expMinusRatio, ratio } from './exact.js';

/** @typedef {import("./coins.js").Bits} Bits */

/**
 * floor(2^63 P), P = favoured/(favoured + (choices - favoured) exp(-epsilon)), never above.
 * @param {{epsilon: number, choices: number, favoured: number}} event
 */
export function choiceBound({ epsilon, choices, favoured }) {
  const high = expMinusRatio(ratio(epsilon), 128n)[1];
  const own = BigInt(favoured) << 128n;
  return (own << 63n) / (own + BigInt(choices - favoured) * high);
}

/**
 * One answer of all, the favoured ones likelier by e^epsilon. Any row that is not as many different
 * answers as the event says counts as favouring the first ones.
 * @param {{epsilon: number, choices: number, favoured: number}} event
 * @param {ArrayLike<number>} given @param {Bits} bits
 */
export function choose(event, given, bits) {
  const { choices, favoured } = event;
  const asked = [...new Set(Array.from(given, Math.floor))].sort((a, b) => a - b);
  const fine = asked.length === favoured && asked.every((one) => one >= 0 && one < choices);
  const row = fine ? asked : Array.from({ length: favoured }, (_, k) => k);
  const truly = bits.word() >> 1n < choiceBound(event);
  const inside = /** @type {number} */ (row[bits.below(favoured)]);
  let outside = bits.below(choices - favoured);
  for (const one of row) if (outside >= one) outside++;
  return truly ? inside : outside;
}
