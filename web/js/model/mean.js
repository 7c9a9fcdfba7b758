/** The simplest: one's own mean, shrunk toward everybody's. Lists are by popularity. */

import { floats, number } from './check.js';

/** @typedef {import('./check.js').Tables} Tables */

/** Between people's means, on the inner scale of width 4; a public rule, not fitted. */
const PEOPLE = 0.2;
const NOISE = 1.1;

/** @implements {Kind} */
export class OwnMean {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'popularity';
    this.weight = floats(tables, 'weight', [items]).data;
    this.mean = number(numbers, 'mean');
    this.items = items;
  }

  /** @param {import('./kind.js').Own} own @returns {import('./kind.js').State} */
  fold(own) {
    const precision = 1 / PEOPLE + own.values.length / NOISE;
    const shares = own.values.map((value) => (value - this.mean) / NOISE / precision);
    const centre = shares.reduce((all, share) => all + share, this.mean);
    return {
      mean: new Float64Array(this.items).fill(Math.min(Math.max(centre, -2), 2)),
      sd: new Float64Array(this.items).fill(Math.sqrt(NOISE + 1 / precision)),
      scores: Float64Array.from(this.weight),
      explain: () => ({ baseline: this.mean, own: shares }),
    };
  }

  /** It knows of none. */
  similar() {
    return new Float64Array(this.items).fill(NaN);
  }

  axes() {
    return null;
  }
}

/** @typedef {import('./kind.js').Kind} Kind */
