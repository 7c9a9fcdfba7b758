/**
 * The one way to the network, for the page, its worker and its service worker.
 *
 * The page only ever asks: a request with a body, a query or an address off the page's own server
 * is refused here, so that nothing which depends on ratings has a way out. The device of a person
 * who takes part has a door of its own, `send`. Whatever leaves is in the ledger first.
 */

import { BASE, channelFor, CATALOGUE, MODEL, MODELS, STATEMENT } from './base.js';
import { lineBytes, record, shown } from './ledger.js';
import { keep, setting } from './person/database.js';

/** @typedef {import("./ledger.js").Entry} Entry */

const DATA = [MODEL, CATALOGUE, STATEMENT, MODELS];
/** Answers of the server that the page needs to go on without it. */
export const DATA_CACHE = `tacit data ${BASE.pathname}`;

const channel = channelFor('cut');
/** Whether the network is cut; asked once, then told. @type {Promise<boolean> | null} */
let cut = null;
/** @type {Set<(cut: boolean) => void>} */
const listeners = new Set();

channel?.addEventListener('message', (event) => {
  cut = Promise.resolve(event.data === true);
  // Whoever hears it keeps it too: the page that said it may be gone before it could.
  void keep('cut', event.data === true).catch(() => undefined);
  for (const listener of listeners) listener(event.data === true);
});

/** Thrown instead of a request while the network is cut. */
export class Cut extends Error {}

/** @returns {Promise<boolean>} */
export function isCut() {
  cut ??= setting('cut', false).catch(() => false);
  return cut;
}

/**
 * Cuts the page from the network, or lets it ask again; all of its parts are told.
 * @param {boolean} value
 */
export async function setCut(value) {
  cut = Promise.resolve(value);
  channel?.postMessage(value);
  for (const listener of listeners) listener(value);
  await keep('cut', value).catch(() => undefined);
}

/** @param {(cut: boolean) => void} listener */
export function onCut(listener) {
  listeners.add(listener);
}

/** Whether an address is published data, and not a file of the page. @param {URL} url */
export function isData(url) {
  if (url.origin !== BASE.origin || !url.pathname.startsWith(BASE.pathname)) return false;
  return DATA.includes(url.pathname.slice(BASE.pathname.length).split('/')[0] ?? '');
}

/**
 * Asks the server, and writes down that it did.
 * @param {Request} request
 * @param {Entry["by"]} by
 * @param {Entry["why"]} why
 * @returns {Promise<Response>}
 */
export async function ask(request, by, why) {
  const url = new URL(request.url);
  if (request.method !== 'GET') throw new TypeError('this page only asks; it sends nothing');
  if (url.origin !== BASE.origin) throw new TypeError('this page asks its own server only');
  if (url.search) throw new TypeError('this page asks without a query');
  return written(url, request.method, 0, by, why, () =>
    fetch(request, { credentials: 'same-origin', referrerPolicy: 'no-referrer' }),
  );
}

/**
 * Makes a request, in the ledger before it leaves; refuses while the network is cut.
 * @param {URL} url @param {string} method @param {number} body bytes of it
 * @param {Entry["by"]} by @param {Entry["why"]} why @param {() => Promise<Response>} fetched
 */
async function written(url, method, body, by, why, fetched) {
  /** @type {Entry} */
  const entry = {
    at: Date.now(),
    by,
    why,
    address: shown(url),
    asked: lineBytes(method, url),
    body,
    received: null,
    status: null,
    cut: await isCut(),
  };
  if (entry.cut) {
    await record({ ...entry, asked: 0, body: 0, received: 0, status: 0 });
    throw new Cut('the network is cut');
  }
  const noted = record(entry);
  try {
    const response = await fetched();
    await noted;
    void finish(entry, response);
    return response;
  } catch (error) {
    await noted;
    await record({ ...entry, status: 0, received: 0 });
    throw error;
  }
}

/**
 * Speaks to a server of the federation that this person has asked about, and writes it down. No
 * other way leads off the page's own server, and none at all until `federation` names origins: the
 * device sets it when the person asks, and leaving takes it away.
 * @param {URL} url
 * @param {RequestInit} options
 * @param {Entry["why"]} why
 * @returns {Promise<Response>}
 */
export async function send(url, options, why) {
  const allowed = await setting('federation', /** @type {string[]} */ ([]));
  if (!allowed.includes(url.origin)) throw new Error('this page was not let speak to that server');
  const body = /** @type {Uint8Array | undefined} */ (options.body)?.length ?? 0;
  return written(url, options.method ?? 'GET', body, 'device', why, () =>
    fetch(url, {
      ...options,
      credentials: 'omit',
      cache: 'no-store',
      referrerPolicy: 'no-referrer',
    }),
  );
}

/** Adds to the entry what came back. @param {Entry} entry @param {Response} response */
async function finish(entry, response) {
  const stated = response.headers.get('content-length');
  const weigh = async () => (await response.clone().arrayBuffer()).byteLength;
  const received = stated === null ? await weigh().catch(() => null) : Number(stated);
  await record({ ...entry, status: response.status, received });
}
