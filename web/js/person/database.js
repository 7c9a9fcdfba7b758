/**
 * The browser's own store: what a person rated, and what has left the device.
 *
 * One database for each address of the page, so that two servers on one origin never share a
 * person. Opened by the page, its worker and its service worker; every one of them may be the
 * first.
 */

import { BASE } from '../base.js';

export const NAME = `tacit ${BASE.pathname}`;
/** A change here takes a new step at the end: a step that was shipped is never edited. */
const STEPS = [
  /** @param {IDBDatabase} db */
  (db) => {
    db.createObjectStore('ratings', { keyPath: 'item' });
    db.createObjectStore('settings');
    db.createObjectStore('ledger', { keyPath: 'number', autoIncrement: true });
  },
];

/** @type {Promise<IDBDatabase> | null} */
let opened = null;
/** Whether the browser did not answer when it was asked for the database. */
let silent = false;

/** The database, made or brought up to date where it must be. */
export function database() {
  opened ??= open().catch((error) => {
    if (!silent) opened = null; // the next one asks again; where nothing answers nobody waits twice
    throw error;
  });
  return opened;
}

/** Milliseconds after which a database that does not answer is none: then nothing is kept. */
const PATIENCE = 8000;

/** @returns {Promise<IDBDatabase>} */
function open() {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      silent = true;
      reject(new Error('the database does not answer'));
    }, PATIENCE);
    const request = indexedDB.open(NAME, STEPS.length);
    request.onupgradeneeded = (event) => {
      for (const step of STEPS.slice(event.oldVersion)) step(request.result);
    };
    request.onsuccess = () => {
      const db = request.result;
      clearTimeout(timer);
      if (silent) opened = Promise.resolve(db);
      silent = false;
      const forget = () => {
        db.close();
        opened = null;
      };
      db.onversionchange = forget; // another tab wipes or upgrades: never stand in its way
      db.onclose = forget;
      resolve(db);
    };
    request.onerror = () => {
      clearTimeout(timer);
      reject(request.error);
    };
  });
}

/**
 * One request in a transaction of its own.
 * @template T
 * @param {string} store
 * @param {IDBTransactionMode} mode
 * @param {(store: IDBObjectStore) => IDBRequest<T>} act
 * @returns {Promise<T>}
 */
export async function within(store, mode, act) {
  const db = await database();
  return new Promise((resolve, reject) => {
    const transaction = db.transaction(store, mode);
    const request = act(transaction.objectStore(store));
    transaction.oncomplete = () => resolve(request.result);
    transaction.onerror = () => reject(transaction.error);
    transaction.onabort = () => reject(transaction.error);
  });
}

/**
 * One setting, or what it is when nobody set it.
 * @template T
 * @param {string} name
 * @param {T} otherwise
 * @returns {Promise<T>}
 */
export async function setting(name, otherwise) {
  const found = await within('settings', 'readonly', (store) => store.get(name));
  return found === undefined ? otherwise : found;
}

/** @param {string} name @param {unknown} value */
export function keep(name, value) {
  return within('settings', 'readwrite', (store) => store.put(value, name));
}

/** Deletes the database itself. @returns {Promise<void>} */
export async function destroy() {
  const db = await database().catch(() => null);
  db?.close();
  opened = null;
  await new Promise((resolve, reject) => {
    const request = indexedDB.deleteDatabase(NAME);
    request.onsuccess = () => resolve(undefined);
    request.onerror = () => reject(request.error);
  });
}
