/** Where the page lives: every address is relative to it, so that any sub-path serves. */

export const BASE = new URL('../', import.meta.url);

/** The published things, by their names on the server. */
export const MODEL = 'model';
export const CATALOGUE = 'catalogue';
export const STATEMENT = 'statement';
export const MODELS = 'models';
