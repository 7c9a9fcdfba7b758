/**
 * What the device keeps: its key, whose task it is in, and the book of what it has spent. Nothing
 * of it is ever sent. What is paid is durable before noise is drawn, and what is sent is durable
 * before it is sent.
 */

import { database, setting } from '../person/database.js';
import { NOTHING } from './account.js';
import { newKey } from './keys.js';
import { hex } from './wire.js';

/** @typedef {import("./account.js").Cost} Cost */
/** @typedef {import("./keys.js").OwnKey} OwnKey */
/**
 * The book outlives a membership: what was spent stays spent.
 * @typedef {object} Book
 * @property {number} cap epsilon that this person may spend in all
 * @property {number} delta at which it is counted
 * @property {"user"} unit a whole person with all ratings
 * @property {Cost} spent what was charged: the most that anybody could have added
 * @property {Cost} realised what this person's own numbers really cost
 * @property {number} answers
 */
/**
 * @typedef {object} Memory of one task
 * @property {string} task
 * @property {number} round the last that was answered; -1 before
 * @property {string} asked a digest of what its words depend on
 * @property {Uint8Array<ArrayBuffer>} words that were sent
 * @property {string[]} ran names of the rounds that were answered
 * @property {[number, number]} done the last round and attempt
 */
/**
 * @typedef {object} Member
 * @property {OwnKey} key
 * @property {string} secret never told to anybody
 * @property {number} label numbers this person where a plan draws directions
 * @property {string} url of the recommender
 * @property {string} pin its identity
 * @property {string} aggregator the other one's
 * @property {boolean} accept a training that proves nothing
 * @property {string[]} tickets of both servers, where they ask for one
 * @property {boolean} enrolled
 * @property {Memory | null} memory
 */

/** @type {Book} */
const NEW_BOOK = {
  cap: 2,
  delta: 1e-5,
  unit: 'user',
  spent: NOTHING,
  realised: NOTHING,
  answers: 0,
};

/** @returns {Promise<Book>} */
export const readBook = () => setting('book', NEW_BOOK);

/** @returns {Promise<Member | null>} */
export const readMember = () => setting('member', /** @type {Member | null} */ (null));

/**
 * Writes all of these, or none; done when they are on the disk. `undefined` deletes.
 * @param {Record<string, unknown>} values
 * @returns {Promise<void>}
 */
export async function write(values) {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction('settings', 'readwrite', { durability: 'strict' });
    const store = transaction.objectStore('settings');
    for (const [name, value] of Object.entries(values))
      if (value === undefined) store.delete(name);
      else store.put(value, name);
    transaction.oncomplete = () => resolve();
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * @param {string} url
 * @param {string} pin
 * @param {string} aggregator
 * @param {Pick<Member, "accept" | "tickets">} terms
 * @returns {Promise<Member>}
 */
export async function newMember(url, pin, aggregator, terms) {
  const [high = 0, low = 0] = crypto.getRandomValues(new Uint32Array(2));
  return {
    key: await newKey(),
    secret: hex(crypto.getRandomValues(new Uint8Array(32))),
    label: (high >>> 11) * 2 ** 32 + low,
    url,
    pin,
    aggregator,
    ...terms,
    enrolled: false,
    memory: null,
  };
}
