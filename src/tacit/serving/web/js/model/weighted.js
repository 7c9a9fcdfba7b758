/** McSherry & Mironov's neighbourhoods as printed: ridge weights over the closest own items. */

import { floats, number } from './check.js';
import { Gaussian } from './gaussian.js';
import { dot } from './linear.js';
import { MOST_NEIGHBOURS } from './staged.js';
import { SmallSystems, grams, ridge } from './systems.js';

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
    const size = own.items.length;
    const { width, loadings, scatter } = this;
    const rest = Float64Array.from(own.items, (item, j) => own.values[j] - this.baseline[item]);
    const doubt = Float64Array.from(own.items, (item) => scatter[item]);
    const gram = grams(loadings, width, own.items);
    const small = new SmallSystems(gram, doubt, rest, this.neighbours);
    const near = new Float64Array(size);
    const covariance = new Float64Array(size);
    for (let i = 0; i < this.items; i++) {
      for (let j = 0; j < size; j++) {
        near[j] = this.closeness[i * this.items + own.items[j]];
        covariance[j] = dot(loadings, own.items[j] * width, loadings, i * width, width);
      }
      small.solve(near, covariance);
      mean[i] += small.told;
      const whole = dot(loadings, i * width, loadings, i * width, width);
      sd[i] = Math.sqrt(Math.max(whole - small.explained, 0) + scatter[i]);
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
      return { used, weights };
    };
  }
}
