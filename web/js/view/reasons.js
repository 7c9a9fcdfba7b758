/**
 * Reasons in words that a person believes: what of her own ratings speaks for a film, and by how
 * much.
 */

import { clean } from '../dom.js';
import { likedFrom } from '../scale.js';
import { signed, texts } from '../text.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {{name: string, amount: number, code?: string}} Taste */
/**
 * @typedef {{baseline: number, popularity: number, own: {item: number, amount: number}[], tastes:
 *   Taste[], total: number}} Reasons
 */
/**
 * @typedef {{words: string, amount: number, item?: number, liked?: string, dull?: boolean}} Part
 *   liked: a title that can follow another one; dull: it tells films little apart
 */

/** Parts smaller than this, in stars, are not worth a word. */
const SLIGHT = 0.05;
/**
 * What ratings that are not named say together about any film, or in no word that the catalogue
 * has.
 */
const SHAPELESS = ['level', 'rest'];
/** Reasons in one line of the list. */
const FEW = 3;

/**
 * Everything that speaks for or against a film, strongest first.
 * @param {Home} home
 * @param {Reasons} reasons
 * @returns {Part[]}
 */
export function parts(home, reasons) {
  /** @type {Part[]} */
  const own = reasons.own.map(({ item, amount }) => {
    const words = ofOwn(home, item, amount);
    const liked = words === texts.reasons.liked(home.title(item)) ? home.title(item) : '';
    return { words, amount, item, liked };
  });
  const named = reasons.tastes.filter((taste) => !SHAPELESS.includes(taste.code ?? ''));
  const tastes = named.map((taste) => ({ words: ofTaste(taste), amount: taste.amount }));
  const others = reasons.tastes
    .filter((taste) => !named.includes(taste))
    .reduce((sum, { amount }) => sum + amount, 0);
  const rest = { words: texts.reasons.rest, amount: others, dull: true };
  const crowd = {
    words: reasons.popularity < 0 ? texts.reasons.unpopular : texts.reasons.popular,
    amount: reasons.popularity,
  };
  return [...own, ...tastes, crowd, rest].sort(
    (one, other) => Math.abs(other.amount) - Math.abs(one.amount),
  );
}

/** The few that speak loudest for it, in one line. @param {Home} home @param {Reasons} reasons */
export function inOneLine(home, reasons) {
  const all = parts(home, reasons).filter(
    ({ amount, dull }) => !dull && amount >= (home.likes ? 0 : SLIGHT),
  );
  const own = all.filter((part) => part.item !== undefined);
  const others = all.filter((part) => part.item === undefined);
  const chosen = [...own.slice(0, others.length ? FEW - 1 : FEW), ...others].slice(0, FEW);
  if (!chosen.length) return texts.reasons.everyone;
  /** @type {string[]} */
  const said = [];
  let likes = -1; // where what she liked stands: one "you liked" is enough
  for (const { words, amount, liked } of chosen) {
    const worth = home.likes ? '' : ` ${signed(amount)}`;
    if (liked && likes >= 0) said[likes] += `${texts.reasons.also}${liked}${worth}`;
    else {
      if (liked) likes = said.length;
      said.push(words + worth);
    }
  }
  return capital(said.join(texts.reasons.join));
}

/** With a large first letter. @param {string} words */
export function capital(words) {
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** @param {Home} home @param {number} item @param {number} amount */
function ofOwn(home, item, amount) {
  const title = home.title(item);
  const rating = home.own(item) ?? 0;
  const liked = rating >= likedFrom(home.about.scale);
  if (liked && amount < 0) return texts.reasons.against(title);
  if (liked) return texts.reasons.liked(title);
  const { low, high } = home.about.scale;
  return rating < (low + high) / 2 ? texts.reasons.disliked(title) : texts.reasons.middling(title);
}

/** @param {Taste} taste */
function ofTaste({ name, amount, code }) {
  if (code === 'year') return texts.reasons.year;
  return amount < 0 ? texts.reasons.below(clean(name)) : texts.reasons.above(clean(name));
}
