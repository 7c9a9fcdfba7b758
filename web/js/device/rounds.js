/**
 * What a person adds in each round: `popularity`, and the first-order rounds that `bias` and
 * `mf-federated` begin with (`docs/protocol-methods.md`).
 */

import { STEPS } from './bound.js';
import { design, groupsOf, loadings } from './design.js';
import { gaussianMu } from './gaussian.js';
import { at, dot, factorize, forward, gather, mean, row, within, withPrior } from './solve.js';

/** @typedef {import("./solve.js").Person} Person */
/** @typedef {import("./bound.js").Bound} Bound */
/** @typedef {import("./bound.js").Lines} Lines */
/** @typedef {import("./wire.js").Tensor} Tensor */
/** @typedef {import("./task.js").Task} Task */
/**
 * @typedef {object} Part
 * @property {string} name
 * @property {number} size
 * @property {number} width
 * @property {Bound | null} bound null for a randomized report
 */
/**
 * @typedef {object} Round
 * @property {string} name
 * @property {Part[]} parts
 * @property {string[]} needs names of the state that it reads, by item unless known as a number
 * @property {{index: number, most: number}} [turn]
 * @property {{index: number, of: number, width: number}} [slice]
 * @property {(person: Person, state: State, event: any) => Record<string, Lines>} contribute
 */

/** Public state, checked before a rating is looked at. */
export class State {
  /** @param {Map<string, Tensor>} found @param {string[]} needs @param {number} items */
  constructor(found, needs, items) {
    this.found = found;
    for (const name of needs) {
      const rows = this.found.get(name)?.shape[0];
      if (rows !== (NUMBERS.has(name) ? 1 : items))
        throw new Error('a round was announced with a state that its plan does not lead to');
    }
  }

  /** @param {string} name */
  array(name) {
    return /** @type {Tensor} */ (this.found.get(name)).values;
  }

  /** @param {string} name */
  number(name) {
    return at(this.array(name), 0);
  }
}

const NUMBERS = new Set(['level.mean', 'level.variance', 'level.count', 'weights.log_spread']);
/** Residuals are clipped to this size. */
const RESIDUAL_LIMIT = 3;
const OWN_SHRINKAGE = 5;
/** Stands for no noise at all. */
const TINY = 1e-6;
const NOISE = 0.75;
/** How far a covered error may lie, the share that should, and its weight in a row. */
const [REACH, NOMINAL, COVER_WEIGHT, LEFT_OUT] = [1.2816, 0.8, 0.3, 16];
const ROW_CLIP = 0.3;

/** @param {Task} task whether bounds are of L1 */
export const isPure = (task) => task.calibration === 'sound' && task.delta === 0;

/** Mu of a task's Gaussian rounds; infinite without noise. @param {Task} task */
export function strength(task) {
  if (task.calibration !== 'sound') return Infinity;
  const epsilon = Number(task.epsilon);
  return task.delta === 0 ? epsilon / 2 : gaussianMu(epsilon, task.delta);
}

/** Below this number of ratings weights stop growing. @param {State} state */
export const evenCount = (state) => Math.max(0.25 * state.number('level.count'), 2);

/** @param {Person} person @param {number} even @param {boolean} pure */
function weightOf(person, even, pure) {
  const whole = Math.max(person.items.length, even);
  return pure ? 1 / whole : 1 / Math.sqrt(whole);
}

/** @param {boolean} pure @param {number} [limit] @returns {Bound} */
const whole = (pure, limit = 1) => ({ norm: pure ? 'l1' : 'l2', limit, steps: STEPS });

/** @param {Task} task @returns {Round[]} */
export function popularity(task) {
  const pure = isPure(task);
  const even = Number(task.settings['even'] ?? 30);
  const size = task.items.ids.length;
  return [
    {
      name: 'items',
      needs: [],
      parts: [
        { name: 'weights', size, width: 1, bound: whole(pure) },
        { name: 'mean', size: 1, width: 1, bound: { norm: 'mean', limit: 2, steps: STEPS } },
      ],
      contribute: (person) => {
        const weight = weightOf(person, even, pure);
        return {
          weights: { rows: person.items, values: person.values.map(() => weight) },
          mean: { rows: new Uint32Array(person.items.length), values: person.values },
        };
      },
    },
  ];
}

/** @param {Task} task @returns {Round[]} */
export function bias(task) {
  const features = design(task.items);
  const begun = firstRounds(task, strength(task), Number(task.settings['sweeps'] ?? 3));
  return [...begun, choice(task, features)];
}

/**
 * Level, weights and effects.
 * @param {Task} task @param {number} mu of their budget @param {number} sweeps
 * @returns {Round[]}
 */
export function firstRounds(task, mu, sweeps) {
  const pure = isPure(task);
  const size = task.items.ids.length;
  // The level's share of the budget, by rule; each sweep has an equal part of 73 % of the rest.
  const level = Math.min(Math.max((50 / (task.people * mu)) ** 2, 0.03), 0.9);
  const spread = 1 / (mu * Math.sqrt((0.73 * (1 - level)) / sweeps));
  const part = (/** @type {string} */ name) => [{ name, size, width: 1, bound: whole(pure) }];
  return [
    {
      name: 'people',
      needs: [],
      parts: [{ name: 'level', size: 1, width: 2, bound: whole(pure) }],
      contribute: ({ values }) => ({ level: { rows: [0], values: levelRow(values) } }),
    },
    {
      name: 'weights',
      needs: ['level.count'],
      parts: part('weights'),
      contribute: (person, state) => {
        const weight = weightOf(person, evenCount(state), pure);
        return { weights: { rows: person.items, values: person.values.map(() => weight) } };
      },
    },
    ...Array.from({ length: sweeps }, (_, k) => effects(part('sums'), k, spread, pure)),
  ];
}

/** Her level, and how many ratings she has. @param {Float64Array} values */
function levelRow(values) {
  const count = values.length;
  if (!count) return new Float64Array(2);
  const logs = Math.min(Math.log2(count), 12) - 6;
  return Float64Array.of((0.9 * within(mean(values, count), 2)) / 2, (0.43 * logs) / 6);
}

/**
 * @param {Part[]} parts
 * @param {number} sweep
 * @param {number} spread
 * @param {boolean} pure
 * @returns {Round}
 */
function effects(parts, sweep, spread, pure) {
  const needs = ['level.mean', 'level.count', 'weights.mean'];
  return {
    name: `effects ${sweep + 1}`,
    needs: sweep ? [...needs, 'effects.mean'] : needs,
    parts,
    contribute: (person, state) => {
      const { items } = person;
      const rest = person.values.map((value, cell) => {
        const effect = sweep ? at(state.array('effects.mean'), at(items, cell)) : 0;
        return within(value - state.number('level.mean') - effect, RESIDUAL_LIMIT);
      });
      const own = within(mean(rest, rest.length + OWN_SHRINKAGE), 2 * RESIDUAL_LIMIT);
      const weight = weightOf(person, evenCount(state), pure);
      const { multiplier, clip } = effort(state, spread, pure);
      const values = rest.map(
        (value, cell) => ((value - own) * weight * at(multiplier, at(items, cell))) / clip,
      );
      return { sums: { rows: items, values } };
    },
  };
}

/**
 * Public multipliers of residuals, and their clip.
 * @param {State} state
 * @param {number} spread
 * @param {boolean} pure
 */
function effort(state, spread, pure) {
  const weights = state.array('weights.mean');
  const count = state.number('level.count');
  const one = pure ? 1 / count : 1 / Math.sqrt(count);
  const bottom = Math.max(Math.max(spread, TINY) / 0.3, 0.5 * one);
  const multiplier = weights.map((weight) => (Math.max(weight, bottom) / bottom) ** -0.4);
  const total = weights.reduce((a, b) => a + b, 0);
  const clip = pure
    ? dot(weights, multiplier) / total
    : Math.sqrt(
        dot(
          weights,
          multiplier.map((m) => m * m),
        ) / total,
      );
  return { multiplier, clip: 0.5 * clip };
}

/**
 * How widely people differ.
 * @param {Task} task
 * @param {import("./design.js").Design} features
 * @returns {Round}
 */
function choice(task, features) {
  const groups = groupsOf(features);
  const candidates = [groups.map(() => 1)];
  for (const group of [...new Set(groups)].sort((a, b) => a - b))
    for (const step of group ? [0, 0.5, 2] : [0.45, 2.2])
      candidates.push(groups.map((own) => (own === group ? step : 1)));
  const weights = ['weights.mean', 'weights.log', 'weights.log_spread'];
  const known = ['effects.mean', 'effects.variance', 'effects.gain'];
  const pure = isPure(task);
  return {
    name: 'choice',
    needs: ['level.mean', 'level.count', 'level.variance', ...weights, ...known],
    parts: [{ name: 'gains', size: 1, width: candidates.length, bound: whole(pure, ROW_CLIP) }],
    contribute: (person, state) => {
      const told = leftOut(person, state, features, candidates);
      return { gains: { rows: [0], values: pure ? told : withRoom(told) } };
    },
  };
}

/**
 * The same row, with gains so short that its last number is not clipped.
 * @param {Float64Array} told
 */
function withRoom(told) {
  const gains = told.subarray(0, -1);
  const beyond = at(told, told.length - 1);
  const room = Math.sqrt(ROW_CLIP * ROW_CLIP - beyond * beyond);
  const norm = Math.max(Math.sqrt(dot(gains, gains)), room);
  return told.map((one, k) => (k < gains.length ? one * (room / norm) : one));
}

/**
 * Mean squared error on her left-out ratings under each candidate, less that of the first; and how
 * far the share that the first one covers is from nominal.
 * @param {Person} person @param {State} state
 * @param {import("./design.js").Design} features @param {number[][]} candidates
 */
function leftOut(person, state, features, candidates) {
  const { items } = person;
  const count = items.length;
  const out = new Float64Array(candidates.length);
  if (!count) return out;
  const { matrix } = loadings(state, features);
  const { width } = matrix;
  const level = state.number('level.mean');
  const effect = state.array('effects.mean');
  const precision = state.array('effects.variance').map((one) => 1 / (NOISE + one));
  const residual = person.values.map((value, k) => value - (level + at(effect, at(items, k))));
  const { gram, right } = gather(person, residual, matrix, precision);
  const used = Math.min(count, LEFT_OUT);
  const weight = 1 / Math.sqrt(Math.max(count, evenCount(state)));
  let covered = 0;
  const loss = candidates.map((scale, candidate) => {
    const system = gram.map(
      (one, k) => at(scale, Math.floor(k / width)) * at(scale, k % width) * one,
    );
    withPrior(system, width);
    const solved = right.map((one, a) => at(scale, a) * one);
    factorize(system, solved);
    let total = 0;
    for (let j = 0; j < used; j++) {
      const cell = Math.floor((j * count) / used);
      const item = at(items, cell);
      const certain = at(precision, item);
      const x = row(matrix, item).map((one, a) => at(scale, a) * one);
      const v = forward(system, x);
      const kept = 1 - certain * dot(v, v);
      const pull = Math.min(at(state.array('effects.gain'), item) * weight, 0.9);
      const error = (at(residual, cell) - dot(v, solved)) / (kept * (1 - pull));
      total += (error * error) / used;
      if (candidate === 0 && error * error * certain * kept < REACH * REACH) covered += 1 / used;
    }
    return total;
  });
  loss.slice(1).forEach((one, k) => (out[k] = one - at(loss, 0)));
  out[loss.length - 1] = COVER_WEIGHT * (covered - NOMINAL);
  return out;
}
