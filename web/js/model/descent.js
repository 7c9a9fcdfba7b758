/** The printed descent of Shin et al.: a person repeats her own steps along published factors. */

import { ModelError, floats, number } from './check.js';
import { cosines } from './gaussian.js';
import { dot } from './linear.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */
/** @typedef {import('./kind.js').Kind} Kind */

/** Standard error where a person has no ratings of her own to judge by. */
const SPREAD = 1.1;

/** @implements {Kind} */
export class Descent {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    const path = floats(tables, 'path', [-1, items, -1]);
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'rating';
    this.items = items;
    this.steps = path.shape[0];
    this.width = path.shape[2];
    if (!this.steps) throw new ModelError('the array path is empty');
    this.path = path.data;
    this.last = this.path.subarray((this.steps - 1) * items * this.width);
    this.begin = number(numbers, 'start');
    this.rate = number(numbers, 'rate');
    this.ridge = number(numbers, 'ridge');
    this.over = 'over' in numbers ? number(numbers, 'over', 0) : 0;
    this.middle = number(numbers, 'middle');
    this.unit = number(numbers, 'unit_width', 1e-9);
    this.spread = SPREAD;
  }

  /** Her factors after all steps. @param {Own} own */
  factors(own) {
    const { width, path } = this;
    const factors = new Float64Array(width).fill(this.begin);
    const count = this.over || Math.max(own.items.length, 1);
    for (let step = 0; step < this.steps; step++) {
      const gradient = new Float64Array(width);
      own.items.forEach((item, j) => {
        const at = (step * this.items + item) * width;
        const error = this.middle + this.unit * own.values[j] - dot(factors, 0, path, at, width);
        for (let a = 0; a < width; a++) gradient[a] -= 2 * error * path[at + a];
      });
      for (let a = 0; a < width; a++) {
        factors[a] -=
          (this.rate / (step + 1)) * (gradient[a] / count + 2 * this.ridge * factors[a]);
      }
    }
    return factors.map((value) => (Number.isFinite(value) ? value : 0));
  }

  /** Raw ratings of all items from her factors. @param {Float64Array} factors */
  raw(factors) {
    return Float64Array.from({ length: this.items }, (_, i) =>
      dot(this.last, i * this.width, factors, 0, this.width),
    );
  }

  /** @param {Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const mean = this.raw(this.factors(own)).map((value) =>
      Math.min(Math.max((value - this.middle) / this.unit, -2), 2),
    );
    let left = this.spread ** 2;
    own.items.forEach((item, j) => {
      left += (own.values[j] - mean[item]) ** 2;
    });
    return {
      mean,
      sd: new Float64Array(this.items).fill(Math.sqrt(left / (1 + own.items.length))),
      vector: this.centre(own),
      explain: (item) => this.explained(own, item),
    };
  }

  /**
   * The steps are linear in the ratings, so each one's share is exact (before the scale ends).
   * @param {Own} own @param {number} item
   */
  explained(own, item) {
    const { width, path } = this;
    const size = own.items.length;
    const factors = new Float64Array(width).fill(this.begin);
    const slope = new Float64Array(width * size);
    for (let step = 0; step < this.steps; step++) {
      const rate = (2 * this.rate) / (step + 1) / (this.over || Math.max(size, 1));
      const keep = 1 - (2 * this.ridge * this.rate) / (step + 1);
      const at = (/** @type {number} */ j) => (step * this.items + own.items[j]) * width;
      const error = Float64Array.from(
        own.items,
        (_, j) => this.middle - dot(path, at(j), factors, 0, width),
      );
      /** What moves each own prediction, less what each own rating has moved it already. */
      const moved = new Float64Array(size * size);
      for (let j = 0; j < size; j++) {
        moved[j * size + j] = 1;
        for (let a = 0; a < width; a++) {
          for (let k = 0; k < size; k++)
            moved[j * size + k] -= path[at(j) + a] * slope[a * size + k];
        }
      }
      for (let a = 0; a < width; a++) {
        factors[a] *= keep;
        for (let k = 0; k < size; k++) slope[a * size + k] *= keep;
        for (let j = 0; j < size; j++) {
          const stride = rate * path[at(j) + a];
          factors[a] += stride * error[j];
          for (let k = 0; k < size; k++) slope[a * size + k] += stride * moved[j * size + k];
        }
      }
    }
    const row = item * width;
    return {
      baseline: (dot(this.last, row, factors, 0, width) - this.middle) / this.unit,
      own: Float64Array.from(own.values, (value, k) => {
        let share = 0;
        for (let a = 0; a < width; a++) share += this.last[row + a] * slope[a * size + k];
        return share * value;
      }),
    };
  }

  /** The middle of the items that she likes. @param {Own} own */
  centre(own) {
    const liked = [...own.items].filter((_, j) => own.values[j] > 0);
    const out = new Float64Array(this.width);
    for (const item of liked) {
      for (let a = 0; a < this.width; a++)
        out[a] += this.last[item * this.width + a] / liked.length;
    }
    return out;
  }

  /** @param {number} item */
  similar(item) {
    return cosines(this.last, this.items, this.width, 0, item);
  }

  axes() {
    return { rows: this.last, width: this.width, skip: 0, inItems: true };
  }
}
