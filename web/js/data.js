/**
 * Published data: from this device where it is here, from the server otherwise, and kept for the
 * next time.
 */

import { BASE, MODELS } from './base.js';
import { ask, DATA_CACHE, isCut } from './net.js';

/** @typedef {import("./ledger.js").Entry} Entry */

/** Models that one can choose among, and servers that one can take part with. */
const MOST_MODELS = 50;
const MOST_SERVERS = 10;
const ORIGIN = /^https?:\/\/[\w.:[\]-]+$/;

/**
 * A `fetch` for data of the server: what was fetched once is not asked for again.
 * @param {Entry["by"]} by
 * @returns {(address: RequestInfo | URL, options?: RequestInit) => Promise<Response>}
 */
export function fetcher(by) {
  return async (address, options = {}) => {
    const request = new Request(
      address instanceof Request ? address : new URL(address, BASE),
      options,
    );
    const key = cacheKey(request);
    // No cache here (not a secure place) or a full disk: the page works, but not without the server.
    const again = request.cache === 'reload'; // what was kept does not fit
    const kept = again ? undefined : await opened((cache) => cache.match(key));
    if (kept) return kept;
    const response = await ask(request, by, 'data');
    if (response.status === 200) await opened((cache) => cache.put(key, response.clone()));
    return response;
  };
}

/**
 * One address answers in several forms and ranges: each has a key of its own, which is never asked
 * for.
 * @param {Request} request
 */
function cacheKey(request) {
  const key = new URL(request.url);
  key.searchParams.set('form', request.headers.get('accept') ?? 'any');
  key.searchParams.set('range', request.headers.get('range') ?? 'all');
  return key.href;
}

/** @template T @param {(cache: Cache) => Promise<T>} act */
async function opened(act) {
  try {
    return await act(await caches.open(DATA_CACHE));
  } catch {
    return undefined;
  }
}

/** Forgets the data, so that the next load asks the server. */
export async function forget() {
  if (typeof caches !== 'undefined') await caches.delete(DATA_CACHE).catch(() => false);
}

/** @typedef {{name: string, base: string, digest: string}} Listed */

/** Where a model may lie, below the page's own address: the first one, or one by its name. */
const FOLDER = /^(|models\/[\w.-]+\/)$/;

/** A folder that was kept as a setting, if it still looks like one. @param {unknown} folder */
export function folderOf(folder) {
  return typeof folder === 'string' && FOLDER.test(folder) ? folder : '';
}

/**
 * What the server publishes now; nothing while the network is cut.
 * @returns {Promise<{first: string, models: Listed[], federation: string[]}>}
 */
export async function published() {
  if (await isCut()) return { first: '', models: [], federation: [] };
  const request = new Request(new URL(MODELS, BASE), {
    headers: { accept: 'application/json' },
    cache: 'no-cache',
  });
  const told = await (await ask(request, 'page', 'check')).json();
  const models = Array.isArray(told?.models) ? told.models.slice(0, MOST_MODELS) : [];
  const sound = models.filter(
    (/** @type {any} */ one) =>
      FOLDER.test(one?.base) && [one.name, one.digest].every((word) => typeof word === 'string'),
  );
  const named = Array.isArray(told?.federation) ? told.federation.slice(0, MOST_SERVERS) : [];
  const federation = named.filter((/** @type {any} */ one) => ORIGIN.test(one));
  return { first: String(told?.default ?? ''), models: sound, federation };
}
