/**
 * Two-stage neighbourhoods from each item's few strongest neighbours, for small devices.
 *
 * A covariance that was not published counts as none, so a system may fail to be one of
 * covariances: then only the closer half of the neighbours is used, or a quarter, and so on.
 */

import { cholesky, dot, substitute } from './linear.js';
import { neighbourLists } from './neighbours.js';
import { Staged } from './staged.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */

/** A pivot must keep this share of its variance. */
const STEADY = 0.1;

export class KeptNeighbours extends Staged {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    super(tables, numbers, items);
    this.lists = neighbourLists(tables, items);
  }

  /** @param {Own} own @returns {(item: number) => import('./staged.js').Weights} */
  weigher(own) {
    const { start, neighbour, similarity } = this.lists;
    const size = own.items.length;
    const place = new Int32Array(this.items).fill(-1);
    own.items.forEach((item, j) => {
      place[item] = j;
    });
    const system = this.covariances(own, place);
    return (item) => {
      /** @type {number[]} */
      let used = [];
      const right = [];
      for (
        let cell = start[item];
        cell < start[item + 1] && used.length < this.neighbours;
        cell++
      ) {
        if (place[neighbour[cell]] < 0) continue;
        used.push(place[neighbour[cell]]);
        right.push(similarity[cell]);
      }
      for (;;) {
        const count = used.length;
        const part = new Float64Array(count * count);
        for (let a = 0; a < count; a++) {
          for (let b = 0; b <= a; b++) part[a * count + b] = system[used[a] * size + used[b]];
        }
        if (steady(part, count)) {
          const told = Float64Array.from(right.slice(0, count));
          const weights = substitute(part, count, told.slice());
          return { used, weights, explained: dot(weights, 0, told, 0, count) };
        }
        used = used.slice(0, count >> 1);
      }
    };
  }

  /** Covariances of the own items. @param {Own} own @param {Int32Array} place */
  covariances(own, place) {
    const { start, neighbour, similarity } = this.lists;
    const size = own.items.length;
    const known = new Float64Array(size * size);
    own.items.forEach((item, j) => {
      for (let cell = start[item]; cell < start[item + 1]; cell++) {
        const other = place[neighbour[cell]];
        if (other >= 0) known[j * size + other] = similarity[cell];
      }
    });
    const out = known.map(
      (value, at) => value || known[(at % size) * size + Math.trunc(at / size)],
    );
    own.items.forEach((item, j) => {
      out[j * size + j] = this.noise + this.variance[item];
    });
    return out;
  }

  /** Correlation with the published neighbours; 0 for all others. @param {number} item */
  similar(item) {
    const { start, neighbour, similarity } = this.lists;
    const out = new Float64Array(this.items);
    for (let cell = start[item]; cell < start[item + 1]; cell++) {
      const near = neighbour[cell];
      out[near] = similarity[cell] / Math.sqrt(this.variance[near] * this.variance[item] + 1e-12);
    }
    return out;
  }
}

/**
 * In place; whether every pivot is large enough.
 * @param {Float64Array} part @param {number} count
 */
function steady(part, count) {
  const before = Float64Array.from({ length: count }, (_, a) => part[a * count + a]);
  return (
    cholesky(part, count) && before.every((value, a) => part[a * count + a] ** 2 >= STEADY * value)
  );
}
