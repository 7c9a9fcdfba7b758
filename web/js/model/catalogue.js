/** The public side of the items: ids, titles, years, genres. Texts stay texts. */

import { ModelError, finite, list, record, text } from './check.js';

/** @typedef {{id: string, title: string, year: number | null, genres: string[]}} Item */

const MOST = { items: 1_000_000, tags: 5000, each: 200, title: 500 };

/**
 * @param {unknown} given  the JSON of `/catalogue`, parsed or not
 * @returns {{digest: string, items: Item[], tags: string[], tagged: number[][]}}
 */
export function readCatalogue(given) {
  const facts = record(typeof given === 'string' ? parsed(given) : given, 'catalogue');
  const ids = list(facts.ids, 'list of items', MOST.items);
  const titles = facts.titles ? listed(facts.titles, 'titles', ids.length) : ids;
  const years = facts.years ? listed(facts.years, 'years', ids.length) : [];
  const tags = list(facts.tags ?? [], 'genres', MOST.tags).map((tag) => text(tag, 'genre', 100));
  const tagged = (
    facts.tagged ? listed(facts.tagged, 'genres of items', ids.length) : ids.map(() => [])
  ).map((row) =>
    list(row, 'genres of an item', MOST.each).map((tag) => {
      const place = finite(tag, 'genre', 0, tags.length - 1);
      if (!Number.isInteger(place)) throw new ModelError("the model's genres are no places");
      return place;
    }),
  );
  const items = ids.map((id, row) => {
    const year = years.length ? finite(years[row], 'year', -1e5, 1e5) : 0;
    return {
      id: text(id, 'id', MOST.title),
      title: bareTitle(text(titles[row], 'title', MOST.title), year),
      year: year > 0 ? year : null,
      genres: tagged[row].map((tag) => tags[tag]),
    };
  });
  return { digest: text(facts.digest, 'digest', 200), items, tags, tagged };
}

/** @param {string} words @returns {unknown} */
function parsed(words) {
  try {
    return JSON.parse(words);
  } catch {
    throw new ModelError('the catalogue does not parse');
  }
}

/** @param {unknown} value @param {string} what @param {number} length */
function listed(value, what, length) {
  const found = list(value, what, MOST.items);
  if (found.length !== length) throw new ModelError(`the model's ${what} do not fit its items`);
  return found;
}

/**
 * `Matrix, The (1999)` -> `The Matrix`: the year has a place of its own.
 * @param {string} title @param {number} year
 */
function bareTitle(title, year) {
  let bare = title.trim();
  if (year > 0 && bare.endsWith(`(${year})`)) bare = bare.slice(0, -`(${year})`.length).trim();
  for (const article of ['The', 'A', 'An']) {
    if (bare.endsWith(`, ${article}`)) bare = `${article} ${bare.slice(0, -article.length - 2)}`;
  }
  return bare || title;
}
