/** Ridge systems over a person's own ratings of an item's neighbours. */

import { cholesky, dot, substitute } from './linear.js';

/**
 * Products of the rows of some items.
 * @param {Float32Array} rows @param {number} width @param {Int32Array} items
 */
export function grams(rows, width, items) {
  const size = items.length;
  const out = new Float64Array(size * size);
  for (let j = 0; j < size; j++) {
    for (let k = 0; k <= j; k++) {
      out[j * size + k] = dot(rows, items[j] * width, rows, items[k] * width, width);
      out[k * size + j] = out[j * size + k];
    }
  }
  return out;
}

/**
 * Weights of the used own ratings: (gram + doubt)^-1 right.
 * @param {Float64Array} gram @param {number} size @param {number[]} used
 * @param {(index: number) => number} doubt @param {Float64Array} right
 */
export function ridge(gram, size, used, doubt, right) {
  const count = used.length;
  const system = new Float64Array(count * count);
  for (let a = 0; a < count; a++) {
    for (let b = 0; b <= a; b++) system[a * count + b] = gram[used[a] * size + used[b]];
    system[a * count + a] += doubt(used[a]);
  }
  cholesky(system, count);
  return substitute(system, count, right.slice());
}

/**
 * Ridge systems over the strongest few of a person's ratings, one after another without new arrays.
 * With A = L L' the forward half is enough: w'd = (L^-1 c)'(L^-1 d), and c'w = |L^-1 c|^2.
 */
export class SmallSystems {
  /**
   * @param {Float64Array} gram  of all own ratings @param {Float64Array} doubt
   * @param {Float64Array} rest  what is left of them @param {number} most
   */
  constructor(gram, doubt, rest, most) {
    this.gram = gram;
    this.doubt = doubt;
    this.rest = rest;
    this.size = doubt.length;
    this.most = Math.min(most, this.size);
    this.used = new Int32Array(this.most);
    this.sorted = new Float64Array(this.size);
    this.system = new Float64Array(this.most * this.most);
    this.right = new Float64Array(this.most);
    this.left = new Float64Array(this.most);
    /** What the used ratings add, and how much of the variance they explain. */
    this.told = 0;
    this.explained = 0;
  }

  /** @param {Float64Array} strength @param {Float64Array} covariance */
  solve(strength, covariance) {
    const { most, size, used, system, right, left, gram } = this;
    this.choose(strength);
    for (let a = 0; a < most; a++) {
      const row = used[a] * size;
      for (let b = 0; b < a; b++) system[a * most + b] = gram[row + used[b]];
      system[a * most + a] = gram[row + used[a]] + this.doubt[used[a]];
    }
    cholesky(system, most);
    this.told = 0;
    this.explained = 0;
    for (let a = 0; a < most; a++) {
      const pivot = system[a * most + a];
      right[a] = (covariance[used[a]] - dot(system, a * most, right, 0, a)) / pivot;
      left[a] = (this.rest[used[a]] - dot(system, a * most, left, 0, a)) / pivot;
      this.told += right[a] * left[a];
      this.explained += right[a] * right[a];
    }
  }

  /** The strongest; among equals the first. @param {Float64Array} strength */
  choose(strength) {
    this.sorted.set(strength);
    const edge = this.sorted.sort()[this.size - this.most];
    let above = 0;
    for (let j = 0; j < this.size; j++) if (strength[j] > edge) this.used[above++] = j;
    for (let j = 0; j < this.size && above < this.most; j++) {
      if (strength[j] === edge) this.used[above++] = j;
    }
  }
}
