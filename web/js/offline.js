/**
 * The page without its server: the service worker, and what the browser loaded before there was
 * one.
 */

import { BASE } from './base.js';
import { lineBytes, record, shown } from './ledger.js';
import { isData } from './net.js';
import { trustedScript } from './trusted.js';

/** @typedef {import("./ledger.js").Entry} Entry */

/** The service worker, which the browser itself fetches and re-fetches. */
const WORKER = 'sw.js';

/**
 * Registers the service worker, once. From then on the browser looks at every visit whether it has
 * changed. That passes no script, so it is written down here, each time, as if it had happened.
 */
export async function keepOffline() {
  if (!('serviceWorker' in navigator)) return;
  if (navigator.onLine)
    void record(ofBrowser(new URL(WORKER, BASE), Date.now(), 'worker', null));
  if (navigator.serviceWorker.controller) return;
  try {
    await navigator.serviceWorker.register(trustedScript(WORKER), {
      type: 'module',
      updateViaCache: 'none',
    });
  } catch {
    // A browser or a place that does not allow it: the page works, but only with its server.
  }
}

/**
 * Writes down what the browser itself loaded for this page (its document, styles and scripts):
 * there was no service worker to do it. With one, it has done so already.
 */
export async function ownLoads() {
  if (navigator.serviceWorker?.controller) return;
  const loads = /** @type {PerformanceResourceTiming[]} */ ([
    ...performance.getEntriesByType('navigation'),
    ...performance.getEntriesByType('resource'),
  ]);
  for (const load of loads) note(load);
  new PerformanceObserver((list) => {
    for (const load of list.getEntries()) note(/** @type {PerformanceResourceTiming} */ (load));
  }).observe({ type: 'resource' });
}

/** @param {PerformanceResourceTiming} load */
function note(load) {
  const url = new URL(load.name);
  // Those went through net.js, which wrote them down.
  const ours = load.initiatorType === 'fetch' || isData(url);
  if (ours || !url.protocol.startsWith('http')) return;
  // From the browser's own cache: nothing left the device.
  if (load.transferSize === 0 && load.decodedBodySize > 0) return;
  void record(
    ofBrowser(url, Math.round(performance.timeOrigin + load.startTime), 'page', load.transferSize),
  );
}

/**
 * @param {URL} url
 * @param {number} at
 * @param {Entry["why"]} why
 * @param {number | null} received
 * @returns {Entry}
 */
function ofBrowser(url, at, why, received) {
  return {
    at,
    by: 'browser',
    why,
    address: shown(url),
    asked: lineBytes('GET', url),
    body: 0,
    received,
    status: 200,
    cut: false,
  };
}
