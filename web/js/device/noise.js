/**
 * What a device adds: its share of a sum's noise, or all the noise of its own vector. Exact given
 * ideal bits, like `tacit.noise`, whose proofs these samplers share.
 */

import { below, Bits, coin, geometric, laplace } from './coins.js';
import { expMinus, expMinusRatio, fixed, floored, log, logFactorial, nearest } from './exact.js';
import { oneMinusExp, over, raised, ratio, reduced, times } from './exact.js';

/** @typedef {import("./exact.js").Interval} Interval */
/** @typedef {import("./exact.js").Real} Real */
/** @typedef {import("./exact.js").Ratio} Ratio */

const PRECISION = 192n;
/** Means from which Poisson numbers are drawn by rejection. */
const SWITCH = 1 << 16;
/** Squared steps of the largest share that is drawn at once. */
const MOST_VARIANCE = 2 ** 41;
/** Parts of a step in which a scale of one's own noise is told. */
const FINE = 2 ** 20;
/** Where numbers and their sums stay whole in floats. */
const MOST_SCALE = 2 ** 46;

/** @typedef {{draw: (bits: Bits) => number}} Sampler */

/**
 * Poisson by inversion: 64 bits against rigorous sums of probabilities, more where they do not
 * tell.
 */
export class Inversion {
  /** @param {Real} mean */
  constructor(mean) {
    this.mean = mean;
    this.mode = mean(64n)[0] >> 64n;
    const ends = { up: /** @type {Interval[]} */ ([]), down: /** @type {Interval[]} */ ([]) };
    const least = 1n << (PRECISION - 80n);
    for (const [, chance] of this.#up(PRECISION))
      if (ends.up.push(chance) && chance[1] < least) break;
    for (const [, chance] of this.#down(PRECISION))
      if (ends.down.push(chance) && chance[1] < least) break;
    this.first = this.mode - BigInt(ends.down.length);
    this.last = this.mode + BigInt(ends.up.length) - 1n;
    const drop = PRECISION - 64n;
    let [low, high] = [0n, 0n];
    this.cells = [...ends.down.reverse(), ...ends.up].map(([a, b]) => {
      [low, high] = [low + a, high + b];
      return { lower: low >> drop, upper: -(-high >> drop) };
    });
  }

  /** @param {Bits} bits */
  draw(bits) {
    const u = bits.word();
    let [from, to] = [0, this.cells.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if (/** @type {{lower: bigint}} */ (this.cells[middle]).lower <= u) from = middle + 1;
      else to = middle;
    }
    const sure = from < this.cells.length && u >= (this.cells[from - 1]?.upper ?? 0n);
    return Number(sure ? this.first + BigInt(from) : this.#settle(u, bits));
  }

  /**
   * The outcome whose cell holds the number that begins so.
   * @param {bigint} prefix
   * @param {Bits} bits
   */
  #settle(prefix, bits) {
    for (let seen = 64n; ;) {
      prefix = (prefix << 64n) | bits.word();
      seen += 64n;
      let [low, high] = [0n, 0n];
      for (const [outcome, [a, b]] of this.#listed(seen + 64n)) {
        const before = high;
        [low, high] = [low + a, high + b];
        if (low >> 64n > prefix) {
          if (-(-before >> 64n) <= prefix) return outcome;
          break;
        }
        if (b <= 1n && outcome > this.last) break;
      }
    }
  }

  /** @param {bigint} p @returns {Interval} */
  #atMode(p) {
    const work = p + 2n * BigInt(this.mode.toString(2).length) + 16n;
    let mean = this.mean(work);
    if (this.mode) {
      const logs = log(mean, work);
      const all = logFactorial(this.mode, work);
      mean = [mean[0] - this.mode * logs[1] + all[0], mean[1] - this.mode * logs[0] + all[1]];
    }
    const [low, high] = expMinus(mean, work);
    return [low >> (work - p), -(-high >> (work - p))];
  }

  /** @param {bigint} p @returns {Generator<[bigint, Interval]>} */
  *#up(p) {
    const mean = this.mean(p);
    let chance = this.#atMode(p);
    for (let k = this.mode; ;) {
      yield [k, chance];
      k++;
      const [low, high] = times(chance, mean, p);
      chance = [low / k, raised(high, k)];
    }
  }

  /** @param {bigint} p @returns {Generator<[bigint, Interval]>} */
  *#down(p) {
    const mean = this.mean(p);
    let chance = this.#atMode(p);
    for (let k = this.mode; k > 0n; k--) {
      chance = over([chance[0] * k, chance[1] * k], mean, p);
      yield [k - 1n, chance];
    }
  }

  /**
   * First to last, then alternately above and below.
   * @param {bigint} p
   * @returns {Generator<[bigint, Interval]>}
   */
  *#listed(p) {
    const [up, down] = [this.#up(p), this.#down(p)];
    const inner = [];
    for (let k = this.first; k < this.mode; k++) inner.push(down.next().value);
    yield* inner.reverse();
    for (let k = this.mode; k <= this.last; k++) yield up.next().value;
    for (;;) {
      yield up.next().value;
      const lower = down.next();
      if (!lower.done) yield lower.value;
    }
  }
}

/** Poisson of a large mean: discrete Laplace numbers around it, each kept by an exact coin. */
export class Rejection {
  /** @param {Ratio} mean */
  constructor(mean) {
    this.mean = mean;
    this.mode = floored(...mean);
    this.scale = Math.floor(Math.sqrt(Number(this.mode)));
    const p = 256n;
    const inverse = expMinusRatio([1n, BigInt(this.scale)], p);
    const above = over(fixed(mean, p), inverse, p).map((k) => k >> p);
    const under = times(fixed(mean, p), inverse, p).map((k) => -(-k >> p) - 1n);
    this.tops = [...new Set([...above, ...under, this.mode])];
    this.peak = nearest(this.#peak(PRECISION), PRECISION);
    const tilted = fixed([this.mode * mean[1], mean[0]], PRECISION);
    this.tilt = nearest(log(tilted, PRECISION), PRECISION);
  }

  /** @param {Bits} bits */
  draw(bits) {
    const m = Number(this.mode);
    for (;;) {
      const x = laplace(1, this.scale, bits);
      if (x >= -m && this.#keeps(x, m, bits)) return m + x;
    }
  }

  /**
   * The exponent without cancellation; `tacit.noise.poisson` has its derivation.
   * @param {number} x
   * @param {number} m
   * @param {Bits} bits
   */
  #keeps(x, m, bits) {
    const exact = () => this.#chance(BigInt(x));
    if (Math.abs(x) > m / 16) return below(exact(), bits);
    const z = x / (2 * m + x);
    const q = z * z;
    const series = z * q * (1 / 3 + q * (1 / 5 + q * (1 / 7 + q * (1 / 9 + q / 11))));
    const first = (x * (x + 1)) / (2 * m + x);
    const away = Math.abs(x) / this.scale;
    const stirling = (/** @type {number} */ k) => 1 / (12 * k) - 1 / (360 * k ** 3);
    const rest = x * this.tilt + stirling(m + x) - stirling(m) - away + this.peak;
    const error = 2 ** -46 * (2 * Math.abs(first) + away + 3);
    return coin(first + (2 * m + 2 * x + 1) * series + rest, error, 1, exact, bits);
  }

  /**
   * ln w(k) - ln w(mode) + |k - mode|/scale.
   * @param {bigint} k
   * @param {bigint} p
   * @returns {Interval}
   */
  #logWeight(k, p) {
    const work = p + 2n * BigInt(this.mode.toString(2).length) + 16n;
    const logs = log(fixed(this.mean, work), work);
    const here = logFactorial(k, work);
    const centre = logFactorial(this.mode, work);
    const away = k - this.mode;
    const lift = fixed([away < 0n ? -away : away, BigInt(this.scale)], work);
    const [less, more] = away >= 0n ? logs : [logs[1], logs[0]];
    const low = away * less - here[1] + centre[0] + lift[0];
    const high = away * more - here[0] + centre[1] + lift[1];
    return [low >> (work - p), -(-high >> (work - p))];
  }

  /** @param {bigint} p @returns {Interval} */
  #peak(p) {
    const all = this.tops.map((k) => this.#logWeight(k, p));
    const most = (/** @type {0 | 1} */ end) =>
      all.map((one) => one[end]).reduce((a, b) => (a > b ? a : b));
    return [most(0), most(1)];
  }

  /** @param {bigint} x @returns {Real} */
  #chance(x) {
    return (p) => {
      const work = p + 16n;
      const peak = this.#peak(work);
      const here = this.#logWeight(this.mode + x, work);
      const gap = peak[1] - here[0];
      const [low, high] = expMinus([peak[0] - here[1], gap > 0n ? gap : 0n], work);
      return [low >> 16n, -(-high >> 16n)];
    };
  }
}

/** @param {Ratio} mean @returns {Sampler} */
export const poisson = (mean) =>
  floored(...mean) >= SWITCH ? new Rejection(mean) : new Inversion((p) => fixed(mean, p));

/**
 * Shares of Skellam noise: the difference of two Poisson numbers of half the variance.
 * @param {number} count @param {number} variance of a share @param {Bits} bits
 */
export function skellam(count, variance, bits) {
  const turns = Math.max(1, Math.ceil(variance / MOST_VARIANCE));
  const [a, b] = ratio(variance / turns);
  const source = poisson([a, 2n * b]);
  return Float64Array.from({ length: count }, () => {
    let total = 0;
    for (let turn = 0; turn < turns; turn++) total += source.draw(bits) - source.draw(bits);
    return total;
  });
}

/**
 * Shares of discrete Laplace noise: the difference of two negative binomial numbers, each a Poisson
 * number of log-series numbers (`tacit.noise.shares`).
 * @param {number} count @param {number} part of a whole draw @param {number} scale
 * @param {Bits} bits
 */
export function polya(count, part, scale, bits) {
  const whole = ratio(scale);
  const [top, under] = ratio(part);
  const series = logSeries(whole);
  const many = new Inversion((p) => {
    const work = p + 128n;
    const [low, high] = log(oneMinusExp([whole[1], whole[0]], work), work);
    const least = floored(-high * top, under) >> 128n;
    return [least > 0n ? least : 0n, -(floored(low * top, under) >> 128n)];
  });
  const one = () => {
    let total = 0;
    for (let left = many.draw(bits); left > 0; left--) total += series(bits);
    return total;
  };
  return Float64Array.from({ length: count }, () => one() - one());
}

/**
 * P(j) proportional to q^j / j, q = exp(-1/scale): q^j with j - 1 geometric, kept with chance 1/j
 * where the scale is small, and by blocks of doubling length otherwise.
 * @param {Ratio} scale @returns {(bits: Bits) => number}
 */
function logSeries(scale) {
  const [a, b] = scale;
  const blocks = BigInt((floored(24n * a, b) + 1n).toString(2).length);
  /** exp(-j/scale) @param {bigint} j @param {bigint} p */
  const height = (j, p) => expMinusRatio(reduced(j * b, a), p);
  /**
   * The mass beyond the blocks, q^M/((1-q) M), rounded outwards.
   * @param {bigint} p
   * @returns {Interval}
   */
  const tail = (p) => {
    const [low, high] = over(height(1n << blocks, p), oneMinusExp([b, a], p), p);
    return [low >> blocks, -(-high >> blocks)];
  };
  const envelope = [];
  for (let i = 0n; i < blocks; i++) envelope.push(height(1n << i, PRECISION)[1]);
  envelope.push(tail(PRECISION)[1]);
  const room = (1n << 64n) - 64n;
  const constant = raised(
    envelope.reduce((x, y) => x + y),
    room,
  );
  const weights = envelope.map((high) => raised(high, constant));
  /** @param {bigint} mass @param {Ratio} by @param {(p: bigint) => Interval} of @returns {Real} */
  const kept =
    (mass, [x, y], of) =>
    (p) => {
      const work = p + PRECISION;
      const [low, high] = of(work);
      // Heights are at `work` bits, masses at 192: the quotient is at p.
      return [floored(low * x, mass * y), raised(high * x, mass * y)];
    };
  return (bits) => {
    for (;;) {
      let word = bits.word();
      const block = weights.findIndex((weight) => {
        if (word < weight) return true;
        word -= weight;
        return false;
      });
      if (block < 0) continue;
      const mass = constant * /** @type {bigint} */ (weights[block]);
      if (BigInt(block) === blocks) {
        const start = 1n << blocks;
        const t = BigInt(bigGeometric(scale, bits));
        if (below(kept(mass, [start, start + t], tail), bits)) return Number(start + t);
        continue;
      }
      const first = 1n << BigInt(block);
      const j = first + (block ? bits.word() >> BigInt(64 - block) : 0n);
      if (
        below(
          kept(mass, [first, j], (p) => height(j, p)),
          bits,
        )
      )
        return Number(j);
    }
  };
}

/** `geometric` of rate 1/scale. @param {Ratio} scale @param {Bits} bits */
function bigGeometric([a, b], bits) {
  const limit = BigInt(MOST_SCALE);
  if (a >= limit || b >= limit) throw new Error('a scale out of range');
  return geometric(Number(b), Number(a), bits);
}

/**
 * All the noise of one's own vector: discrete Gaussian (Canonne, Kamath & Steinke 2020).
 * @param {number} count
 * @param {number} sigma
 * @param {Bits} bits
 */
export function ownGaussian(count, sigma, bits) {
  const s = Math.ceil(sigma * FINE); // never less than was paid for
  const width = Math.floor(s / FINE) + 1;
  if (s > MOST_SCALE) throw new Error('noise out of range');
  const square = (s / FINE) ** 2;
  const top = BigInt(s) * BigInt(s);
  const fine = BigInt(FINE) * BigInt(FINE) * BigInt(width);
  return Float64Array.from({ length: count }, () => {
    for (;;) {
      const y = laplace(1, width, bits);
      const gap = Math.abs(y) - square / width;
      const x = (gap * gap) / (2 * square);
      const exact = () => (/** @type {bigint} */ p) => {
        const away = BigInt(Math.abs(y)) * fine - top;
        return expMinusRatio([away * away, 2n * top * fine * BigInt(width)], p);
      };
      if (coin(x, 2 ** -42 * (1 + x), 1, exact, bits)) return y;
    }
  });
}

/**
 * All the noise of one's own vector: discrete Laplace.
 * @param {number} count
 * @param {number} scale
 * @param {Bits} bits
 */
export function ownLaplace(count, scale, bits) {
  const b = Math.ceil(scale * FINE);
  if (b > MOST_SCALE) throw new Error('noise out of range');
  return Float64Array.from({ length: count }, () => laplace(FINE, b, bits));
}
