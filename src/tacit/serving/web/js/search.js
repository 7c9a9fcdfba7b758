/**
 * Finding films as one types: words in any order, any case, with or without accents, one slip
 * allowed.
 */

import { breathe } from './dom.js';

/** @typedef {import("./engine.js").Item} Item */

/** Items folded before the page may draw again. */
const SLICE = 1500;
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

  /** Takes in a catalogue, in slices. @param {Item[]} items */
  async read(items) {
    for (let from = 0; from < items.length; from += SLICE) {
      for (const item of items.slice(from, from + SLICE)) this.#add(item);
      await breathe();
    }
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
   * Items that fit every word of the query, best first; among equals those of more worth.
   * @param {string} query @param {number} most @param {Float32Array} worth of each item
   * @returns {number[]}
   */
  find(query, most, worth) {
    const words = fold(query.slice(0, 100)).split(' ').filter(Boolean).slice(0, 8);
    if (!words.length) return [];
    const exact = this.#match(
      words.map((word) => [word]),
      words.join(' '),
      most,
      worth,
    );
    if (exact.length) return exact;
    const near = words.map((word) => [word, ...this.#near(word)]);
    return this.#match(near, words.join(' '), most, worth);
  }

  /**
   * @param {string[][]} wanted for each word of the query its forms
   * @param {string} whole
   * @param {number} most
   * @param {Float32Array} worth
   */
  #match(wanted, whole, most, worth) {
    /** @type {{row: number, score: number}[]} */
    const found = [];
    for (let row = 0; row < this.titles.length; row++) {
      const score = this.#score(row, wanted, whole);
      if (score > 0) found.push({ row, score });
    }
    found.sort(
      (one, other) =>
        other.score - one.score ||
        (worth[other.row] ?? 0) - (worth[one.row] ?? 0) ||
        one.row - other.row,
    );
    return found.slice(0, most).map(({ row }) => row);
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
