/** Likes: weighted least squares over all items, 1 for liked and 0 for the rest. */

import { ModelError, floats, number } from './check.js';
import { cosines } from './gaussian.js';
import { cholesky, dot, substitute } from './linear.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Kind} Kind */

/** @implements {Kind} */
export class LikedFactors {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    const factors = floats(tables, 'factors', [items, -1]);
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'rating';
    this.items = items;
    this.width = factors.shape[1];
    this.factors = factors.data;
    this.weight = number(numbers, 'weight', 0);
    this.ridge = number(numbers, 'ridge', 0);
    const popular = floats(tables, 'weight', [items]).data;
    const most = popular.reduce((a, b) => Math.max(a, Math.abs(b)), 1e-12);
    /** Where nothing else is known, popularity decides. */
    this.baseline = popular.map((value) => (1e-3 * value) / most);
    this.everywhere = new Float64Array(this.width * this.width);
    for (let i = 0; i < items; i++) this.added(this.everywhere, i, 1);
    for (let a = 0; a < this.width; a++) this.everywhere[a * this.width + a] += this.ridge;
  }

  /** @param {Float64Array} system @param {number} item @param {number} weight */
  added(system, item, weight) {
    const { width, factors } = this;
    for (let a = 0; a < width; a++) {
      const left = weight * factors[item * width + a];
      for (let b = 0; b <= a; b++) system[a * width + b] += left * factors[item * width + b];
    }
  }

  /** @param {import('./kind.js').Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const { width, factors } = this;
    const system = this.everywhere.slice();
    for (const item of own.items) this.added(system, item, this.weight);
    if (!cholesky(system, width))
      throw new ModelError('the model cannot be solved for these likes');
    const vector = new Float64Array(width);
    for (const item of own.items) {
      for (let a = 0; a < width; a++) vector[a] += (1 + this.weight) * factors[item * width + a];
    }
    substitute(system, width, vector);
    const middle = new Float64Array(width);
    for (const item of own.items) {
      for (let a = 0; a < width; a++) middle[a] += factors[item * width + a] / own.items.length;
    }
    return {
      mean: Float64Array.from(
        { length: this.items },
        (_, i) => dot(factors, i * width, vector, 0, width) + this.baseline[i],
      ),
      sd: new Float64Array(this.items).fill(1),
      vector: middle,
      explain: (item) => {
        const turned = substitute(
          system,
          width,
          Float64Array.from(factors.subarray(item * width, (item + 1) * width)),
        );
        return {
          baseline: this.baseline[item],
          own: Float64Array.from(
            own.items,
            (from) => (1 + this.weight) * dot(factors, from * width, turned, 0, width),
          ),
        };
      },
    };
  }

  /** @param {number} item */
  similar(item) {
    return cosines(this.factors, this.items, this.width, 0, item);
  }

  axes() {
    return { rows: this.factors, width: this.width, skip: 0, inItems: true };
  }
}
