/** The normal law: tails, and the reach of an interval. */

/** An interval of this many standard deviations on each side holds 80 %. */
export const REACH_80 = 1.2815515655446004;

/** Chebyshev series of log(erfc(z) exp(z^2) / t) in 2t - 1, t = 2 / (2 + z): error below 1e-11. */
const SERIES = [
  -0.6513268598908547, 0.6419697923564902, 0.01947647320418609, -0.009561514786808532,
  -0.0009465953444817441, 0.0003668394978525426, 4.252332480734219e-5, -2.027857811307724e-5,
  -1.624290003904965e-6, 1.303655834778774e-6, 1.562644418281474e-8, -8.523810426451679e-8,
  6.52905536899603e-9, 5.059454732592289e-9, -9.91675733173725e-10, -2.282612811806156e-10,
  1.033555288620237e-10,
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
