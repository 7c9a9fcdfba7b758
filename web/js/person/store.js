/** What a person rated, in memory for the page and in the database for the next visit. */

import { channelFor } from '../base.js';
import { destroy, keep, setting, within } from './database.js';

/**
 * @typedef {object} Rating
 * @property {string} item id in the catalogue, so that it survives a new model
 * @property {number} rating on the scale of the model it was given for
 * @property {number} at when, in milliseconds
 * @property {string} title for a list when no catalogue knows the id
 */

/**
 * A person's own things. Emits `change` when ratings or hidden films change, here or in another
 * tab.
 */
export class Store extends EventTarget {
  /** @type {Map<string, Rating>} */
  ratings = new Map();
  /** Films that are not to be suggested. @type {Set<string>} */
  hidden = new Set();
  /** Whether the browser lets us keep anything. */
  durable = true;
  #channel = channelFor('own');

  constructor() {
    super();
    let told = 0;
    this.#channel?.addEventListener('message', async () => {
      if (told++) return; // what comes while this one is read is read with the next
      while (told) {
        told = 1;
        await this.read();
        told--;
      }
      this.#changed();
    });
  }

  /** Reads the database; without one everything stays in memory. */
  async read() {
    try {
      /** @type {Rating[]} */
      const rows = await within('ratings', 'readonly', (store) => store.getAll());
      rows.sort((one, other) => one.at - other.at);
      this.ratings = new Map(rows.map((row) => [row.item, row]));
      this.hidden = new Set(await setting('hidden', /** @type {string[]} */ ([])));
    } catch {
      this.durable = false;
    }
  }

  /**
   * Gives a rating, or takes it back with null.
   * @param {string} item
   * @param {number | null} rating
   * @param {string} title
   */
  rate(item, rating, title) {
    this.ratings.delete(item); // so that the newest is last
    if (rating !== null) this.ratings.set(item, { item, rating, at: Date.now(), title });
    this.#changed();
    const row = this.ratings.get(item);
    this.#write('ratings', (store) => (row ? store.put(row) : store.delete(item)));
  }

  /** Takes in many at once; those that are there already are replaced. @param {Rating[]} rows */
  async add(rows) {
    for (const row of rows) {
      this.ratings.delete(row.item);
      this.ratings.set(row.item, row);
    }
    this.#changed();
    await this.#write('ratings', (store) => {
      for (const row of rows) store.put(row);
      return store.count();
    });
  }

  /** @param {string} item @param {boolean} hide */
  hide(item, hide) {
    if (hide) this.hidden.add(item);
    else this.hidden.delete(item);
    this.#changed();
    this.#write('settings', (store) => store.put([...this.hidden], 'hidden'));
  }

  /** Forgets everything, here and in the database: ratings, settings, the ledger. */
  async wipe() {
    this.ratings = new Map();
    this.hidden = new Set();
    await destroy().catch(() => undefined);
    this.#changed();
    this.#channel?.postMessage('changed');
  }

  /** @param {string} name @param {unknown} value */
  remember(name, value) {
    keep(name, value).catch(() => undefined);
  }

  #changed() {
    this.dispatchEvent(new Event('change'));
  }

  /** @param {string} store @param {(store: IDBObjectStore) => IDBRequest} act */
  async #write(store, act) {
    try {
      await within(store, 'readwrite', act);
      this.#channel?.postMessage('changed');
    } catch {
      if (this.durable) {
        this.durable = false;
        this.dispatchEvent(new Event('forgetful'));
      }
    }
  }
}
