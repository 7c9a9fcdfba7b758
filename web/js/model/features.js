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
    const years = items.map((item) => item.year ?? 0);
    const known = years.filter((year) => year > 0).sort((a, b) => a - b);
    const half = known.length >> 1;
    const median = known.length % 2 ? known[half] : (known[half - 1] + known[half]) / 2;
    this.items = items.length;
    this.names = known.length ? [...tags, 'year'] : tags;
    this.width = this.names.length;
    /** What item i has: columns and values from start[i] to start[i + 1]. */
    this.start = new Uint32Array(items.length + 1);
    const most = tagged.reduce((all, row) => all + row.length, items.length);
    this.column = new Uint32Array(most);
    this.value = new Float64Array(most);
    this.mean = new Float64Array(this.width);
    let end = 0;
    for (let i = 0; i < items.length; i++) {
      for (const column of tagged[i]) {
        this.column[end] = column;
        this.value[end++] = 1;
      }
      if (years[i] > 0 && years[i] !== median) {
        this.column[end] = tags.length;
        this.value[end++] = (years[i] - median) / YEARS;
      }
      this.start[i + 1] = end;
    }
    for (let cell = 0; cell < end; cell++)
      this.mean[this.column[cell]] += this.value[cell] / items.length;
  }

  /** The Cholesky factor of C'C + RIDGE I, C being the centred features. */
  get factor() {
    const { width, start, column, value } = this;
    const system = new Float64Array(width * width);
    for (let i = 0; i < this.items; i++) {
      for (let a = start[i]; a < start[i + 1]; a++) {
        for (let b = start[i]; b < start[i + 1]; b++) {
          system[column[a] * width + column[b]] += value[a] * value[b];
        }
      }
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
    const { start, column, value } = this;
    const cross = new Float64Array(this.width * width);
    const middle = new Float64Array(width);
    for (let i = 0, at = 0; i < this.items; i++, at += width) {
      for (let a = 0; a < width; a++) middle[a] += rows[at + a];
      for (let cell = start[i]; cell < start[i + 1]; cell++) {
        const to = column[cell] * width;
        const share = value[cell];
        for (let a = 0; a < width; a++) cross[to + a] += share * rows[at + a];
      }
    }
    for (let f = 0; f < this.width; f++) {
      for (let a = 0; a < width; a++) cross[f * width + a] -= this.mean[f] * middle[a];
    }
    for (let a = 0; a < width; a++) middle[a] /= this.items;
    return {
      /** The shift of an average item. @param {Float64Array} z */
      level: (z) => dot(middle, 0, z, 0, width),
      /**
       * @param {Float64Array} z @param {number} item
       * @returns {{name: string, amount: number}[]}
       */
      tastes: (z, item) => {
        const taste = substitute(this.factor, this.width, times(cross, z, this.width, width));
        const found = [];
        for (let cell = start[item]; cell < start[item + 1]; cell++) {
          const amount = (value[cell] - this.mean[column[cell]]) * taste[column[cell]];
          found.push({ name: this.names[column[cell]], amount });
        }
        return found;
      },
    };
  }
}
