/**
 * The service worker: after the first visit the page comes from this device, with or without a
 * network.
 *
 * Files of the page are answered from the copy that was made when this worker was installed; the
 * copy changes only as a whole, with a new version. Published data are left to `data.js`, which
 * keeps its own copy. Whatever does go out passes `net.js` and is in the ledger.
 */

import { BASE } from './base.js';
import { ask, isCut, isData } from './net.js';
import { setting } from './person/database.js';

/** What only who takes part in a training needs: copied when it is used. */
const LATER = /\/js\/device\/\w+\.js$/;
/** @type {any} */
const worker = self;
/** Of the names of all copies of this page. */
const COPY = `tacit page ${BASE.pathname} `;
let cacheName = '';

/**
 * Begins to serve the page from a copy of its files.
 * @param {string} version
 */
export function serve(version) {
  cacheName = COPY + version;
  worker.addEventListener('install', (/** @type {any} */ event) => event.waitUntil(copy()));
  worker.addEventListener('activate', (/** @type {any} */ event) => event.waitUntil(settle()));
  worker.addEventListener('fetch', (/** @type {any} */ event) => {
    const url = new URL(event.request.url);
    if (url.origin !== BASE.origin) return event.respondWith(federation(event.request, url));
    return event.respondWith(isData(url) ? data(event.request) : answer(event.request, url));
  });
}

/** A whole copy of the page, or none. */
async function copy() {
  const cache = await caches.open(cacheName);
  const get = async (/** @type {string} */ file) => {
    const request = new Request(new URL(file, BASE), { cache: 'no-cache' });
    const response = await ask(request, 'service', 'page');
    if (!response.ok) throw new Error(`${file} is missing`);
    return { request, response };
  };
  /** @type {string[]} */
  const files = await (await get('files.json')).response.json();
  const fetched = await Promise.all(files.map(get));
  for (const { request, response } of fetched) await cache.put(request.url, response);
}

async function settle() {
  const old = (await caches.keys()).filter(
    (name) => name.startsWith(COPY) && name !== cacheName,
  );
  await Promise.all(old.map((name) => caches.delete(name)));
  await worker.clients.claim();
}

/**
 * Data was written down by whoever asks for it, unless it is opened as a page; here the cut is
 * kept.
 * @param {Request} request
 */
async function data(request) {
  if (request.mode === 'navigate')
    return ask(new Request(request.url), 'service', 'other').catch(() => Response.error());
  return (await isCut()) ? Response.error() : fetch(request);
}

/**
 * Other servers than the page's own: those that the person asked about, while it is not cut. The
 * device wrote it down.
 * @param {Request} request @param {URL} url
 */
async function federation(request, url) {
  /** @type {string[]} */
  const allowed = await setting('federation', []).catch(() => []);
  const may = allowed.includes(url.origin) && !(await isCut());
  return may ? fetch(request) : Response.error();
}

/** @param {Request} request @param {URL} url */
async function answer(request, url) {
  const cache = await caches.open(cacheName);
  const plain = new URL(url.pathname === `${BASE.pathname}index.html` ? BASE : url);
  plain.search = plain.hash = '';
  const kept = await cache.match(plain.href);
  if (kept) return kept;
  try {
    const response = await ask(
      request.mode === 'navigate' ? new Request(url.href) : request,
      'service',
      'other',
    );
    // Scripts that came later than the first copy are kept with it.
    if (response.ok && LATER.test(url.pathname)) await cache.put(plain.href, response.clone());
    return response;
  } catch {
    return (request.mode === 'navigate' && (await cache.match(BASE.href))) || Response.error();
  }
}
