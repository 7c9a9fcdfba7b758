/**
 * The only scripts that the page starts by address: its workers and its service worker,
 * nothing else.
 */

import { BASE } from './base.js';

const ALLOWED = ['js/worker.js', 'js/device/desk.js', 'sw.js'];

/** @param {string} path */
function address(path) {
  if (!ALLOWED.includes(path)) throw new TypeError(`${path} is not a script of this page`);
  return new URL(path, BASE).href;
}

/** @type {any} */
const factory = /** @type {any} */ (globalThis).trustedTypes;
const policy = factory?.createPolicy('tacit', { createScriptURL: address });

/**
 * The address of one of our scripts, in the form that the content policy asks for.
 * @param {string} path
 * @returns {string}
 */
export function trustedScript(path) {
  return policy ? policy.createScriptURL(path) : address(path);
}
