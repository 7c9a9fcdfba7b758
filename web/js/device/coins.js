/**
 * Random bits of the browser's own generator, and exact coins made of them: floats decide where
 * they safely can, big integers where they cannot.
 */

import { expMinusRatio } from './exact.js';

/** @typedef {import("./exact.js").Real} Real */

const UNIT = 2 ** -53;
/** More than what floats and a browser's exponential are off by together. */
const MARGIN = 2 ** -40;
/** Bytes that one call of the generator gives. */
const CHUNK = 1 << 16;

export class Bits {
  #words = new Uint32Array(CHUNK / 4);
  #at = CHUNK / 4;

  /** @param {(words: Uint32Array<ArrayBuffer>) => unknown} fill tests give their own words */
  constructor(fill = (words) => crypto.getRandomValues(words)) {
    this.fill = fill;
  }

  /** 32 bits. */
  short() {
    if (this.#at === this.#words.length) {
      this.fill(this.#words);
      this.#at = 0;
    }
    const word = /** @type {number} */ (this.#words[this.#at]);
    this.#words[this.#at++] = 0;
    return word;
  }

  /** 64 bits. */
  word() {
    return (BigInt(this.short()) << 32n) | BigInt(this.short());
  }

  /** A multiple of 2^-53, from 0 to below 1. */
  uniform() {
    return (this.short() * 2 ** 21 + (this.short() >>> 11)) * UNIT;
  }

  /** Uniform below a number of at most 2^52. @param {number} limit */
  below(limit) {
    const most = 2 ** 53 - (2 ** 53 % limit);
    for (;;) {
      const found = this.uniform() / UNIT;
      if (found < most) return found % limit;
    }
  }
}

/**
 * Whether a uniform number, of which some bits are known, is below a probability.
 * @param {Real} probability @param {Bits} bits @param {bigint} prefix @param {bigint} seen
 */
export function below(probability, bits, prefix = 0n, seen = 0n) {
  for (;;) {
    prefix = (prefix << 64n) | bits.word();
    seen += 64n;
    const [low, high] = probability(seen);
    if (prefix + 1n <= low) return true;
    if (prefix >= high) return false;
  }
}

/**
 * True with probability factor * exp(-x).
 * @param {number} x @param {number} error of all floats together
 * @param {number} factor at most 1 @param {() => Real} exact @param {Bits} bits
 */
export function coin(x, error, factor, exact, bits) {
  const u = bits.uniform();
  const chance = factor * Math.exp(-Math.max(x, 0));
  const slack = error + MARGIN;
  if (u + UNIT <= chance - slack) return true;
  if (u >= chance + slack) return false;
  return below(exact(), bits, BigInt(u / UNIT), 53n);
}

/**
 * True with probability exp(-a/b).
 * @param {number} a
 * @param {number} b whole numbers
 * @param {Bits} bits
 */
const expCoin = (a, b, bits) =>
  coin(a / b, MARGIN, 1, () => (p) => expMinusRatio([BigInt(a), BigInt(b)], p), bits);

/**
 * t = 0, 1, ... with probability proportional to exp(-t a/b) (Canonne, Kamath & Steinke 2020).
 * @param {number} a @param {number} b whole, below 2^46 @param {Bits} bits
 */
export function geometric(a, b, bits) {
  let u = bits.below(b);
  while (!expCoin(u, b, bits)) u = bits.below(b);
  let v = 0;
  while (expCoin(1, 1, bits)) v++;
  return Math.floor((u + b * v) / a);
}

/**
 * An integer k with probability proportional to exp(-|k| a/b).
 * @param {number} a
 * @param {number} b
 * @param {Bits} bits
 */
export function laplace(a, b, bits) {
  for (;;) {
    const size = geometric(a, b, bits);
    const negative = bits.short() & 1;
    if (size || !negative) return negative ? -size : size;
  }
}
