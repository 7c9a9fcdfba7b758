/**
 * Rigorous intervals in big integers: the arithmetic that makes the samplers exact. A pair
 * [low, high] at precision p stands for a number between low/2^p and high/2^p.
 */

/** @typedef {[bigint, bigint]} Interval */
/**
 * A number, given at any precision that is asked for.
 * @typedef {(precision: bigint) => Interval} Real
 */
/** A rational number. @typedef {[bigint, bigint]} Ratio */

/** Rounded down. @param {bigint} a @param {bigint} b above 0 */
export const floored = (a, b) => (a - (((a % b) + b) % b)) / b;
/** Rounded up. @param {bigint} a @param {bigint} b above 0 */
export const raised = (a, b) => -floored(-a, b);
/** Shifted, rounded up. @param {bigint} a @param {bigint} by */
const up = (a, by) => -(-a >> by);
/** @param {bigint} x at least 0 */
export const bitLength = (x) => (x === 0n ? 0n : BigInt(x.toString(2).length));
/** @param {bigint} a @param {bigint} b */
const larger = (a, b) => (a > b ? a : b);
/** @param {bigint} a @param {bigint} b */
const smaller = (a, b) => (a < b ? a : b);
/** @param {bigint} x */
const absolute = (x) => (x < 0n ? -x : x);

/** A float as the fraction that it is. @param {number} x @returns {Ratio} */
export function ratio(x) {
  let below = 1n;
  while (!Number.isInteger(x)) {
    x *= 2;
    below *= 2n;
  }
  return [BigInt(x), below];
}

/** @param {Ratio} x @param {bigint} p @returns {Interval} */
export const fixed = ([a, b], p) => [floored(a << p, b), raised(a << p, b)];

/**
 * The product of numbers that are not negative.
 * @param {Interval} a
 * @param {Interval} b
 * @param {bigint} p
 * @returns {Interval}
 */
export const times = (a, b, p) => [(a[0] * b[0]) >> p, up(a[1] * b[1], p)];

/**
 * The quotient of positive numbers.
 * @param {Interval} a
 * @param {Interval} b
 * @param {bigint} p
 * @returns {Interval}
 */
export const over = (a, b, p) => [floored(a[0] << p, b[1]), raised(a[1] << p, b[0])];

/** exp(-x). @param {Interval} x @param {bigint} p @returns {Interval} */
export const expMinus = (x, p) => [power(x[1], p)[0], power(larger(x[0], 0n), p)[1]];

/** exp(-x) of a rational x. @param {Ratio} x @param {bigint} p @returns {Interval} */
export function expMinusRatio(x, p) {
  const [low, high] = expMinus(fixed(x, p + 8n), p + 8n);
  return [low >> 8n, up(high, 8n)];
}

/** 1 - exp(-x). @param {Ratio} x @param {bigint} p @returns {Interval} */
export function oneMinusExp(x, p) {
  const [low, high] = expMinusRatio(x, p);
  return [(1n << p) - high, (1n << p) - low];
}

/**
 * exp(-x/2^p): Taylor at x/2^k below 1/256, then k squarings, rounded outwards. Terms alternate and
 * fall, so the sum is off by less than the last; the guard bits cover what squarings multiply.
 * @param {bigint} x @param {bigint} p @returns {Interval}
 */
function power(x, p) {
  if (x === 0n) return [1n << p, 1n << p];
  if (x >= p << p) return [0n, 1n];
  const halvings = larger(0n, bitLength(x) - p + 8n);
  const work = p + halvings + 24n;
  const y = (x << (work - p)) >> halvings;
  let term = 1n << work;
  let total = term;
  let count = 0n;
  while (term) {
    count++;
    term = ((term * y) >> work) / count;
    total += count % 2n ? -term : term;
  }
  const error = 3n * count + 8n;
  /** @type {Interval} */
  let value = [larger(total - error, 0n), smaller(total + error, 1n << work)];
  for (let k = 0n; k < halvings; k++) value = times(value, value, work);
  return [value[0] >> (work - p), up(value[1], work - p)];
}

/** The natural logarithm. @param {Interval} x @param {bigint} p @returns {Interval} */
export const log = (x, p) => [logOf(x[0], p)[0], logOf(x[1], p)[1]];

/** @param {bigint} x @param {bigint} p @returns {Interval} */
function logOf(x, p) {
  const shift = bitLength(x) - p; // x = 2^shift f, f from 1/2 to 1
  const work = p + 32n + bitLength(absolute(shift));
  const f = (x << work) >> bitLength(x);
  const one = 1n << work;
  const found = atanh(((one - f) << work) / (f + one), work);
  const two = atanh(one / 3n, work);
  const [less, more] =
    shift >= 0n ? [two[0] * 2n - 8n, two[1] * 2n + 8n] : [two[1] * 2n + 8n, two[0] * 2n - 8n];
  // f and its image were rounded by a few units, and the slope of atanh is below 2 there.
  const low = -2n * found[1] - 16n + shift * less;
  const high = -2n * found[0] + 16n + shift * more;
  return [low >> (work - p), up(high, work - p)];
}

/** For z from 0 to 1/3. @param {bigint} z @param {bigint} work @returns {Interval} */
function atanh(z, work) {
  const square = (z * z) >> work;
  let total = 0n;
  let count = 1n;
  for (let term = z; term; term = (term * square) >> work) {
    total += term / count;
    count += 2n;
  }
  return [larger(total - 2n * count - 4n, 0n), total + 2n * count + 4n];
}

/** Numbers up to which a factorial is multiplied out. */
const SMALL = 4096n;

/**
 * ln k!, above `SMALL` by Stirling's series.
 * @param {bigint} k
 * @param {bigint} p
 * @returns {Interval}
 */
export function logFactorial(k, p) {
  if (k <= SMALL) {
    let product = 1n;
    for (let n = 2n; n <= k; n++) product *= n;
    return log([product << p, product << p], p);
  }
  const work = p + 2n * bitLength(k) + 16n;
  const one = 1n << work;
  const at = log([k * one, k * one], work);
  const tau = log(twoPi(work), work);
  let low = ((2n * k + 1n) * at[0] + tau[0] - 2n * k * one) >> 1n;
  let high = up((2n * k + 1n) * at[1] + tau[1] - 2n * k * one, 1n);
  for (let order = 2; ; order += 2) {
    const [a, b] = bernoulli(order);
    const below = b * BigInt(order * (order - 1)) * k ** BigInt(order - 1);
    const term = fixed([a, below], work);
    if (larger(absolute(term[0]), absolute(term[1])) <= 1n) break;
    low += term[0];
    high += term[1];
  }
  return [(low - 2n) >> (work - p), up(high + 2n, work - p)];
}

/** @type {Ratio[]} */
const numbers = [[1n, 1n]];

/** @param {number} n @returns {Ratio} with a positive denominator */
function bernoulli(n) {
  for (let m = numbers.length; m <= n; m++) {
    let [top, below] = [0n, 1n];
    let choose = 1n;
    for (let k = 0; k < m; k++) {
      const [a, b] = /** @type {Ratio} */ (numbers[k]);
      [top, below] = reduced(top * b - choose * a * below, below * b);
      choose = (choose * BigInt(m + 1 - k)) / BigInt(k + 1);
    }
    numbers.push(reduced(top, below * BigInt(m + 1)));
  }
  return /** @type {Ratio} */ (numbers[n]);
}

/** @param {bigint} a @param {bigint} b @returns {Ratio} */
export function reduced(a, b) {
  let [x, y] = [absolute(a), b];
  while (y) [x, y] = [y, x % y];
  return [a / x, b / x];
}

/** By Machin's formula. @param {bigint} work @returns {Interval} */
function twoPi(work) {
  const inverse = (/** @type {bigint} */ n) => {
    let total = 0n;
    let count = 1n;
    for (let term = (1n << work) / n; term; term /= n * n) {
      total += count % 4n === 1n ? term / count : -(term / count);
      count += 2n;
    }
    return [total - 2n * count, total + 2n * count];
  };
  const [a = 0n, b = 0n] = inverse(5n);
  const [c = 0n, d = 0n] = inverse(239n);
  return [2n * (16n * a - 4n * d), 2n * (16n * b - 4n * c)];
}

/** The middle of an interval as a float. @param {Interval} x @param {bigint} p */
export function nearest([low, high], p) {
  const sum = low + high;
  const drop = larger(0n, bitLength(absolute(sum)) - 60n);
  return Number(sum >> drop) * 2 ** Number(drop - p - 1n);
}
