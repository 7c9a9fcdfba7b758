/** The normal law: tails, and the reach of an interval. */

/** An interval of this many standard deviations on each side holds 80 %. */
export const REACH_80 = 1.2815515655446004;

/** Chebyshev series of log(erfc(z) exp(z^2) / t) in 2t - 1, t = 2 / (2 + z): error below 1e-8. */
const SERIES = [
  -0.65132686, 0.641969792, 0.0194764732, -0.0095615148, -9.465954e-4, 3.668395e-4, 4.25233e-5,
  -2.02786e-5, -1.6243e-6, 1.3037e-6, 1.56e-8, -8.52e-8, 6.5e-9,
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
