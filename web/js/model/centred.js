/**
 * McSherry & Mironov's predictions as printed: a person's level first, then ridge weights on what
 * it leaves, over the closest own ratings or over all of them.
 */

import { ModelError, floats, number } from './check.js';
import { dot, inverse } from './linear.js';
import { MOST_NEIGHBOURS } from './staged.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */
/** @typedef {import('./kind.js').Kind} Kind */

/** @implements {Kind} */
export class CentredNeighbours {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'rating';
    this.items = items;
    this.baseline = floats(tables, 'baseline', [items]).data;
    this.prior = number(numbers, 'level_prior', 0);
    this.middle = number(numbers, 'level_mean', -1e30);
    this.clamp = number(numbers, 'clamp', 0);
    this.ridge = number(numbers, 'ridge', 1e-12);
    this.neighbours = Math.min(Math.trunc(number(numbers, 'neighbours', 0)), MOST_NEIGHBOURS);
    this.covariance = tables.has('covariance')
      ? floats(tables, 'covariance', [items, items]).data
      : null;
    const loadings = this.covariance ? null : floats(tables, 'loadings', [items, -1]);
    this.loadings = loadings ? loadings.data : new Float32Array(0);
    this.width = loadings ? loadings.shape[1] : 0;
    this.closeness = this.neighbours ? floats(tables, 'similarity', [items, items]).data : null;
    if (!this.covariance && !this.width) throw new ModelError('the array loadings is empty');
  }

  /** Of two items. @param {number} one @param {number} other */
  between(one, other) {
    if (this.covariance) return this.covariance[one * this.items + other];
    const { loadings, width } = this;
    return dot(loadings, one * width, loadings, other * width, width);
  }

  /** Section 4.3 for one person. @param {Own} own */
  centred(own) {
    const count = Math.max(own.items.length + this.prior, 1e-12);
    let total = this.prior * this.middle;
    const gross = Float64Array.from(own.items, (item, j) => own.values[j] - this.baseline[item]);
    for (const each of gross) total += each;
    const level = total / count;
    const limit = this.clamp > 0 ? this.clamp : Infinity;
    const rest = gross.map((each) => Math.min(Math.max(each - level, -limit), limit));
    return { count, level, gross, rest };
  }

  /** Places of the own ratings that speak for an item. @param {Own} own @param {number} item */
  chosen(own, item) {
    const places = [...own.items.keys()];
    const closeness = this.closeness;
    if (!closeness || places.length <= this.neighbours) return places;
    const near = Float64Array.from(own.items, (from) => closeness[item * this.items + from]);
    return places.sort((a, b) => near[b] - near[a] || a - b).slice(0, this.neighbours);
  }

  /**
   * (C + ridge)^-1 over these own ratings. C need not be positive where nothing was cleaned.
   * @param {Own} own @param {number[]} used
   */
  solved(own, used) {
    const size = used.length;
    const system = new Float64Array(size * size);
    for (let a = 0; a < size; a++) {
      for (let b = 0; b < size; b++) {
        system[a * size + b] = this.between(own.items[used[a]], own.items[used[b]]);
      }
      system[a * size + a] += this.ridge;
    }
    return inverse(system, size);
  }

  /**
   * The weights of own ratings for any item; one system serves all items where all are used.
   * @param {Own} own
   */
  weigher(own) {
    const all = [...own.items.keys()];
    const few = !this.neighbours || all.length <= this.neighbours;
    const whole = few ? this.solved(own, all) : null;
    return (/** @type {number} */ item) => {
      const used = whole ? all : this.chosen(own, item);
      const turned = whole ?? this.solved(own, used);
      const size = used.length;
      const right = Float64Array.from(used, (place) => this.between(own.items[place], item));
      const weights = right.map((_, k) => dot(turned, k * size, right, 0, size));
      return { used, weights, right };
    };
  }

  /** @param {Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const { count, level, gross, rest } = this.centred(own);
    const mean = Float64Array.from(this.baseline, (each) => each + level);
    const sd = new Float64Array(this.items);
    const weigh = this.weigher(own);
    for (let item = 0; item < this.items; item++) {
      let left = this.between(item, item);
      const { used, weights, right } = weigh(item);
      used.forEach((place, k) => {
        mean[item] += weights[k] * rest[place];
        left -= weights[k] * right[k];
      });
      sd[item] = Math.sqrt(Math.max(left, 0) + this.ridge);
    }
    /** @param {number} item */
    const explain = (item) => {
      const out = gross.map((each) => each / count);
      const { used, weights } = weigh(item);
      used.forEach((place, k) => {
        out[place] += weights[k] * rest[place];
      });
      return { baseline: this.baseline[item] + (this.prior * this.middle) / count, own: out };
    };
    return { mean, sd, explain };
  }
  /** Correlation of what levels leave. @param {number} item */
  similar(item) {
    const out = new Float64Array(this.items);
    const own = Math.sqrt(Math.max(this.between(item, item), 0));
    for (let other = 0; other < this.items; other++) {
      const size = Math.sqrt(Math.max(this.between(other, other), 0));
      out[other] = this.between(item, other) / Math.max(size * own, 1e-12);
    }
    return out;
  }

  /** No map is drawn of it. */
  axes() {
    return null;
  }
}
