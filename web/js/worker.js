/**
 * The personal mathematics, off the page's own thread: however large or strange a model is, the
 * page goes on drawing and taking input, and can stop this worker.
 */

import { BASE } from './base.js';
import { fetcher, folderOf } from './data.js';
import { loadModel } from './model/load.js';
import { setting } from './person/database.js';

/** Items told to the page at once: a few milliseconds of copying. */
const CHUNK = 2000;
/**
 * The most items that the page takes; chosen at four times the largest public catalogue of films.
 */
const MOST_ITEMS = 250_000;

/** Films among which the first suggestions are chosen. */
const STARTERS = 200;

/** The model in use, which is fetched at once, and the person of the last ratings. @type {any} */
let model = null;
const fetched = fetchModel();
fetched.catch(() => undefined); // whoever asks for it is told
/** @type {any} */
let person = null;
/** Who she will be if she gives the rating that she is about to give. @type {any} */
let next = null;

/**
 * @param {{ratings: [number, number][], rank: object}} order
 */
function foresee({ ratings, rank }) {
  next = model.person(new Map(ratings));
  return listed(next, rank);
}

function adopt() {
  person = next;
}

/** @param {any} who @param {any} rank */
function listed(who, rank) {
  return who.rank({ ...rank, exclude: new Set(rank.exclude) });
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
      .rank({ n: STARTERS })
      .map((/** @type {any} */ one) => one.item);
  const rows = Array.from(weight, (/** @type {number} */ _, /** @type {number} */ row) => row);
  return rows.sort((one, other) => weight[other] - weight[one]).slice(0, STARTERS);
}

/** What the page may ask, by name. @type {Record<string, (given: any) => any>} */
const ANSWERS = {
  update(order) {
    const list = foresee(order);
    adopt();
    return list;
  },
  foresee,
  adopt,
  rank: (rank) => listed(person, rank),
  all: () => person.predict(),
  point: () => person.point(),
  reasons: (items) => items.map((/** @type {number} */ item) => person.reasons(item)),
  whyNot: ({ item, list }) => person.whyNot(item, list),
  similar: ({ item, n }) => model.similar(item, n),
  map: () => model.map(),
  known,
};

/** The model that the person chose, or the first; with the folder it lies in. */
async function fetchModel() {
  const folder = folderOf(await setting('model', '').catch(() => ''));
  model = await loadModel(new URL(folder, BASE), { fetcher: fetcher('worker') });
  if (model.items.length > MOST_ITEMS) throw new RangeError('too many items');
  return folder;
}

/** Tells the page of the model. */
async function load() {
  const folder = await fetched;
  const { name, method, kind, digest, scale, positive, items } = model;
  const taste = Boolean(model.kindOf.lean);
  postMessage({
    event: 'model',
    about: { name, method, kind, digest, scale, positive, count: items.length, folder, taste },
  });
  for (let from = 0; from < items.length; from += CHUNK) {
    postMessage({ event: 'items', items: items.slice(from, from + CHUNK) });
  }
}

addEventListener('message', async ({ data: { id, what, given } }) => {
  try {
    if (what === 'load') await load();
    const answer = what === 'load' ? null : ANSWERS[what]?.(given);
    postMessage({ id, answer });
  } catch (error) {
    postMessage({
      id,
      error: error instanceof Error ? `${error.name}: ${error.message}` : String(error),
    });
  }
});
