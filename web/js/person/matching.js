/**
 * Films of another file in this catalogue: by id, by title and year, by title alone where only one
 * has it.
 */

import { fold } from '../search.js';

/** @typedef {import("../engine.js").Item} Item */

/** Two files may disagree by this much about when a film came out. */
const YEARS_APART = 1;

export class Matcher {
  /** @type {Map<string, number>} */
  #ids = new Map();
  /** @type {Map<string, number[]>} */
  #titles = new Map();

  /** @type {Item[]} */
  items = [];

  /** The next film of the catalogue. @param {Item} item */
  add(item) {
    const row = this.items.push(item) - 1;
    this.#ids.set(item.id, row);
    const key = plain(item.title);
    const rows = this.#titles.get(key);
    if (rows) rows.push(row);
    else this.#titles.set(key, [row]);
  }

  /**
   * The place of a film, or null.
   * @param {{id: string, title: string, year: number | null}} line
   * @param {boolean} episodes whether a title may go on with a season and an episode
   */
  match({ id, title, year }, episodes) {
    const known = this.#ids.get(id);
    if (known !== undefined) return known;
    const [bare, told] = yearOf(title, year);
    const whole = this.#byTitle(bare, told);
    if (whole !== null || !episodes) return whole;
    const series =
      bare.split(/: (?=season|series|part|volume|limited|episode|chapter)/i)[0] ?? bare;
    return series === bare ? null : this.#byTitle(series, told);
  }

  /** @param {string} title @param {number | null} year */
  #byTitle(title, year) {
    const rows = this.#titles.get(plain(title)) ?? [];
    if (year === null) return rows.length === 1 ? (rows[0] ?? null) : null;
    const apart = (/** @type {number} */ row) => Math.abs((this.items[row]?.year ?? year) - year);
    const near = rows
      .filter((row) => apart(row) <= YEARS_APART)
      .sort((one, other) => apart(one) - apart(other));
    return near[0] ?? null;
  }
}

/**
 * "Alien (1979)" says its year.
 * @param {string} title
 * @param {number | null} year
 * @returns {[string, number | null]}
 */
function yearOf(title, year) {
  const told = /^(.*?)\s*\((\d{4})\)$/.exec(title);
  return told ? [told[1] ?? title, year ?? Number(told[2])] : [title, year];
}

/** A title without its article, wherever that stands: "Godfather, The". @param {string} title */
function plain(title) {
  const folded = fold(title.replace(/^(.*), (the|a|an)$/i, '$2 $1'));
  return folded.replace(/^(the|a|an) /, '');
}
