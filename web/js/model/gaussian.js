/**
 * The personal Gaussian model: r = baseline + x'z + e, z ~ N(0, I), e ~ N(0, noise + variance).
 * Where it is known how far loadings are off, each rating adds `per_rating` to the precision of z.
 * Where it is known what a choice of items says of tastes, z has a mean over own items, not 0.
 *
 * A click changes one rating, so the covariance of z changes by one outer product and the spread of
 * every item by one square. Many changes at once are solved anew.
 */

import { ModelError, floats, number } from './check.js';
import { cholesky, dot, identity, lowerInverse, squared, times } from './linear.js';
import { wanted } from './rank.js';

/** @typedef {import('./check.js').Tables} Tables */
/** @typedef {import('./kind.js').Own} Own */
/** @typedef {import('./kind.js').State} State */
/** @typedef {import('./kind.js').Kind} Kind */

/** Changes after which rounding is swept out by solving anew. */
const FRESH = 500;
/** A rating may be taken back only where that leaves this share of its own doubt. */
const STEADY = 1e-6;

/**
 * @typedef {object} Posterior
 * @property {Set<number>} items
 * @property {Float64Array} covariance
 * @property {Float64Array} spread  x'Cov(z)x of every item
 * @property {number} changes  since it was solved anew
 * @property {{turns: Float64Array, signs: number[]} | null} due  squares that `spread` still lacks
 */

/** Ratings for which everybody's noise counts beside one's own. */
const TYPICAL = 20;

/** What is added to a misfit because one's own noise is not known exactly. */
const UNSURE = 1.3;

/** Ratings at which what a choice of items implies is believed half. */
const IMPLIED_MORE = 20;

/** @implements {Kind} */
export class Gaussian {
  /** @param {Tables} tables @param {Record<string, number>} numbers @param {number} items */
  constructor(tables, numbers, items) {
    const loadings = floats(tables, 'loadings', [items, -1]);
    /** @type {'rating' | 'popularity' | 'score'} */
    this.ranksBy = 'rating';
    this.items = items;
    this.width = loadings.shape[1];
    this.loadings = loadings.data;
    this.baseline = floats(tables, 'baseline', [items]).data;
    this.variance = floats(tables, 'variance', [items]).data;
    this.typical = TYPICAL;
    this.noise = number(numbers, 'noise', 1e-9);
    if (this.variance.some((v) => v < 0)) throw new ModelError('the array variance is below 0');
    /** Precision that each rating adds to each column, telling nothing of it. */
    this.unsure = tables.has('per_rating') ? floats(tables, 'per_rating', [this.width]).data : null;
    if (this.unsure?.some((v) => v < 0)) throw new ModelError('the array per_rating is below 0');
    /**
     * What a choice of items says of tastes; not for kinds that add neighbours.
     * @type {{usual: Float32Array, turn: Float32Array} | undefined}
     */
    this.choice = undefined;
    if (new.target === Gaussian && (tables.has('implied') || tables.has('usual'))) {
      const usual = floats(tables, 'usual', [this.width]).data;
      this.choice = { usual, turn: floats(tables, 'implied', [this.width, this.width]).data };
    }
    /** Variance of a rating around the person's taste. */
    this.scatter = Float64Array.from(this.variance, (v) => this.noise + v);
    this.precision = this.scatter.map((v) => 1 / v);
    const lengths = new Float64Array(items);
    for (let i = 0, at = 0; i < items; i++, at += this.width) {
      lengths[i] = dot(this.loadings, at, this.loadings, at, this.width);
    }
    /** @type {Posterior} */
    this.prior = {
      items: new Set(),
      covariance: identity(this.width),
      spread: lengths,
      changes: 0,
      due: null,
    };
    this.last = this.prior;
    /** Kinds that add neighbours go by the expected rating. @type {Float64Array | undefined} */
    this.lean = undefined;
    if (new.target === Gaussian && tables.has('weight'))
      this.lean = wanted(this.baseline, floats(tables, 'weight', [items]).data);
  }

  /** @param {Own} own @returns {State} */
  fold(own) {
    return this.gaussian(own);
  }

  /** @param {Own} own */
  gaussian(own) {
    const width = this.width;
    const posterior = this.posterior(own);
    const { covariance, spread } = posterior;
    const pulled = this.pulled(own, () => true);
    const point = times(covariance, pulled, width, width);
    const mean = this.swept(posterior, point);
    // How far the ratings lie from the model, beside how far everybody's do.
    const hint = this.implied(own, () => true);
    let over = UNSURE - dot(pulled, 0, point, 0, width) + dot(hint, 0, hint, 0, width);
    own.items.forEach((item, j) => {
      over += this.precision[item] * (own.values[j] - this.baseline[item]) ** 2 - 1;
    });
    const scale = 1 + over / (this.typical + own.items.length);
    const sd = this.scatter.map((v, i) => Math.sqrt(Math.max(spread[i], 0) + scale * v));
    return {
      mean,
      sd,
      vector: point,
      covariance,
      /** @param {number} item */
      explain: (item) => ({
        baseline: this.baseline[item],
        own: this.influence(
          own,
          covariance,
          this.loadings.subarray(item * width, (item + 1) * width),
        ),
      }),
      /** @param {(index: number) => boolean} used */
      part: (used) => times(covariance, this.pulled(own, used), width, width),
    };
  }

  /**
   * How far each own rating, and that it was given, moves the prediction of an item with these
   * loadings.
   * @param {Own} own @param {Float64Array} covariance @param {import('./linear.js').Vector} row
   */
  influence(own, covariance, row) {
    const { width, choice } = this;
    const along = times(covariance, row, width, width);
    const moved = Float64Array.from(
      own.items,
      (item, j) =>
        this.precision[item] *
        (own.values[j] - this.baseline[item]) *
        dot(this.loadings, item * width, along, 0, width),
    );
    if (!choice) return moved;
    const told = times(choice.turn, along, width, width);
    const usual = dot(choice.usual, 0, told, 0, width);
    own.items.forEach((item, j) => {
      const apart = dot(this.loadings, item * width, told, 0, width) - usual;
      moved[j] += apart / (own.items.length + IMPLIED_MORE);
    });
    return moved;
  }

  /**
   * Sum of precision x loading x (rating less baseline) over the own ratings that are used, and
   * what it implies that they were given.
   * @param {Own} own @param {(index: number) => boolean} used
   */
  pulled(own, used) {
    const out = this.implied(own, used);
    own.items.forEach((item, j) => {
      if (!used(j)) return;
      const weight = this.precision[item] * (own.values[j] - this.baseline[item]);
      for (let a = 0, at = item * this.width; a < this.width; a++)
        out[a] += weight * this.loadings[at + a];
    });
    return out;
  }

  /**
   * What the choice of the items that are used says of tastes.
   * @param {Own} own @param {(index: number) => boolean} used
   */
  implied(own, used) {
    const { width, choice } = this;
    const out = new Float64Array(width);
    if (!choice) return out;
    const apart = new Float64Array(width);
    own.items.forEach((item, j) => {
      if (!used(j)) return;
      for (let a = 0, at = item * width; a < width; a++)
        apart[a] += this.loadings[at + a] - choice.usual[a];
    });
    for (let a = 0; a < width; a++) {
      const share = apart[a] / (own.items.length + IMPLIED_MORE);
      for (let b = 0; b < width; b++) out[b] += share * choice.turn[a * width + b];
    }
    return out;
  }

  /**
   * From the last posterior, from the prior, or solved anew: whichever is least work.
   * @param {Own} own @returns {Posterior}
   */
  posterior(own) {
    const now = new Set(own.items);
    const { last } = this;
    const near = last.changes < FRESH && stepsOf(last, now).length <= now.size;
    this.last = this.moved(near ? last : this.prior, now) ?? this.solved(now);
    return this.last;
  }

  /**
   * One outer product for each rating that came or went. Undefined where that would not be steady,
   * or more work; what each rating adds to the precision is no outer product.
   * @param {Posterior} from @param {Set<number>} now @returns {Posterior | undefined}
   */
  moved(from, now) {
    const width = this.width;
    const steps = stepsOf(from, now);
    if (this.unsure || steps.length > width / 2) return undefined;
    if (!steps.length) return from;
    const covariance = from.covariance.slice();
    const turns = new Float64Array(steps.length * width);
    for (let k = 0; k < steps.length; k++) {
      const { item, sign } = steps[k];
      const row = this.loadings.subarray(item * width, (item + 1) * width);
      const turned = times(covariance, row, width, width);
      const doubt = 1 / this.precision[item];
      const size = doubt - sign * dot(row, 0, turned, 0, width);
      if (!(size > STEADY * doubt)) return undefined;
      const scale = 1 / Math.sqrt(size);
      for (let a = 0; a < width; a++) turns[k * width + a] = turned[a] * scale;
      for (let a = 0; a < width; a++) {
        const left = sign * turns[k * width + a];
        for (let b = 0; b < width; b++) covariance[a * width + b] += left * turns[k * width + b];
      }
    }
    const signs = steps.map((step) => step.sign);
    const changes = from.changes + steps.length;
    return { items: now, covariance, spread: from.spread.slice(), changes, due: { turns, signs } };
  }

  /**
   * Expected ratings, and the squares that the last changes add to every spread, in one pass.
   * @param {Posterior} posterior @param {Float64Array} point
   */
  swept(posterior, point) {
    const { spread, due } = posterior;
    const { width, loadings } = this;
    const mean = new Float64Array(this.items);
    const more = due ? due.signs.length : 0;
    for (let i = 0, at = 0; i < this.items; i++, at += width) {
      mean[i] = this.baseline[i] + dot(loadings, at, point, 0, width);
      for (let k = 0; due && k < more; k++) {
        const along = dot(loadings, at, due.turns, k * width, width);
        spread[i] += due.signs[k] * along * along;
      }
    }
    posterior.due = null;
    return mean;
  }

  /** @param {Set<number>} now @returns {Posterior} */
  solved(now) {
    const width = this.width;
    const system = identity(width);
    for (const item of now) this.added(system, item);
    for (let a = 0; this.unsure && a < width; a++)
      system[a * width + a] += now.size * this.unsure[a];
    return {
      items: now,
      ...spreads(system, width, this.loadings, this.items),
      changes: 0,
      due: null,
    };
  }

  /**
   * The lower triangle of precision x x' of one item.
   * @param {Float64Array} system @param {number} item
   */
  added(system, item) {
    const width = this.width;
    const at = item * width;
    for (let a = 0; a < width; a++) {
      const left = this.precision[item] * this.loadings[at + a];
      for (let b = 0; b <= a; b++) system[a * width + b] += left * this.loadings[at + b];
    }
  }

  /** @param {number} item */
  similar(item) {
    return cosines(this.loadings, this.items, this.width, 1, item);
  }

  /** What the map shows: loadings without the personal level, which all items share. */
  axes() {
    return { rows: this.loadings, width: this.width, skip: 1 };
  }
}

/**
 * Ratings that came (-1) or went (1).
 * @param {Posterior} from @param {Set<number>} now
 */
function stepsOf(from, now) {
  const without = (/** @type {Set<number>} */ one, /** @type {Set<number>} */ other, sign = 1) =>
    [...one].filter((item) => !other.has(item)).map((item) => ({ item, sign }));
  return [...without(now, from.items, -1), ...without(from.items, now)];
}

/**
 * The inverse of a system and x'(inverse)x of every row x. The system's lower triangle is used up.
 * @param {Float64Array} system @param {number} width @param {Float32Array} rows
 * @param {number} count
 */
export function spreads(system, width, rows, count) {
  cholesky(system, width);
  const inverse = lowerInverse(system, width);
  const spread = new Float64Array(count);
  for (let i = 0, at = 0; i < count; i++, at += width) {
    let total = 0;
    for (let a = 0; a < width; a++) {
      const along = dot(rows, at, inverse, a * width, a + 1);
      total += along * along;
    }
    spread[i] = total;
  }
  return { covariance: squared(inverse, width), spread };
}

/**
 * Cosine of every row with one of them, over the columns from `skip` on.
 * @param {Float32Array} rows @param {number} count @param {number} width @param {number} skip
 * @param {number} item
 */
export function cosines(rows, count, width, skip, item) {
  const size = width - skip;
  const length = (/** @type {number} */ i) =>
    Math.sqrt(dot(rows, i * width + skip, rows, i * width + skip, size));
  const own = length(item);
  return Float64Array.from(
    { length: count },
    (_, i) =>
      dot(rows, i * width + skip, rows, item * width + skip, size) /
      Math.max(length(i) * own, 1e-12),
  );
}
