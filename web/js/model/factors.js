/** Factorizations: what having rated says, and ridges that grow with the ratings. */

import { floats, number } from './check.js';
import { Gaussian, spreads } from './gaussian.js';
import { dot, identity, times } from './linear.js';

/** @typedef {import('./check.js').Tables} Tables */

/** r = baseline + x'(m + z) + e: m from the items alone, z a ridge solution. */
export class Factors extends Gaussian {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    this.perRating = Object.hasOwn(numbers, 'per_rating') ? number(numbers, 'per_rating', 0) : 0;
    this.lift = tables.has('lift') ? floats(tables, 'lift', [this.width]).data : null;
    this.liftShrink = this.lift ? number(numbers, 'lift_shrink', 0) : 0;
    this.implicit = tables.has('implicit')
      ? floats(tables, 'implicit', [-1, this.width]).data
      : null;
    if (this.implicit?.length) floats(tables, 'implicit', [items, this.width]);
  }

  /** m from the items alone. @param {Int32Array} items */
  start(items) {
    const count = items.length;
    const out = new Float64Array(this.width);
    if (count && this.lift)
      return out.map(
        (_, a) => ((this.lift?.[a] ?? 0) * Math.sqrt(count)) / (count + this.liftShrink),
      );
    if (!count || !this.implicit?.length) return out;
    for (const item of items) {
      for (let a = 0; a < this.width; a++)
        out[a] += this.implicit[item * this.width + a] / Math.sqrt(count);
    }
    return out;
  }

  /** @param {import('./kind.js').Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const { width, loadings } = this;
    const count = own.items.length;
    const start = this.start(own.items);
    const system = identity(width, 1 + this.perRating * count);
    if (!this.unsure) system[0] = 1;
    for (let a = 0; this.unsure && a < width; a++)
      system[a * width + a] = 1 + this.unsure[a] * count;
    for (const item of own.items) this.added(system, item);
    const { covariance, spread } = spreads(system, width, loadings, this.items);
    /** Precision x what is left of each own rating. */
    const pulls = Float64Array.from(
      own.items,
      (item, j) =>
        this.precision[item] *
        (own.values[j] - this.baseline[item] - dot(loadings, item * width, start, 0, width)),
    );
    /** @param {(index: number) => boolean} used */
    const part = (used) => {
      const right = new Float64Array(width);
      let share = 0;
      own.items.forEach((item, j) => {
        if (!used(j)) return;
        share += 1 / count;
        for (let a = 0; a < width; a++) right[a] += pulls[j] * loadings[item * width + a];
      });
      return times(covariance, right, width, width).map((value, a) => value + share * start[a]);
    };
    const vector = part(() => true);
    const mean = new Float64Array(this.items);
    for (let i = 0; i < this.items; i++)
      mean[i] = this.baseline[i] + dot(loadings, i * width, vector, 0, width);
    return {
      mean,
      sd: spread.map((value, i) => Math.sqrt(value + 1 / this.precision[i])),
      vector,
      part,
      explain: (item) => {
        const row = loadings.subarray(item * width, (item + 1) * width);
        const turned = times(covariance, row, width, width);
        const shared = count ? dot(row, 0, start, 0, width) / count : 0;
        return {
          baseline: this.baseline[item],
          own: Float64Array.from(
            own.items,
            (from, j) => pulls[j] * dot(loadings, from * width, turned, 0, width) + shared,
          ),
        };
      },
    };
  }
}
