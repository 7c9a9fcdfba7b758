/** Lists from likes: a liked item speaks for others by its EASE weight; the rest by popularity. */

import { ModelError, floats, places } from './check.js';
import { cosines } from './gaussian.js';
import { dot } from './linear.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Kind} Kind */

/** Likes that everybody's popularity counts for beside one's own. */
const PRIOR_LIKES = 3;

/** @implements {Kind} */
export class Ease {
  /** @param {Tables} tables @param {Record<string, number>} _ @param {number} items */
  constructor(tables, _, items) {
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'score';
    this.items = items;
    const weight = floats(tables, 'weight', [items]).data;
    const most = weight.reduce((a, b) => Math.max(a, b), 0);
    this.share = Float64Array.from(weight, (w) => w / (1 + most));
    const measured = tables.has('head');
    this.head = measured ? places(tables, 'head', items) : new Uint32Array(0);
    const left = measured ? floats(tables, 'left', [this.head.length, -1]) : null;
    this.width = left ? left.shape[1] : 0;
    this.left = left ? left.data : new Float32Array(0);
    this.right = left ? floats(tables, 'right', [this.head.length, this.width]).data : this.left;
    this.place = new Int32Array(items).fill(-1);
    /** Everybody's likes, counted as PRIOR_LIKES of one's own. */
    this.start = new Float64Array(this.width);
    const whole = this.head.reduce((all, item) => all + this.share[item], 0) || 1;
    this.head.forEach((item, row) => {
      this.place[item] = row;
      const part = (PRIOR_LIKES * this.share[item]) / whole;
      for (let a = 0; a < this.width; a++) this.start[a] += part * this.left[row * this.width + a];
    });
    if (new Set(this.head).size !== this.head.length)
      throw new ModelError('the array head names an item twice');
  }

  /** @param {import('./kind.js').Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const { width, left, right } = this;
    const liked = [...own.items].map((item) => this.place[item]).filter((row) => row >= 0);
    return {
      mean: new Float64Array(this.items), // likes say nothing about a rating
      sd: new Float64Array(this.items).fill(2),
      scores: this.scores(liked),
      vector: this.centre(liked),
      explain: (item) => ({
        baseline: this.place[item] < 0 ? 0 : dot(right, this.place[item] * width, this.start, 0, width),
        own: Float64Array.from(own.items, (from) =>
          this.place[item] < 0 || this.place[from] < 0 || from === item
            ? 0
            : dot(left, this.place[from] * width, right, this.place[item] * width, width),
        ),
      }),
    };
  }

  /**
   * What the likes say of items that were measured; all others come after the last of these.
   * @param {number[]} liked
   */
  scores(liked) {
    if (!liked.length) return Float64Array.from(this.share);
    const { width, left, right } = this;
    const total = this.start.slice();
    for (const row of liked) for (let a = 0; a < width; a++) total[a] += left[row * width + a];
    const told = Float64Array.from(this.head, (_, row) => dot(right, row * width, total, 0, width));
    for (const row of liked) told[row] -= dot(left, row * width, right, row * width, width);
    const least = told.reduce((a, b) => Math.min(a, b), Infinity);
    const out = this.share.map((share) => share - 1 + least);
    this.head.forEach((item, row) => {
      out[item] = told[row];
    });
    return out;
  }

  /** The middle of the liked items. @param {number[]} liked */
  centre(liked) {
    const out = new Float64Array(this.width);
    for (const row of liked) {
      for (let a = 0; a < this.width; a++)
        out[a] += this.right[row * this.width + a] / liked.length;
    }
    return out;
  }

  /** @param {number} item */
  similar(item) {
    const place = this.place[item];
    if (place < 0) return new Float64Array(this.items).fill(NaN);
    const out = new Float64Array(this.items).fill(-1);
    cosines(this.right, this.head.length, this.width, 0, place).forEach((closeness, row) => {
      out[this.head[row]] = closeness;
    });
    return out;
  }

  axes() {
    if (!this.width) return null;
    const rows = new Float32Array(this.items * this.width);
    this.head.forEach((item, row) => {
      rows.set(this.right.subarray(row * this.width, (row + 1) * this.width), item * this.width);
    });
    return { rows, width: this.width, skip: 0, inItems: true };
  }
}
