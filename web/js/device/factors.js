/** What a person adds in the rounds of `mf-federated` (`docs/protocol-methods.md`). */

import { design, loadings } from './design.js';
import { mills } from './gaussian.js';
import { normals } from './numbers.js';
import { evenCount, firstRounds, isPure, strength } from './rounds.js';
import {
  at,
  dot,
  factorize,
  forward,
  gather,
  row,
  substitute,
  within,
  withPrior,
} from './solve.js';

/** @typedef {import("./solve.js").Person} Person */
/** @typedef {import("./solve.js").Matrix} Matrix */
/** @typedef {import("./rounds.js").Round} Round */
/** @typedef {import("./rounds.js").State} State */
/** @typedef {import("./task.js").Task} Task */

const NOISE = 0.75;
/** Steps of the grid in a unit of a gradient. */
const GRID = 2 ** 13;
const SWEEPS = 3;
const LIMIT = 3;
/** Standard moments of what random profiles say, and the least at which later ones are shown. */
const START = 0.3;
const LEAST = 0.2;
const TINY = 1e-6;

/** @param {Task} task @returns {Round[]} */
export function federated(task) {
  const { settings } = task;
  const mu = strength(task);
  const signal = Math.min(task.people * mu, 1e9);
  const many = signal < 3000 || isPure(task) ? 0 : Number(settings['rounds'] ?? 2);
  const learned = many ? (0.72 * signal ** 2) / (signal ** 2 + 4000 ** 2) : 0;
  const begun = firstRounds(task, mu * Math.sqrt(1 - learned), SWEEPS);
  if (settings['project'] != null) throw new Error('this page has no projected rounds');
  const asked = settings['factors'];
  const width =
    asked == null
      ? Math.min(Math.max(halfEven(Math.sqrt(signal / 300)), 2), 10)
      : Math.min(Number(asked), 15);
  const most = Math.min(Number(settings['turns'] ?? many), many);
  return [
    ...begun,
    ...Array.from({ length: many }, (_, index) => learning(task, width, { index, most })),
  ];
}

/** Rounds a half to the even number, as everybody does. @param {number} x */
function halfEven(x) {
  const near = Math.round(x);
  return Math.abs(x % 1) === 0.5 && near % 2 ? near - 1 : near;
}

/**
 * @param {Task} task
 * @param {number} width
 * @param {{index: number, most: number}} turn
 * @returns {Round}
 */
function learning(task, width, turn) {
  const items = task.items.ids.length;
  const later = turn.index ? ['factors', 'unknown'] : [];
  const weights = ['weights.mean', 'weights.log', 'weights.log_spread'];
  const known = ['effects.mean', 'effects.variance'];
  return {
    name: `factors ${turn.index + 1}`,
    needs: ['level.mean', 'level.variance', 'level.count', ...weights, ...known, ...later],
    turn,
    parts: [
      {
        name: 'factors',
        size: items,
        width,
        bound: { norm: 'l2', limit: Math.sqrt(0.1 * width), steps: GRID },
      },
    ],
    contribute: (person, state) => {
      const values = turn.index
        ? atLeast(state)
        : normals(task.seed, items * width, mills).map((one) => one * (START / Math.sqrt(width)));
      if (values.length !== items * width) throw new Error('factors of another width');
      const rows = personRows(person, state, task, { values, width }, turn.index > 0);
      return { factors: { rows: person.items, values: rows } };
    },
  };
}

/** The released factors, scaled up where ratings say little by them. @param {State} state */
function atLeast(state) {
  const factors = state.array('factors');
  const weight = state.array('weights.mean');
  const width = factors.length / weight.length;
  let square = 0;
  weight.forEach((one, item) => {
    const x = row({ values: factors, width }, item);
    square += one * dot(x, x);
  });
  const now = Math.sqrt(
    square /
      Math.max(
        weight.reduce((a, b) => a + b, 0),
        TINY,
      ),
  );
  const scale = now > TINY ? Math.max(1, LEAST / now) : 1;
  return factors.map((one) => one * scale);
}

/** Crowded items leave room to rare ones. @param {State} state */
function itemWeights(state) {
  const weight = state.array('weights.mean').map((one) => Math.max(one, 1));
  const raw = weight.map((one) => one ** -0.4);
  const square = dot(
    weight,
    raw.map((one) => one * one),
  );
  const scale = Math.sqrt(square / weight.reduce((a, b) => a + b, 0));
  return raw.map((one) => Math.min(one / scale, 4));
}

/**
 * One line for each of her ratings, from which the rating itself is left out.
 * @param {Person} person @param {State} state @param {Task} task
 * @param {Matrix} factors @param {boolean} gradient
 */
function personRows(person, state, task, factors, gradient) {
  const { matrix, settled } = loadings(state, design(task.items), factors);
  const { width } = matrix;
  const { items } = person;
  const level = state.number('level.mean');
  const effect = state.array('effects.mean');
  const doubt = gradient ? state.array('unknown') : null;
  const precision = state
    .array('effects.variance')
    .map((one, item) => 1 / (NOISE + one + (doubt ? at(doubt, item) : 0)));
  const residual = person.values.map((value, k) => value - (level + at(effect, at(items, k))));
  const { gram, right: mean } = gather(person, residual, matrix, precision);
  withPrior(gram, width);
  factorize(gram, mean);
  substitute(gram, mean);
  const share = 1 / Math.sqrt(Math.max(items.length, evenCount(state)));
  const weights = itemWeights(state);
  const out = new Float64Array(items.length * factors.width);
  items.forEach((item, cell) => {
    const x = row(matrix, item);
    const pull = forward(gram, x);
    const spread = dot(pull, pull);
    substitute(gram, pull);
    const certain = at(precision, item);
    const own = at(residual, cell) - dot(x, mean);
    const back = (certain * own) / (1 - certain * spread);
    let left = at(residual, cell);
    const told = gradient ? width : settled;
    for (let a = 0; a < told; a++) left -= at(x, a) * (at(mean, a) - back * at(pull, a));
    const by = share * at(weights, item) * within(left, LIMIT);
    for (let a = 0; a < factors.width; a++)
      out[cell * factors.width + a] = by * (at(mean, settled + a) - back * at(pull, settled + a));
  });
  return out;
}
