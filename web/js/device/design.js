/** What is public of the items, as columns: the loadings of the personal model. */

import { at, dot, within } from './solve.js';

/** @typedef {import("./solve.js").Matrix} Matrix */
/** @typedef {{columns: Float64Array[], kinds: number[]}} Design */
/**
 * The public catalogue of a task.
 * @typedef {object} Items
 * @property {string[]} ids
 * @property {string[]} titles
 * @property {number[] | null} years 0 where unknown
 * @property {number[][] | null} tagged tags of each item
 * @property {(number | null)[][] | null} numeric
 * @property {string[]} tags
 */

const TAG = 0;
const YEAR = 1;
const NUMBER = 2;
/** More columns than this are compressed by Tacit; this page does not take part then. */
const MOST = [40, 3, 12];
/** Floor of a tag's standard deviation. */
const RARE = 0.25;
/** Prior variance of a person's taste for an average item, by kind of column. */
const TASTES = [0.07, 0.03, 0.04];
/** Prior variance of a person's level, and standard deviation of her slope on popularity. */
const LEVEL = 0.17;
const POPULARITY = 0.15;
/** The same of her slope on what all think of an item. */
const AGREEMENT = 0.35;
/** Columns that differ by less say nothing. */
const FLAT = 1e-9;

/** @param {Items} items @returns {Design} */
export function design(items) {
  const count = items.ids.length;
  /** @type {Float64Array[][]} */
  const blocks = [[], [], []];
  if (items.tagged) blocks[TAG] = tags(items.tagged, items.tags.length);
  if (items.years) blocks[YEAR] = years(items.years.map((year) => (year > 0 ? year : null)));
  if (items.numeric) {
    const { numeric } = items;
    blocks[NUMBER] = (numeric[0] ?? []).map((_, k) =>
      ranks(numeric.map((line) => (line[k] == null ? null : Math.fround(line[k] ?? 0)))),
    );
  }
  const said = blocks.map((block) => block.filter((one) => count > 0 && varies(one)));
  if (said.some((block, kind) => block.length > at(MOST, kind)))
    throw new Error('this catalogue has more features than this page can use');
  return { columns: said.flat(), kinds: said.flatMap((block, kind) => block.map(() => kind)) };
}

/** @param {Float64Array} column */
const varies = (column) =>
  column.reduce((a, b) => Math.max(a, b), -Infinity) -
    column.reduce((a, b) => Math.min(a, b), Infinity) >
  FLAT;

/** @param {Float64Array} column mean and variance */
function moments(column) {
  const mean = column.reduce((a, b) => a + b, 0) / column.length;
  return [mean, column.reduce((a, b) => a + (b - mean) ** 2, 0) / column.length];
}

/** @param {number[][]} tagged @param {number} count */
function tags(tagged, count) {
  const columns = Array.from({ length: count }, () => new Float64Array(tagged.length));
  tagged.forEach((own, item) => own.forEach((tag) => columns[tag]?.fill(1, item, item + 1)));
  return columns.map((column) => {
    const [mean, variance] = moments(column);
    const spread = Math.max(Math.sqrt(variance ?? 0), RARE);
    return column.map((value) => (value - (mean ?? 0)) / spread);
  });
}

/** Mid-ranks of unit variance, 0 where unknown. @param {(number | null)[]} column */
function ranks(column) {
  /** @type {Map<number, number>} */
  const counts = new Map();
  for (const value of column) if (value !== null) counts.set(value, (counts.get(value) ?? 0) + 1);
  if (counts.size < 2) return new Float64Array(column.length);
  const known = [...counts.values()].reduce((a, b) => a + b, 0);
  const places = new Map();
  let before = 0;
  for (const value of [...counts.keys()].sort((a, b) => a - b)) {
    const own = counts.get(value) ?? 0;
    before += own;
    places.set(value, Math.sqrt(12) * ((before - own / 2) / known - 0.5));
  }
  return Float64Array.from(column, (value) => (value === null ? 0 : places.get(value)));
}

/** Legendre polynomials of the rank. @param {(number | null)[]} column */
function years(column) {
  const place = ranks(column).map((value) => value / Math.sqrt(3));
  const law = [
    (/** @type {number} */ x) => x,
    (/** @type {number} */ x) => (3 * x * x - 1) / 2,
    (/** @type {number} */ x) => (x * ((3 * x * x - 1) / 2) * 5 - 2 * x) / 3,
  ];
  return law.map((of, degree) =>
    place.map((x, item) => (column[item] === null ? 0 : of(x) * Math.sqrt(2 * degree + 3))),
  );
}

/** The group of each column: level, popularity and agreement, then kinds. @param {Design} features */
export function groupsOf(features) {
  return [0, 1, 1, ...features.kinds.map((kind) => 2 + kind)];
}

/**
 * The matrix [level | popularity | agreement | features | factors].
 * @param {import("./rounds.js").State} state @param {Design} features @param {Matrix} [factors]
 */
export function loadings(state, features, factors = { values: new Float64Array(), width: 0 }) {
  const logs = state.array('weights.log');
  const weights = state.array('weights.mean');
  const effects = state.array('effects.mean');
  const centre = dot(weights, logs) / weights.reduce((a, b) => a + b, 0);
  const spread = Math.max(state.number('weights.log_spread'), 0.3);
  const variances = features.columns.map((column) => moments(column)[1] ?? 0);
  const total = [TAG, YEAR, NUMBER].map((kind) =>
    variances.reduce((all, one, k) => (features.kinds[k] === kind ? all + one : all), 0),
  );
  const scales = features.kinds.map((kind) => Math.sqrt(at(TASTES, kind) / at(total, kind)));
  const settled = 3 + scales.length;
  const width = settled + factors.width;
  const values = new Float64Array(logs.length * width);
  const level = Math.sqrt(LEVEL + state.number('level.variance'));
  logs.forEach((log, item) => {
    const x = values.subarray(item * width, (item + 1) * width);
    x[0] = level;
    x[1] = POPULARITY * within((log - centre) / spread, 4);
    x[2] = AGREEMENT * at(effects, item);
    features.columns.forEach((column, k) => (x[3 + k] = at(column, item) * at(scales, k)));
    x.set(factors.values.subarray(item * factors.width, (item + 1) * factors.width), settled);
  });
  return { matrix: { values, width }, settled };
}
