/**
 * The language of the page: one file of texts for each. A new one is a file beside `en.js` and its
 * name here.
 */

import { texts as english } from '../texts/en.js';

/** @typedef {typeof english} Texts */

/** @type {Record<string, () => Promise<{texts: Texts}>>} */
const OTHERS = {};

/** The texts in use: one object, which another language fills anew. @type {Texts} */
export const texts = { ...english };

/** Takes the first language of the reader that the page knows. */
export async function chooseLanguage() {
  for (const wanted of navigator.languages) {
    const code = wanted.slice(0, 2).toLowerCase();
    if (code === 'en') break;
    const other = OTHERS[code];
    if (!other) continue;
    Object.assign(texts, (await other()).texts);
    document.documentElement.lang = code;
    break;
  }
}

/**
 * How the language writes numbers, by their digits: made once, as making one takes longer than a
 * whole row of the list.
 * @type {Intl.NumberFormat[]}
 */
const formats = [];

/**
 * A number with a fixed count of digits, as the language writes it.
 * @param {number} value
 * @param {number} digits
 */
export function number(value, digits = 0) {
  formats[digits] ??= new Intl.NumberFormat(texts.language, {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
  return formats[digits].format(value);
}

/** A number of points with its sign. @param {number} value */
export function signed(value) {
  const rounded = Math.round(value * 10) / 10;
  return `${rounded < 0 ? '−' : '+'}${number(Math.abs(rounded), 1)}`;
}

/** A share as per cent. @param {number} share @param {number} digits */
export function percent(share, digits = 0) {
  return `${number(100 * share, digits)}\u00a0%`;
}

/** A count of bytes for a table. @param {number} count */
export function shortBytes(count) {
  return count < 1000 ? `${number(count)} B` : bytes(count);
}

/** A count of bytes in words. @param {number} count */
export function bytes(count) {
  if (count < 1000) return texts.bytes(number(count), count);
  if (count < 1e6) return `${number(count / 1e3, count < 1e4 ? 1 : 0)} kB`;
  return `${number(count / 1e6, 1)} MB`;
}

/** A small chance as "1 in a million". @param {number} value */
export function chance(value) {
  return value > 0 ? texts.promise.oneIn(number(Math.round(1 / value))) : texts.promise.noChance;
}
