/** Ratings recovered from a projection (Shin et al. 2018, equation 10): the sparsest that fit. */

import { ModelError, floats } from './check.js';
import { Descent } from './descent.js';
import { cholesky, dot, substitute, times } from './linear.js';

/** @typedef {import('./check.js').Tables} Tables */

const STEPS = 200;
/** Of the largest entry of Phi'z: below it an entry is taken as 0. */
const WEIGHT = 0.02;
const POWER_STEPS = 50;

export class SparseDescent extends Descent {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    const projection = floats(tables, 'projection', [-1, items]);
    this.rows = projection.shape[0];
    this.projection = projection.data;
    this.spread = 1;
    this.reduced = this.solved();
    this.size = this.largest();
  }

  /** B with Phi'B = the last factors: (Phi Phi')^-1 Phi V, row by row of B'. */
  solved() {
    const { rows, projection, items, width } = this;
    const system = new Float64Array(rows * rows);
    for (let a = 0; a < rows; a++) {
      for (let b = 0; b <= a; b++)
        system[a * rows + b] = dot(projection, a * items, projection, b * items, items);
    }
    if (!cholesky(system, rows)) throw new ModelError('the array projection is singular');
    const out = new Float64Array(width * rows);
    for (let column = 0; column < width; column++) {
      const right = new Float64Array(rows);
      for (let a = 0; a < rows; a++) {
        for (let i = 0; i < items; i++)
          right[a] += projection[a * items + i] * this.last[i * width + column];
      }
      out.set(substitute(system, rows, right), column * rows);
    }
    return out;
  }

  /** Phi'x. @param {Float64Array} x */
  back(x) {
    const out = new Float64Array(this.items);
    for (let a = 0; a < this.rows; a++) {
      const value = x[a];
      for (let i = 0, at = a * this.items; i < this.items; i++)
        out[i] += value * this.projection[at + i];
    }
    return out;
  }

  /** Largest squared singular value of the projection, by the power method. */
  largest() {
    let vector = new Float64Array(this.items).fill(1);
    for (let step = 0; step < POWER_STEPS; step++) {
      vector = this.back(times(this.projection, vector, this.rows, this.items));
      const length = Math.sqrt(dot(vector, 0, vector, 0, this.items));
      vector = vector.map((value) => value / length);
    }
    const along = times(this.projection, vector, this.rows, this.items);
    return dot(along, 0, along, 0, this.rows) * 1.01;
  }

  /** @param {Float64Array} factors */
  raw(factors) {
    const { rows, items, projection } = this;
    const target = new Float64Array(rows);
    factors.forEach((value, column) => {
      for (let a = 0; a < rows; a++) target[a] += value * this.reduced[column * rows + a];
    });
    const rate = 1 / this.size;
    const most = this.back(target).reduce((a, b) => Math.max(a, Math.abs(b)), 0);
    const threshold = rate * WEIGHT * most;
    let found = new Float64Array(items);
    let ahead = found;
    let momentum = 1;
    for (let step = 0; step < STEPS; step++) {
      const gap = times(projection, ahead, rows, items).map((value, a) => value - target[a]);
      const slope = this.back(gap);
      const moved = ahead.map((value, i) => {
        const to = value - rate * slope[i];
        return Math.sign(to) * Math.max(Math.abs(to) - threshold, 0);
      });
      const grown = (1 + Math.sqrt(1 + 4 * momentum ** 2)) / 2;
      const push = (momentum - 1) / grown;
      const before = found;
      ahead = moved.map((value, i) => value + push * (value - before[i]));
      found = moved;
      momentum = grown;
    }
    return found;
  }

  /**
   * The recovery is not linear in the ratings: what they change together is shared out evenly.
   * @param {import('./kind.js').Own} own @param {number} item
   */
  explained(own, item) {
    const nobody = this.fold({ items: new Int32Array(0), values: new Float64Array(0) });
    const baseline = nobody.mean[item];
    const told = this.fold(own).mean[item];
    const count = own.items.length;
    return { baseline, own: new Float64Array(count).fill((told - baseline) / Math.max(count, 1)) };
  }
}
