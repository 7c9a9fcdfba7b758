/**
 * Comma-separated text to rows and back: quotes, line breaks within them, a byte-order mark,
 * semicolons. A person's ratings as such a file, for her own disk: `tacit recommend --ratings` reads
 * it.
 */

import { h } from '../dom.js';

/** The most rows that are read: nobody rated more. */
const MOST = 200_000;

/** @param {string} text @returns {string[][]} */
export function readCsv(text) {
  const body = text.replace(/^\ufeff/, '');
  const first = body.slice(0, body.search(/\r|\n|$/));
  const comma =
    !first.includes(',') && first.includes(';')
      ? ';'
      : !first.includes(',') && first.includes('\t')
        ? '\t'
        : ',';
  /** @type {string[][]} */
  const rows = [];
  let row = [''];
  let quoted = false;
  const end = () => {
    if (row.length > 1 || row[0] !== '') rows.push(row.map((cell) => cell.trim()));
    row = [''];
  };
  for (let at = 0; at < body.length && rows.length < MOST; at++) {
    const letter = body[at];
    const last = row.length - 1;
    if (quoted && letter === '"' && body[at + 1] === '"') {
      row[last] += '"';
      at++;
    } else if (letter === '"' && (quoted || row[last] === '')) quoted = !quoted;
    else if (quoted) row[last] += letter;
    else if (letter === comma) row.push('');
    else if (letter === '\n' || letter === '\r') end();
    else row[last] += letter;
  }
  end();
  return rows;
}

/** @param {(string | number)[][]} rows */
export function writeCsv(rows) {
  const cell = (/** @type {string | number} */ value) => {
    const text = String(value);
    return /[",\r\n]|^\s|\s$/.test(text) ? `"${text.replaceAll('"', '""')}"` : text;
  };
  return rows.map((row) => row.map(cell).join(',')).join('\n') + '\n';
}

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
