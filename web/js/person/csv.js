/**
 * Comma-separated text to rows and back: quotes, line breaks within them, a byte-order mark,
 * semicolons. A person's ratings as such a file, for her own disk: `tacit recommend --ratings` reads
 * it.
 */

import { h, turns } from '../dom.js';

/** The most rows that are read: nobody rated more. */
const MOST = 200_000;
/** Columns of a row and letters of a cell: what goes beyond is not read. */
const WIDEST = 64;
const LONGEST = 1000;
/** Letters between two looks at the clock. */
const STEP = 4096;

/**
 * In turns, so that no file holds the page up.
 * @param {string} text @returns {Promise<string[][]>}
 */
export async function readCsv(text) {
  const turn = turns();
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
    if (row.length > 1 || row[0] !== '')
      rows.push(row.slice(0, WIDEST).map((cell) => cell.trim()));
    row = [''];
  };
  const add = (/** @type {string} */ letter) => {
    const last = row.length - 1;
    const cell = row[last] ?? '';
    if (cell.length < LONGEST) row[last] = cell + letter;
  };
  for (let at = 0; at < body.length && rows.length < MOST; at++) {
    const letter = body[at] ?? '';
    if (at % STEP === 0) await turn();
    if (quoted && letter === '"' && body[at + 1] === '"') {
      add('"');
      at++;
    } else if (letter === '"' && (quoted || row.at(-1) === '')) quoted = !quoted;
    else if (quoted) add(letter);
    else if (letter === comma) row.length > WIDEST || row.push('');
    else if (letter === '\n' || letter === '\r') end();
    else add(letter);
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
