/**
 * The personal mathematics, off the page's own thread: however large or strange a model is, the
 * page goes on drawing and taking input, and can stop this worker.
 */

import { BASE } from './base.js';
import { fetcher } from './data.js';
import { loadModel } from './model/load.js';

/** Items told to the page at once: a few milliseconds of copying. */
const CHUNK = 2000;
/**
 * The most items that the page takes; chosen at four times the largest public catalogue of films.
 */
const MOST_ITEMS = 250_000;

/** Films among which the first suggestions are chosen. */
const STARTERS = 200;

/** The model in use, and the person of the last ratings. @type {any} */
let model = null;
/** @type {any} */
let person = null;

/**
 * @param {{ratings: [number, number][], rank: object}} order
 */
function update({ ratings, rank }) {
  person = model.person(new Map(ratings));
  const { rating, low, high } = person.predict();
  return { list: listed(rank), point: person.point(), rating, low, high };
}

/** @param {any} rank */
function listed(rank) {
  return person.rank({ ...rank, exclude: new Set(rank.exclude) });
}

/**
 * Films to begin with: those that most people know where the model says so, else those it rates
 * highest.
 */
function known() {
  const { weight } = model;
  if (!weight)
    return model
      .person(new Map())
      .rank({ by: 'rating', n: STARTERS })
      .map((/** @type {any} */ one) => one.item);
  const rows = Array.from(weight, (/** @type {number} */ _, /** @type {number} */ row) => row);
  return rows.sort((one, other) => weight[other] - weight[one]).slice(0, STARTERS);
}

/** What the page may ask, by name. @type {Record<string, (given: any) => any>} */
const ANSWERS = {
  update,
  rank: (rank) => ({ list: listed(rank) }),
  reasons: (items) => items.map((/** @type {number} */ item) => person.reasons(item)),
  whyNot: ({ item, list }) => person.whyNot(item, list),
  similar: ({ item, n }) => model.similar(item, n),
  map: () => model.map(),
  known,
};

/** @param {string} folder of the model, below the page's own address */
async function load(folder) {
  model = await loadModel(new URL(folder, BASE), { fetcher: fetcher('worker') });
  const { name, method, kind, digest, scale, positive, items } = model;
  if (items.length > MOST_ITEMS) throw new RangeError('too many items');
  postMessage({
    event: 'model',
    about: { name, method, kind, digest, scale, positive, count: items.length },
  });
  for (let from = 0; from < items.length; from += CHUNK) {
    postMessage({ event: 'items', items: items.slice(from, from + CHUNK) });
  }
}

addEventListener('message', async ({ data: { id, what, given } }) => {
  try {
    if (what === 'load') await load(given);
    const answer = what === 'load' ? null : ANSWERS[what]?.(given);
    postMessage({ id, answer });
  } catch (error) {
    postMessage({
      id,
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    });
  }
});
