/** Learned neighbourhoods: what the Gaussian model leaves of my ratings, weighted by likeness. */

import { ModelError, floats, number, places } from './check.js';
import { Gaussian } from './gaussian.js';

/** @typedef {import('./check.js').Tables} Tables */

/**
 * The neighbours of item i are `neighbour` and `similarity` from start[i] to start[i + 1].
 * @param {import('./check.js').Tables} tables @param {number} items
 */
export function neighbourLists(tables, items) {
  const neighbour = places(tables, 'neighbour', items);
  const similarity = floats(tables, 'similarity', [neighbour.length]).data;
  const start = places(tables, 'start', neighbour.length + 1, [items + 1]);
  for (let i = 0; i < items; i++) {
    if (start[i] > start[i + 1]) throw new ModelError('the array start does not ascend');
  }
  if (start[items] !== neighbour.length) throw new ModelError('the array start ends early');
  return { start, neighbour, similarity };
}

export class Neighbourhood extends Gaussian {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    this.lists = neighbourLists(tables, items);
    this.doubt = floats(tables, 'doubt', [items]).data;
    this.floor = number(numbers, 'floor', 1e-12);
    this.around = number(numbers, 'around', 0);
    this.typical = Infinity; // `around` was measured for everybody
  }

  /** @param {import('./kind.js').Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const state = this.gaussian(own);
    const mean = state.mean.slice();
    const sd = new Float64Array(this.items);
    /** What the Gaussian model leaves of my ratings, NaN where there is none. */
    const rest = new Float64Array(this.items).fill(NaN);
    own.items.forEach((item, j) => {
      rest[item] = own.values[j] - state.mean[item];
    });
    const { start, neighbour, similarity } = this.lists;
    for (let i = 0; i < this.items; i++) {
      let [size, told, left] = [0, 0, 0];
      for (let cell = start[i]; cell < start[i + 1]; cell++) {
        const value = rest[neighbour[cell]];
        if (value !== value) continue;
        size += Math.abs(similarity[cell]);
        told += similarity[cell] * value;
        left += value * value;
      }
      const divisor = Math.max(size, this.floor);
      mean[i] += told / divisor;
      // What is unknown of the similarities matters as far as my ratings leave something over.
      const unsure = (this.doubt[i] * left) / divisor ** 2;
      sd[i] = Math.sqrt(Math.max(state.sd[i] ** 2 - this.noise, 0) + this.around + unsure);
    }
    return {
      ...state,
      mean,
      sd,
      explain: (item) => explained(this, own, state.covariance, item, this.weights(own, item)),
    };
  }

  /** @param {import('./kind.js').Own} own @param {number} item */
  weights(own, item) {
    const near = this.similar(item);
    const weights = Float64Array.from(own.items, (from) => (from === item ? 0 : near[from]));
    const size = Math.max(
      weights.reduce((all, weight) => all + Math.abs(weight), 0),
      this.floor,
    );
    return weights.map((weight) => weight / size);
  }

  /** @param {number} item */
  similar(item) {
    const { start, neighbour, similarity } = this.lists;
    const out = new Float64Array(this.items);
    for (let cell = start[item]; cell < start[item + 1]; cell++)
      out[neighbour[cell]] = similarity[cell];
    return out;
  }
}

/**
 * With neighbour weights w a prediction is x'z + w'(d - Xz) = (x - X'w)'z + w'd, z linear in d.
 * @param {Gaussian} model @param {import('./kind.js').Own} own @param {Float64Array} covariance
 * @param {number} item @param {Float64Array} weights
 */
export function explained(model, own, covariance, item, weights) {
  const { width, loadings } = model;
  const turned = Float64Array.from(loadings.subarray(item * width, (item + 1) * width));
  own.items.forEach((from, j) => {
    for (let a = 0; a < width; a++) turned[a] -= weights[j] * loadings[from * width + a];
  });
  const moved = model.influence(own, covariance, turned);
  return {
    baseline: model.baseline[item],
    own: moved.map(
      (value, j) => value + weights[j] * (own.values[j] - model.baseline[own.items[j]]),
    ),
  };
}
