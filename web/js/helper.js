/**
 * The worker that computes. It is started by a script of its own, before the page is here: what it
 * needs comes while the page's modules do.
 */

import { trustedScript } from './trusted.js';

/** @type {Worker | null} */
let early = start();

function start() {
  return new Worker(trustedScript('js/worker.js'), { type: 'module', name: 'tacit' });
}

/** The worker that waits, or a new one where that one was taken. */
export function takeWorker() {
  const taken = early ?? start();
  early = null;
  return taken;
}
