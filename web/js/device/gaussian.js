/** The closed form of the Gaussian mechanism, rounded towards more loss. */

const LOG_ROOT_2PI = 0.5 * Math.log(2 * Math.PI);
const ROOT_HALF_PI = Math.sqrt(Math.PI / 2);
/** Of what is computed here, far above its own rounding. */
const ABOVE = 5e-14;

/** Phi(-x)/phi(x). @param {number} x @returns {number} */
export function mills(x) {
  if (x < 0) return 2 * ROOT_HALF_PI * Math.exp((x * x) / 2) - mills(-x);
  if (x < 2.5) {
    let term = x;
    let total = x;
    for (let k = 3; term > 1e-18 * total; k += 2) total += term *= (x * x) / k;
    return ROOT_HALF_PI * Math.exp((x * x) / 2) - total;
  }
  let tail = x;
  for (let k = 200; k > 0; k--) tail = x + k / tail;
  return 1 / tail;
}

/**
 * log delta(epsilon) of mu-Gaussian privacy, never too small.
 * @param {number} mu
 * @param {number} epsilon
 */
function logDelta(mu, epsilon) {
  const x = epsilon / mu - mu / 2;
  const gap = mills(x) - mills(x + mu) + ABOVE * mills(x);
  return Math.min(0, (-x * x) / 2 - LOG_ROOT_2PI + Math.log(gap));
}

/** The least epsilon at this delta. @param {number} mu @param {number} delta */
export function epsilonAt(mu, delta) {
  if (mu === 0) return 0;
  if (delta <= 0) return Infinity;
  const target = Math.log(delta);
  if (logDelta(mu, 0) <= target) return 0;
  const top = (mu * mu) / 2 + mu * Math.sqrt(-2 * target);
  return bisect(0, top, (epsilon) => logDelta(mu, epsilon) <= target);
}

/** The largest mu that this budget pays for. @param {number} epsilon @param {number} delta */
export function gaussianMu(epsilon, delta) {
  const target = Math.log(delta);
  let high = 1;
  while (logDelta(high, epsilon) <= target) high *= 2;
  let low = high;
  while (logDelta(low, epsilon) > target) low /= 2;
  return -bisect(-high, -low, (mu) => logDelta(-mu, epsilon) <= target);
}

/**
 * The least number for which something holds.
 * @param {number} low
 * @param {number} high
 * @param {(x: number) => boolean} holds
 */
function bisect(low, high, holds) {
  for (;;) {
    const middle = (low + high) / 2;
    if (middle === low || middle === high) return high;
    if (holds(middle)) high = middle;
    else low = middle;
  }
}
