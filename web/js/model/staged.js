/**
 * Neighbourhoods in two stages: what all items share first, then ridge weights over my ratings of
 * an item's neighbours (Bell & Koren). Here the covariances come from a published factor.
 */

import { floats, number } from './check.js';
import { Gaussian, cosines } from './gaussian.js';
import { cholesky, dot, substitute } from './linear.js';
import { explained } from './neighbours.js';
import { SmallSystems, grams, ridge } from './systems.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */
/** @typedef {{used: number[], weights: Float64Array, explained: number}} Weights */

/** More neighbours than this would keep a page busy for too long. */
export const MOST_NEIGHBOURS = 200;

/** The second stage is `weigher`; `variance` is all that the shared loadings leave of an item. */
export class Staged extends Gaussian {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    this.neighbours = Math.min(Math.trunc(number(numbers, 'neighbours', 1)), MOST_NEIGHBOURS);
  }

  /**
   * How an item is told from a person's other ratings.
   * @param {Own} _own
   * @returns {(item: number) => Weights}
   */
  weigher(_own) {
    return () => ({ used: [], weights: new Float64Array(0), explained: 0 });
  }

  /** @param {Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const state = this.gaussian(own);
    const mean = state.mean.slice();
    const variance = state.sd.map((sd) => sd * sd);
    const rest = Float64Array.from(own.items, (item, j) => own.values[j] - state.mean[item]);
    const weigh = this.weigher(own);
    if (own.items.length) this.second(own, rest, mean, variance, weigh);
    return {
      ...state,
      mean,
      sd: variance.map((value) => Math.sqrt(Math.max(value, this.noise))),
      explain: (item) => {
        const all = new Float64Array(own.items.length);
        if (own.items.length) {
          const { used, weights } = weigh(item);
          used.forEach((j, k) => {
            all[j] = weights[k];
          });
        }
        return explained(this, own, state.covariance, item, all);
      },
    };
  }

  /**
   * @param {Own} _own @param {Float64Array} rest @param {Float64Array} mean
   * @param {Float64Array} variance
   * @param {(item: number) => Weights} weigh
   */
  second(_own, rest, mean, variance, weigh) {
    for (let i = 0; i < this.items; i++) {
      const found = weigh(i);
      found.used.forEach((j, k) => {
        mean[i] += found.weights[k] * rest[j];
      });
      variance[i] -= found.explained;
    }
  }
}

/** `factor`: the covariance of two items beyond what all share is the product of their rows. */
export class FactorNeighbours extends Staged {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    const factor = floats(tables, 'factor', [items, -1]);
    this.factor = factor.data;
    this.rank = factor.shape[1];
    /** Variance of a rating beyond the factor. */
    this.doubt = Float64Array.from(
      this.variance,
      (v, i) =>
        this.noise +
        Math.max(v - dot(this.factor, i * this.rank, this.factor, i * this.rank, this.rank), 0),
    );
  }

  /** @param {Own} own @returns {(item: number) => Weights} */
  weigher(own) {
    const { factor, rank, doubt } = this;
    const gram = grams(factor, rank, own.items);
    const roots = Float64Array.from(own.items, (item) => Math.sqrt(doubt[item]));
    return (item) => {
      const covariance = Float64Array.from(own.items, (from) =>
        dot(factor, from * rank, factor, item * rank, rank),
      );
      const strength = covariance.map((value, j) => Math.abs(value) / roots[j]);
      const used = [...strength.keys()]
        .sort((a, b) => strength[b] - strength[a] || a - b)
        .slice(0, this.neighbours);
      const right = Float64Array.from(used, (j) => covariance[j]);
      const weights = ridge(gram, own.items.length, used, (j) => doubt[own.items[j]], right);
      return { used, weights, explained: dot(weights, 0, right, 0, used.length) };
    };
  }

  /**
   * Where every item uses all own ratings one system serves all of them.
   * @param {Own} own @param {Float64Array} rest @param {Float64Array} mean
   * @param {Float64Array} variance
   */
  second(own, rest, mean, variance) {
    const size = own.items.length;
    if (size > this.neighbours) {
      this.each(own, rest, mean, variance);
      return;
    }
    const { factor, rank } = this;
    const system = grams(factor, rank, own.items);
    own.items.forEach((item, j) => {
      system[j * size + j] += this.doubt[item];
    });
    cholesky(system, size);
    const solved = substitute(system, size, rest.slice());
    const told = new Float64Array(rank);
    /** L^-1 R: its squares are what is explained. */
    const turned = new Float64Array(size * rank);
    own.items.forEach((item, j) => {
      for (let a = 0; a < rank; a++) {
        told[a] += solved[j] * factor[item * rank + a];
        let left = factor[item * rank + a];
        for (let k = 0; k < j; k++) left -= system[j * size + k] * turned[k * rank + a];
        turned[j * rank + a] = left / system[j * size + j];
      }
    });
    for (let i = 0; i < this.items; i++) {
      mean[i] += dot(factor, i * rank, told, 0, rank);
      for (let j = 0; j < size; j++)
        variance[i] -= dot(factor, i * rank, turned, j * rank, rank) ** 2;
    }
  }

  /**
   * Where each item has its own neighbours: a system for every item.
   * @param {Own} own @param {Float64Array} rest @param {Float64Array} mean
   * @param {Float64Array} variance
   */
  each(own, rest, mean, variance) {
    const { factor, rank } = this;
    const size = own.items.length;
    const doubt = Float64Array.from(own.items, (item) => this.doubt[item]);
    const roots = doubt.map(Math.sqrt);
    const small = new SmallSystems(grams(factor, rank, own.items), doubt, rest, this.neighbours);
    const covariance = new Float64Array(size);
    const strength = new Float64Array(size);
    for (let i = 0; i < this.items; i++) {
      for (let j = 0; j < size; j++) {
        covariance[j] = dot(factor, own.items[j] * rank, factor, i * rank, rank);
        strength[j] = Math.abs(covariance[j]) / roots[j];
      }
      small.solve(strength, covariance);
      mean[i] += small.told;
      variance[i] -= small.explained;
    }
  }

  /** Cosine of what items share beyond the personal level. @param {number} item */
  similar(item) {
    const { width, rank } = this;
    const wide = width - 1 + rank;
    const rows = new Float32Array(this.items * wide);
    for (let i = 0; i < this.items; i++) {
      rows.set(this.loadings.subarray(i * width + 1, (i + 1) * width), i * wide);
      rows.set(this.factor.subarray(i * rank, (i + 1) * rank), i * wide + width - 1);
    }
    return cosines(rows, this.items, wide, 0, item);
  }
}
