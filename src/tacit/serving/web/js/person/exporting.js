/**
 * A person's ratings as a file for her own disk: the csv that `tacit recommend --ratings` reads.
 */

import { h } from '../dom.js';
import { writeCsv } from './csv.js';

/** @typedef {import("./store.js").Rating} Rating */

/** @param {Iterable<Rating>} ratings */
export function exportText(ratings) {
  return writeCsv([['item', 'rating'], ...[...ratings].map((row) => [row.item, row.rating])]);
}

/**
 * Hands a text to the browser as a file to save. Nothing is asked of any server.
 * @param {string} name
 * @param {string} text
 * @param {string} type
 */
export function saveFile(name, text, type) {
  const address = URL.createObjectURL(new Blob([text], { type }));
  h('a', { href: address, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(address), 10_000);
}
