/** What a person answers in the rounds of `one-bit`, `one-bit-projected` and `one-bit-naive`. */

import { STEPS } from './bound.js';
import { mixed, roundSeed } from './numbers.js';
import { at, factorize, gather, row, substitute, withPrior } from './solve.js';

/** @typedef {import("./solve.js").Person} Person */
/** @typedef {import("./bound.js").Lines} Lines */
/** @typedef {import("./rounds.js").Round} Round */
/** @typedef {import("./rounds.js").State} State */
/** @typedef {import("./task.js").Task} Task */

/** Coordinates that tastes may take, and those over which they are spread. */
const WIDEST = 64;
const SPREAD = 2048;
const EARLY_NOISE = 0.9;
const REACH = 4;
const OF = 20;
const SLICES = {
  popularity: { index: 0, of: OF, width: 16 },
  tastes: { index: 16, of: OF, width: 1 },
  effects: { index: 17, of: OF, width: 3 },
};

/** @param {Task} task @returns {Round[]} */
export function answers(task) {
  if (task.settings['form'] === 'descent') throw new Error('this page has no printed descent');
  const noisy = task.calibration === 'sound';
  const asks = noisy && task.method !== 'one-bit-naive';
  const items = task.items.ids.length;
  const size = Math.max(items, WIDEST);
  const spread = asks ? Math.min(size, SPREAD) : 0;
  const pure = noisy && task.delta === 0;
  /** @type {[keyof typeof SLICES, string[], (p: Person, s: State) => Lines][]} */
  const questions = [
    ['popularity', [], (p) => presence(p)],
    ['tastes', ['loadings', 'baseline'], (p, s) => spreadOut(ownFit(p, s).taste, spread)],
    ['effects', ['loadings', 'baseline'], (p, s) => departures(p, s)],
  ];
  return questions.map(([name, needs, vector]) => ({
    name,
    needs,
    ...(noisy ? { slice: SLICES[name] } : {}),
    parts: [
      {
        name: 'report',
        size: size + 1,
        width: 1,
        bound: asks ? null : { norm: pure ? 'l1' : 'l2', limit: 1, steps: STEPS, factor: 2 },
      },
    ],
    contribute: (person, state, event) => {
      const whole = padded(vector(person, state), size);
      if (asks) return { report: favoured(person, whole, roundSeed(task.seed, name), event) };
      const length = pure ? Math.sqrt(whole.values.length) : 1;
      return { report: { rows: whole.rows, values: whole.values.map((one) => one / length) } };
    },
  }));
}

/** Which items she rated. @param {Person} person @returns {Lines} */
function presence({ items }) {
  const each = 1 / Math.sqrt(Math.max(items.length, 1));
  return { rows: items, values: Float64Array.from(items, () => each) };
}

/**
 * To a norm of at most 1, and one more line that brings it to 1.
 * @param {Lines} lines
 * @param {number} size
 * @returns {Lines}
 */
function padded({ rows, values }, size) {
  const norm = Math.sqrt(values.reduce((all, one) => all + one * one, 0));
  const rest = Math.sqrt(Math.max(0, 1 - Math.min(norm, 1) ** 2));
  const scaled = values.map((one) => one / Math.max(norm, 1));
  return { rows: [...Array.from(rows), size], values: Float64Array.of(...scaled, rest) };
}

/**
 * Each coordinate as equal parts of many.
 * @param {Float64Array} taste
 * @param {number} size
 * @returns {Lines}
 */
function spreadOut(taste, size) {
  const scaled = taste.map((one) => one / REACH);
  const norm = Math.sqrt(scaled.reduce((all, one) => all + one * one, 0));
  const inside = scaled.map((one) => one / Math.max(norm, 1));
  const rest = Math.sqrt(Math.max(0, 1 - inside.reduce((all, one) => all + one * one, 0)));
  const copies = Math.max(1, Math.floor(size / (taste.length + 1)));
  const values = [...inside, rest].flatMap((one) =>
    Array.from({ length: copies }, () => one / Math.sqrt(copies)),
  );
  return { rows: values.map((_, k) => k), values: Float64Array.from(values) };
}

/**
 * How her ratings depart from what is expected of her.
 * @param {Person} person
 * @param {State} state
 * @returns {Lines}
 */
function departures(person, state) {
  const { left } = ownFit(person, state);
  const norm = Math.sqrt(left.reduce((all, one) => all + one * one, 0));
  return { rows: person.items, values: left.map((one) => one / Math.max(norm, 1e-9)) };
}

/** A ridge solve under the public model so far. @param {Person} person @param {State} state */
function ownFit(person, state) {
  const baseline = state.array('baseline');
  const values = state.array('loadings');
  const matrix = { values, width: values.length / baseline.length };
  const precision = baseline.map(() => 1 / EARLY_NOISE);
  const residual = person.values.map((value, k) => value - at(baseline, at(person.items, k)));
  const { gram, right: taste } = gather(person, residual, matrix, precision);
  withPrior(gram, matrix.width);
  factorize(gram, taste);
  substitute(gram, taste);
  const left = residual.map((one, cell) => {
    const x = row(matrix, at(person.items, cell));
    return one - x.reduce((all, part, a) => all + part * at(taste, a), 0);
  });
  return { taste, left };
}

/**
 * The answers that stand for the directions nearest to her vector.
 * @param {Person} person @param {Lines} lines @param {bigint} key
 * @param {{choices: number, favoured: number}} event @returns {Lines}
 */
function favoured(person, lines, key, event) {
  const pairs = event.choices / 2;
  const seed = mixed(key ^ mixed(BigInt(person.label)));
  const score = new Float64Array(pairs);
  lines.values.forEach((value, line) => {
    const word = mixed(seed ^ BigInt(at(lines.rows, line)));
    for (let pair = 0; pair < pairs; pair++)
      score[pair] = at(score, pair) + ((word >> BigInt(pair)) & 1n ? -value : value);
  });
  const order = Array.from(score.keys()).sort(
    (a, b) => Math.abs(at(score, b)) - Math.abs(at(score, a)) || a - b,
  );
  const best = order.slice(0, event.favoured);
  const found = best.map((pair) => 2 * pair + (at(score, pair) < 0 ? 1 : 0));
  return { rows: [0], values: Float64Array.from(found) };
}
