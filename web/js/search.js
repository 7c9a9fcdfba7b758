/**
 * Finding films as one types: words in any order, any case, with or without accents, one slip
 * allowed.
 */

import { breathe } from './dom.js';

/** @typedef {import("./engine.js").Item} Item */

/** Milliseconds of work before the page may draw again: half a frame. */
const TURN = 8;
/** Rows between two looks at the clock. */
const STEP = 64;
/** Matches that are held before all but the best of them are dropped. */
const ENOUGH = 500;
/**
 * A slip is looked for in words of this length and more: in shorter ones it would find anything.
 */
const SLIP_FROM = 4;
/** What a word is worth that begins a word of the title. */
const IN_TITLE = 4;
const MARKS = /\p{M}+/gu;
const OTHER = /[^\p{L}\p{N}]+/gu;

/**
 * Lower case without accents and punctuation: the form in which texts are compared.
 * @param {string} text
 */
export function fold(text) {
  return text
    .normalize('NFKD')
    .replace(MARKS, '')
    .toLowerCase()
    .replace(/ß/g, 'ss')
    .replace(/ø/g, 'o')
    .replace(/æ/g, 'ae')
    .replace(/ł/g, 'l')
    .replace(/&/g, ' and ')
    .replace(/['’]/g, '')
    .replace(OTHER, ' ')
    .trim();
}

export class Finder {
  /** Folded titles, each with a space at both ends. @type {string[]} */
  titles = [];
  /** Folded years and genres. @type {string[]} */
  facts = [];
  /** @type {Set<string>} */
  #words = new Set();
  #asked = 0;
  #begun = 0;

  /** Takes in a catalogue, a turn at a time. @param {Item[]} items */
  async read(items) {
    for (const item of items) {
      this.#add(item);
      if (this.titles.length % STEP === 0 && this.#tired()) await breathe();
    }
  }

  /** Whether this turn was long enough; then the next one begins. */
  #tired() {
    const now = performance.now();
    if (now - this.#begun < TURN) return false;
    this.#begun = now;
    return true;
  }

  /** @param {Item} item */
  #add(item) {
    const title = fold(item.title.slice(0, 200));
    this.titles.push(` ${title} `);
    this.facts.push(
      ` ${item.year ?? ''} ${item.genres
        .slice(0, 12)
        .map((genre) => fold(genre.slice(0, 40)))
        .join(' ')} `,
    );
    for (const word of title.split(' ')) if (word.length >= SLIP_FROM) this.#words.add(word);
  }

  /**
   * Items that fit every word of the query, best first; among equals those of more worth. Null
   * where another query came meanwhile.
   * @param {string} query @param {number} most @param {Float32Array} worth of each item
   * @returns {Promise<number[] | null>}
   */
  async find(query, most, worth) {
    this.#asked++;
    const words = fold(query.slice(0, 100)).split(' ').filter(Boolean).slice(0, 8);
    if (!words.length) return [];
    const exact = await this.#match(
      words.map((word) => [word]),
      words.join(' '),
      most,
      worth,
    );
    if (!exact || exact.length) return exact;
    const near = words.map((word) => [word, ...this.#near(word)]);
    return this.#match(near, words.join(' '), most, worth);
  }

  /**
   * @param {string[][]} wanted for each word of the query its forms
   * @param {string} whole
   * @param {number} most
   * @param {Float32Array} worth
   */
  async #match(wanted, whole, most, worth) {
    const asked = this.#asked;
    /** @type {{row: number, score: number}[]} */
    const found = [];
    const cut = () => {
      found.sort(
        (one, other) =>
          other.score - one.score ||
          (worth[other.row] ?? 0) - (worth[one.row] ?? 0) ||
          one.row - other.row,
      );
      found.splice(most);
    };
    this.#begun = performance.now();
    for (let row = 0; row < this.titles.length; row++) {
      const score = this.#score(row, wanted, whole);
      if (score > 0) found.push({ row, score });
      if (found.length > ENOUGH) cut();
      if (row % STEP || !this.#tired()) continue;
      await breathe();
      if (asked !== this.#asked) return null;
    }
    cut();
    return found.map(({ row }) => row);
  }

  /** @param {number} row @param {string[][]} wanted @param {string} whole */
  #score(row, wanted, whole) {
    const title = this.titles[row] ?? '';
    const facts = this.facts[row] ?? '';
    let score = 0;
    let inTitle = 0;
    for (const forms of wanted) {
      let best = 0;
      for (const form of forms) best = Math.max(best, fit(title, facts, form));
      if (!best) return 0;
      score += best;
      if (best >= IN_TITLE) inTitle++;
    }
    // The more of a title is named the better.
    if (inTitle) score += inTitle / (title.split(' ').length - 2);
    if (title === ` ${whole} ` || title === ` the ${whole} `) score += 20;
    else if (title.startsWith(` ${whole}`) || title.startsWith(` the ${whole}`)) score += 8;
    return score;
  }

  /** Words of titles that are one slip away from a word. @param {string} word */
  #near(word) {
    if (word.length < SLIP_FROM) return [];
    const near = [];
    for (const other of this.#words) {
      if (Math.abs(other.length - word.length) <= 1 && oneSlip(word, other)) near.push(other);
      if (near.length >= 12) break;
    }
    return near;
  }
}

/** @param {string} title @param {string} facts @param {string} word */
function fit(title, facts, word) {
  if (title.includes(` ${word} `)) return IN_TITLE + 1;
  if (title.includes(` ${word}`)) return IN_TITLE;
  if (facts.includes(` ${word}`)) return 2;
  return word.length > 2 && title.includes(word) ? 1 : 0;
}

/**
 * Whether two words differ by one letter put in, left out, changed or exchanged with its neighbour.
 * @param {string} one
 * @param {string} other
 */
export function oneSlip(one, other) {
  let start = 0;
  while (start < one.length && one[start] === other[start]) start++;
  let end = 0;
  const room = Math.min(one.length, other.length) - start;
  while (end < room && one[one.length - 1 - end] === other[other.length - 1 - end]) end++;
  const left = one.slice(start, one.length - end);
  const right = other.slice(start, other.length - end);
  if (left.length <= 1 && right.length <= 1) return true;
  return left.length === 2 && right.length === 2 && left[0] === right[1] && left[1] === right[0];
}
