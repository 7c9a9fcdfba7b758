/** One person: own ratings and what follows from them. All of it stays in this page. */

import { REACH_80, orderScores, top } from './rank.js';

/**
 * @typedef {object} RankOptions
 * @property {import('./rank.js').By} [by]
 * @property {number} [n]
 * @property {number} [safety]  0 explores, 1 is safe, one half is neutral
 * @property {Set<number>} [exclude]
 *
 * @typedef {object} Line
 * @property {number} item
 * @property {number} rating
 * @property {number} error
 * @property {number} low
 * @property {number} high
 * @property {number} score
 * @typedef {{name: string, amount: number, code: 'level' | 'feature' | 'year' | 'rest'}} Taste
 *
 * @typedef {object} Reasons  the parts add up to `total`
 * @property {number} baseline  what an average item gets
 * @property {number} popularity  what everybody would add for this one
 * @property {{item: number, amount: number}[]} own  the own ratings that move it most
 * @property {Taste[]} tastes  what all other own ratings say together
 * @property {number} total  before the ends of the scale
 *
 * @typedef {object} WhyNot
 * @property {'unknown' | 'rated' | 'excluded' | 'listed' | 'lower' | 'equal'} code
 * @property {number} [place]  among all that could be listed, from 1
 * @property {number} [score]
 * @property {number} [needed]  score of the last listed
 * @property {number} [rating]
 * @property {number} [error]
 * @property {number} [last]  rating of the last listed
 */

/** So many own ratings are named; the others speak together. */
const NAMED = 3;
/** Moves smaller than this are not worth a word. */
const SLIGHT = 1e-9;

export class Person {
  /** @param {import('./model.js').Model} model @param {Map<number, number>} ratings */
  constructor(model, ratings) {
    this.model = model;
    /** @type {Set<number>} */
    this.seen = new Set();
    const items = [];
    const values = [];
    for (const [item, rating] of ratings) {
      if (
        !(Number.isInteger(item) && item >= 0 && item < model.items.length) ||
        !(rating - rating === 0)
      )
        continue;
      this.seen.add(item);
      if (model.like !== null && rating < model.like - 1e-9) continue;
      items.push(item);
      values.push(
        (Math.min(Math.max(rating, model.scale.low), model.scale.high) - model.middle) / model.unit,
      );
    }
    /** @type {import('./kind.js').Own} */
    this.own = { items: Int32Array.from(items), values: Float64Array.from(values) };
    this.state = model.kindOf.fold(this.own);
    /** @type {RankOptions} */
    this.asked = {};
  }

  /** Expected ratings with 80 % intervals of a new rating, within the scale. */
  predict() {
    const { mean, sd } = this.state;
    const { middle, unit } = this.model;
    const count = mean.length;
    const rating = new Float32Array(count);
    const error = new Float32Array(count);
    const low = new Float32Array(count);
    const high = new Float32Array(count);
    for (let i = 0; i < count; i++) {
      const centre = middle + unit * mean[i];
      error[i] = unit * sd[i];
      rating[i] = this.model.inside(centre);
      low[i] = this.model.inside(centre - REACH_80 * unit * sd[i]);
      high[i] = this.model.inside(centre + REACH_80 * unit * sd[i]);
    }
    return { rating, error, low, high };
  }

  /** @param {RankOptions} options @returns {Line[]} */
  rank(options = {}) {
    this.asked = options;
    const scores = this.scores(options);
    const { exclude } = options;
    const allowed = (/** @type {number} */ item) => !this.seen.has(item) && !exclude?.has(item);
    return top(scores, options.n ?? 10, allowed).map((item) => this.line(item, scores[item]));
  }

  /** @param {RankOptions} options */
  scores(options) {
    return orderScores(this.model.kindOf, this.state, options.by, options.safety ?? 0.5);
  }

  /** @param {number} item @param {number} score @returns {Line} */
  line(item, score) {
    const { middle, unit } = this.model;
    const mean = this.state.mean[item];
    const error = this.state.sd[item];
    const inside = (/** @type {number} */ value) => this.model.inside(middle + unit * value);
    return {
      item,
      rating: inside(mean),
      error: error * unit,
      low: inside(mean - REACH_80 * error),
      high: inside(mean + REACH_80 * error),
      score,
    };
  }

  /**
   * Why this rating: parts that add up to it; of the score, where lists go by one.
   * @param {number} item @param {number} named
   * @returns {Reasons}
   */
  reasons(item, named = NAMED) {
    const { model, state } = this;
    const scored = model.kindOf.ranksBy !== 'rating' && state.scores !== undefined;
    const unit = scored ? 1 : model.unit;
    const told = state.explain(item);
    const order = [...told.own.keys()].sort(
      (a, b) => Math.abs(told.own[b]) - Math.abs(told.own[a]) || a - b,
    );
    const chosen = order.filter((index) => Math.abs(told.own[index]) > SLIGHT).slice(0, named);
    const kept = new Set(chosen);
    let others = 0;
    for (let j = 0; j < told.own.length; j++) if (!kept.has(j)) others += told.own[j];
    const mean = scored ? 0 : model.meanBaseline;
    const start =
      scored && state.scores
        ? state.scores[item] - others - chosen.reduce((all, j) => all + told.own[j], 0)
        : told.baseline;
    const reasons = {
      baseline: scored ? 0 : model.middle + unit * mean,
      popularity: unit * (start - mean),
      own: chosen.map((index) => ({ item: this.own.items[index], amount: unit * told.own[index] })),
      tastes: this.tastes(item, kept, others).map((taste) => ({
        ...taste,
        amount: unit * taste.amount,
      })),
      total: 0,
    };
    reasons.total = [...reasons.own, ...reasons.tastes].reduce(
      (all, { amount }) => all + amount,
      reasons.baseline + reasons.popularity,
    );
    return reasons;
  }

  /**
   * What the own ratings that are not named say together: a level, tastes, a rest.
   * @param {number} item @param {Set<number>} named @param {number} whole
   * @returns {Taste[]}
   */
  tastes(item, named, whole) {
    if (named.size === this.own.items.length) return [];
    const view = this.model.view;
    const vector = view && this.state.part?.((index) => !named.has(index));
    if (!view || !vector)
      return Math.abs(whole) > SLIGHT ? [{ name: 'rest', amount: whole, code: 'rest' }] : [];
    const level = view.level(vector);
    /** @type {Taste[]} */
    const found = view.tastes(vector, item).map(({ name, amount }) => ({
      name,
      amount,
      code: name === 'year' ? 'year' : 'feature',
    }));
    const rest = found.reduce((left, { amount }) => left - amount, whole - level);
    found.unshift({ name: 'level', amount: level, code: 'level' });
    found.push({ name: 'rest', amount: rest, code: 'rest' });
    return found.sort((a, b) => Math.abs(b.amount) - Math.abs(a.amount));
  }

  /**
   * Why an item is not in a list: a code and the numbers behind it.
   * @param {number} item @param {Line[]} list @param {RankOptions} options  those of the list
   * @returns {WhyNot}
   */
  whyNot(item, list, options = this.asked) {
    if (!this.model.items[item]) return { code: 'unknown' };
    if (this.seen.has(item)) return { code: 'rated' };
    if (options.exclude?.has(item)) return { code: 'excluded' };
    const place = list.findIndex((line) => line.item === item);
    if (place >= 0) return { code: 'listed', place: place + 1 };
    const scores = this.scores(options);
    const last = list.at(-1);
    const line = this.line(item, scores[item]);
    const told = {
      place:
        1 +
        scores.reduce(
          (above, score, other) =>
            above +
            Number(score > scores[item] && !this.seen.has(other) && !options.exclude?.has(other)),
          0,
        ),
      score: line.score,
      needed: last?.score,
      rating: line.rating,
      error: line.error,
      last: last?.rating,
    };
    const equal = this.model.kindOf.ranksBy === 'rating' && last && line.rating >= last.rating;
    return { code: equal ? 'equal' : 'lower', ...told };
  }

  /** Where this person stands among the films of the map. */
  point() {
    return this.model.atlas.place(this.own.items.length ? this.state.vector : undefined);
  }
}
