/**
 * Files of ratings that people have: told apart by the names of their columns, read without a
 * server.
 */

import { carried } from '../scale.js';
import { turns } from '../dom.js';
import { readCsv } from './csv.js';
import { Matcher } from './matching.js';

/** @typedef {"tacit" | "letterboxd" | "imdb" | "netflix"} Kind */
/**
 * @typedef {object} Line one line of a file
 * @property {string} title
 * @property {string} id
 * @property {number | null} year
 * @property {number | null} rating on the file's scale; null where it says only that a film was
 *   watched
 */
/**
 * @typedef {object} Imported
 * @property {Kind} kind
 * @property {number} rows lines read
 * @property {number} skipped lines that say nothing
 * @property {{row: number, rating: number | null}[]} found places in the catalogue; null: watched
 * @property {string[]} missing titles that the catalogue does not have
 */

/** Ratings on these files end at so many stars; our own file is on the model's scale. */
const STARS = { letterboxd: 5, imdb: 10 };

/** Thrown for a file that is none of those known. */
export class UnknownFile extends Error {}

/** @param {string[]} head @returns {Kind} */
export function kindOf(head) {
  const names = new Set(head.map((name) => name.toLowerCase()));
  const has = (/** @type {string[]} */ ...wanted) => wanted.every((name) => names.has(name));
  if (has('const', 'your rating')) return 'imdb';
  if (has('name', 'year', 'rating') || has('name', 'letterboxd uri')) return 'letterboxd';
  if (has('item', 'rating')) return 'tacit';
  if (has('title', 'date') || has('title', 'start time')) return 'netflix';
  throw new UnknownFile('no known columns');
}

/**
 * Reads a file and finds its films in the catalogue, in turns.
 * @param {string} text @param {import("../engine.js").Item[]} items of the catalogue
 * @param {number[]} values of the model's scale
 * @returns {Promise<Imported>}
 */
export async function importText(text, items, values) {
  const body = await readCsv(text);
  const head = body.shift();
  if (!head) throw new UnknownFile('empty');
  const kind = kindOf(head);
  const turn = turns();
  const matcher = new Matcher();
  for (const item of items) {
    matcher.add(item);
    await turn();
  }
  /** @type {Map<number, number | null>} */
  const found = new Map();
  /** @type {Set<string>} */
  const missing = new Set();
  let skipped = 0;
  for (const cells of body) {
    await turn();
    const line = LINES[kind](columns(head, cells));
    if (!line) {
      skipped++;
      continue;
    }
    const row = matcher.match(line, kind === 'netflix');
    if (row === null) missing.add(line.title || line.id);
    else found.set(row, onScale(line.rating, kind, values));
  }
  return {
    kind,
    rows: body.length,
    skipped,
    missing: [...missing],
    found: [...found].map(([row, rating]) => ({ row, rating })),
  };
}

/** @param {number | null} rating @param {Kind} kind @param {number[]} values */
function onScale(rating, kind, values) {
  if (rating === null) return null;
  if (kind === 'letterboxd' || kind === 'imdb') return carried(rating, STARS[kind], values);
  return Math.min(values.at(-1) ?? rating, Math.max(values[0] ?? rating, rating));
}

/** @param {string[]} head @param {string[]} cells */
function columns(head, cells) {
  const named = new Map(head.map((name, place) => [name.toLowerCase(), cells[place] ?? '']));
  return (/** @type {string} */ name) => named.get(name) ?? '';
}

/** @param {string} text */
function numeral(text) {
  const value = Number(text.replace(',', '.'));
  return text !== '' && Number.isFinite(value) ? value : null;
}

/**
 * One line of each kind of file; null where it has no rating or no film.
 * @type {Record<Kind, (cell: (name: string) => string) => Line | null>}
 */
const LINES = {
  tacit: (cell) => {
    const rating = numeral(cell('rating'));
    if (rating === null || !cell('item')) return null;
    return { id: cell('item'), title: cell('item'), year: null, rating };
  },
  letterboxd: (cell) => {
    const rating = numeral(cell('rating'));
    if (rating === null || !cell('name')) return null;
    return { id: '', title: cell('name'), year: numeral(cell('year')), rating };
  },
  imdb: (cell) => {
    const rating = numeral(cell('your rating'));
    if (rating === null || !cell('title')) return null;
    return { id: cell('const'), title: cell('title'), year: numeral(cell('year')), rating };
  },
  netflix: (cell) =>
    cell('title') ? { id: '', title: cell('title'), year: null, rating: null } : null,
};
