/** Where the page lives: every address is relative to it, so that any sub-path serves. */

export const BASE = new URL('../', import.meta.url);

/**
 * To the other tabs and workers of this page, where the browser has such a thing.
 * @param {string} name
 */
export function channelFor(name) {
  return typeof BroadcastChannel === 'undefined'
    ? null
    : new BroadcastChannel(`tacit ${name} ${BASE.pathname}`);
}

/** The published things, by their names on the server. */
export const MODEL = 'model';
export const CATALOGUE = 'catalogue';
export const STATEMENT = 'statement';
export const MODELS = 'models';
