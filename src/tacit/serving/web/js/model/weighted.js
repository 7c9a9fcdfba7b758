/** McSherry & Mironov's neighbourhoods as printed: ridge weights over the closest own items. */

import { floats, number } from './check.js';
import { Gaussian } from './gaussian.js';
import { dot } from './linear.js';
import { MOST_NEIGHBOURS, grams, ridge } from './staged.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */

export class WeightedNeighbours extends Gaussian {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    this.closeness = floats(tables, 'similarity', [items, items]).data;
    this.neighbours = Math.min(Math.trunc(number(numbers, 'neighbours', 1)), MOST_NEIGHBOURS);
  }

  /** @param {Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const weigh = this.weigher(own);
    const state = this.gaussian(own);
    /** @param {number} item */
    const explain = (item) => {
      const out = new Float64Array(own.items.length);
      if (!own.items.length) return { baseline: this.baseline[item], own: out };
      const { used, weights } = weigh(item);
      used.forEach((j, k) => {
        out[j] = weights[k] * (own.values[j] - this.baseline[own.items[j]]);
      });
      return { baseline: this.baseline[item], own: out };
    };
    // With few own ratings all are used: exactly the ridge solve.
    if (own.items.length <= this.neighbours) return { ...state, explain };
    const mean = Float64Array.from(this.baseline);
    const sd = new Float64Array(this.items);
    for (let i = 0; i < this.items; i++) {
      const { used, weights, left } = weigh(i);
      used.forEach((j, k) => {
        mean[i] += weights[k] * (own.values[j] - this.baseline[own.items[j]]);
      });
      sd[i] = Math.sqrt(left + this.noise + this.variance[i]);
    }
    return { mean, sd, explain, vector: state.vector };
  }

  /** @param {Own} own */
  weigher(own) {
    const { width, loadings, closeness, items } = this;
    const gram = grams(loadings, width, own.items);
    return (/** @type {number} */ item) => {
      const near = Float64Array.from(own.items, (from) => closeness[item * items + from]);
      const used = [...near.keys()]
        .sort((a, b) => near[b] - near[a] || a - b)
        .slice(0, this.neighbours);
      const right = Float64Array.from(used, (j) =>
        dot(loadings, own.items[j] * width, loadings, item * width, width),
      );
      const doubt = (/** @type {number} */ j) => this.noise + this.variance[own.items[j]];
      const weights = ridge(gram, own.items.length, used, doubt, right);
      const whole = dot(loadings, item * width, loadings, item * width, width);
      return { used, weights, left: Math.max(whole - dot(weights, 0, right, 0, used.length), 0) };
    };
  }
}
