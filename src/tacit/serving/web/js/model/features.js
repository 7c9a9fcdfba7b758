/**
 * A prediction in terms of what is public about the item: a taste for its genres and time.
 *
 * The person's shifts of all items are regressed on the public features by a ridge. The shifts are
 * x'z, so one small matrix, made once, takes z to tastes.
 */

import { cholesky, dot, substitute, times } from './linear.js';

const RIDGE = 5;
/** A year counts in units of this many. */
const YEARS = 20;

export class Features {
  /**
   * @param {import('./catalogue.js').Item[]} items @param {string[]} tags
   * @param {number[][]} tagged  places in `tags` of each item
   */
  constructor(items, tags, tagged) {
    const known = items
      .map((item) => item.year ?? 0)
      .filter((year) => year > 0)
      .sort((a, b) => a - b);
    const half = known.length >> 1;
    const median = known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
    this.names = known.length ? [...tags, 'year'] : tags;
    this.width = this.names.length;
    /** (column, value) of what each item has. @type {[number, number][][]} */
    this.has = tagged.map((row, i) => {
      /** @type {[number, number][]} */
      const cells = row.map((column) => [column, 1]);
      const year = ((items[i].year ?? median) - median) / YEARS;
      return known.length && year ? [...cells, [tags.length, year]] : cells;
    });
    this.mean = new Float64Array(this.width);
    for (const cells of this.has)
      for (const [column, value] of cells) this.mean[column] += value / items.length;
    this.items = items.length;
  }

  /** The Cholesky factor of C'C + RIDGE I, C being the centred features. */
  get factor() {
    const width = this.width;
    const system = new Float64Array(width * width);
    for (const cells of this.has) {
      for (const [a, left] of cells)
        for (const [b, right] of cells) system[a * width + b] += left * right;
    }
    for (let a = 0; a < width; a++) {
      for (let b = 0; b < width; b++)
        system[a * width + b] -= this.items * this.mean[a] * this.mean[b];
      system[a * width + a] += RIDGE;
    }
    cholesky(system, width);
    Object.defineProperty(this, 'factor', { value: system });
    return system;
  }

  /**
   * What takes a person's vector z to tastes: C'(X - mean of X), and that mean.
   * @param {import('./kind.js').Axes} axes
   */
  view(axes) {
    const { rows, width } = axes;
    const cross = new Float64Array(this.width * width);
    const middle = new Float64Array(width);
    this.has.forEach((cells, i) => {
      const at = i * width;
      for (let a = 0; a < width; a++) middle[a] += rows[at + a] / this.items;
      for (const [column, value] of cells) {
        for (let a = 0; a < width; a++) cross[column * width + a] += value * rows[at + a];
      }
    });
    for (let f = 0; f < this.width; f++) {
      for (let a = 0; a < width; a++) cross[f * width + a] -= this.items * this.mean[f] * middle[a];
    }
    return {
      /** The shift of an average item. @param {Float64Array} z */
      level: (z) => dot(middle, 0, z, 0, width),
      /**
       * @param {Float64Array} z @param {number} item
       * @returns {{name: string, amount: number}[]}
       */
      tastes: (z, item) => {
        const taste = substitute(this.factor, this.width, times(cross, z, this.width, width));
        return this.has[item].map(([column, value]) => ({
          name: this.names[column],
          amount: (value - this.mean[column]) * taste[column],
        }));
      },
    };
  }
}
