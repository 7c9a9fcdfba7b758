/** The ledger of the device: what left it, written before it leaves. */

import { BASE, channelFor } from './base.js';
import { within } from './person/database.js';

/**
 * @typedef {object} Entry
 * @property {number} [number] its place, given by the database
 * @property {number} at when, in milliseconds
 * @property {"page" | "worker" | "service" | "browser" | "device"} by who asked
 * @property {string} address relative to the page where it is the page's own server
 * @property {"page" | "data" | "check" | "worker" | "other" | "task" | "enrol" | "join" | "answer"} why
 * @property {number} asked bytes of method and address, as the page wrote them
 * @property {number} body bytes of the body that was sent with it
 * @property {number | null} received bytes that came back, where that is known
 * @property {number | null} status of the answer; 0 for none; null while it is under way
 * @property {boolean} cut whether it was refused because the network was cut: then nothing left
 */

/** Entries kept; older ones go first. A visit makes about ten. */
const MOST = 2000;
const channel = channelFor('ledger');
const listeners = new Set();
/** What could not be stored (no database): kept while the page lives. @type {Entry[]} */
const memory = [];

channel?.addEventListener('message', () => tell(false));

/** @param {boolean} others */
function tell(others) {
  for (const listener of listeners) listener();
  if (others) channel?.postMessage('new');
}

/** Calls back after every change, made here or elsewhere. @param {() => void} listener */
export function onLedger(listener) {
  listeners.add(listener);
}

/** Entries that were given in one turn, and when they are written. @type {Entry[]} */
let batch = [];
/** Number of the last entry that was written here. */
let newest = 0;
/** @type {Promise<void> | null} */
let writing = null;

/**
 * Writes an entry or, with its number, writes it anew. What is given at once is written at once: a
 * visit makes a hundred entries, and a transaction for each would hold the page up.
 * @param {Entry} entry
 * @returns {Promise<void>}
 */
export function record(entry) {
  batch.push(entry);
  writing ??= Promise.resolve().then(write);
  return writing;
}

async function write() {
  const all = batch;
  batch = [];
  writing = null;
  try {
    await within('ledger', 'readwrite', (store) => {
      for (const entry of all)
        store.put(entry).onsuccess = ({ target }) =>
          (entry.number = Number(/** @type {IDBRequest} */ (target).result));
      return store.delete(IDBKeyRange.upperBound(newest - MOST));
    });
    newest = all.at(-1)?.number ?? newest;
  } catch {
    memory.push(...all.filter((entry) => !memory.includes(entry)));
  }
  tell(true);
}

/** All entries, oldest first. @returns {Promise<Entry[]>} */
export async function entries() {
  try {
    return [...(await within('ledger', 'readonly', (store) => store.getAll())), ...memory];
  } catch {
    return [...memory];
  }
}

/** Bytes of what left and was derived from ratings. @param {Entry[]} all */
export function ofRatings(all) {
  return all.reduce((sum, { why, body }) => sum + (why === 'answer' ? body : 0), 0);
}

/** Bytes of an address as a request line has them. @param {string} method @param {URL} url */
export function lineBytes(method, url) {
  return new TextEncoder().encode(`${method} ${url.pathname}${url.search}`).length;
}

/** An address as the ledger shows it. @param {URL} url */
export function shown(url) {
  const own = url.origin === BASE.origin && url.pathname.startsWith(BASE.pathname);
  return own ? url.pathname.slice(BASE.pathname.length) + url.search || './' : url.href;
}
