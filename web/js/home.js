/**
 * What the views share: the catalogue, the person's ratings, what follows from them, and the wishes
 * for the list.
 */

import { announce, clean } from './dom.js';
import { valuesOf } from './scale.js';
import { Finder } from './search.js';
import { wording } from './stars.js';
import { texts } from './text.js';

/** @typedef {import("./engine.js").Engine} Engine */
/** @typedef {import("./engine.js").Item} Item */
/** @typedef {import("./engine.js").Expected} Expected */
/** @typedef {import("./engine.js").Ranked} Ranked */
/** @typedef {{key: string, list: Ranked[] | null}} Foreseen what was asked, and the answer */
/** @typedef {import("./person/store.js").Store} Store */
/** @typedef {import("./person/store.js").Rating} Rating */

/** Films in the list at first, and more at each wish for more. */
export const PAGE = 12;

/**
 * Emits `view` when the list is new, then `own` where ratings are, and `all` when what is expected
 * of every film is; `film` to open one.
 */
export class Home extends EventTarget {
  /** Places in the catalogue by id. @type {Map<string, number>} */
  rows = new Map();
  finder = new Finder();
  /** @type {Ranked[]} */
  list = [];
  /** @type {Expected} */
  expected = { rating: new Float32Array(), low: new Float32Array(), high: new Float32Array() };
  /** 0 is safe, 1 explores; the middle is neutral. */
  explore = 0.5;
  /** @type {string | null} */
  genre = null;
  shown = PAGE;
  #changes = 0;
  /** @type {Foreseen} */
  #next = { key: '', list: null };

  /** @param {Engine} engine @param {Store} store */
  constructor(engine, store) {
    super();
    const about = engine.about;
    if (!about) throw new Error('the model is not loaded');
    this.engine = engine;
    this.store = store;
    this.about = about;
    this.likes = Boolean(about.positive);
    this.values = valuesOf(about.scale, this.likes);
    engine.items.forEach((item, row) => this.rows.set(item.id, row));
    store.addEventListener('change', async () => {
      await this.refresh(); // the list first: the star that was pressed shows itself
      this.dispatchEvent(new Event('own'));
    });
  }

  /** @returns {Item[]} */
  get items() {
    return this.engine.items;
  }

  /** @param {number} row @returns {Item} */
  item(row) {
    return this.items[row] ?? { id: '', title: '', year: null, genres: [] };
  }

  /** The title as it may be shown. @param {number} row */
  title(row) {
    return clean(this.item(row).title);
  }

  /** Year and genres in one line. @param {number} row */
  facts(row) {
    const { year, genres } = this.item(row);
    return [year ? String(year) : '', ...genres.slice(0, 4).map(clean)].filter(Boolean).join(' · ');
  }

  /** @param {number} row @returns {number | null} */
  own(row) {
    return this.store.ratings.get(this.item(row).id)?.rating ?? null;
  }

  /** @param {number} row */
  isHidden(row) {
    return this.store.hidden.has(this.item(row).id);
  }

  /**
   * Ratings of films that the model knows, newest first, with their places.
   * @returns {{row: number, rating: Rating}[]}
   */
  rated() {
    const known = [];
    for (const rating of this.store.ratings.values()) {
      const row = this.rows.get(rating.item);
      if (row !== undefined) known.push({ row, rating });
    }
    return known.reverse();
  }

  /** @param {number} row @param {number | null} rating */
  rate(row, rating) {
    this.store.rate(this.item(row).id, rating, this.title(row));
    const place = rating === null ? 0 : this.values.indexOf(rating) + 1;
    announce(texts.stars.given(this.title(row), wording(this.values, place)));
  }

  /** @param {number} row */
  open(row) {
    this.dispatchEvent(new CustomEvent('film', { detail: row }));
  }

  /**
   * Has the list made that a rating would lead to, while the finger that gives it is still down: a
   * browser hears of no worker between a press that ended and the frame that follows it.
   * @param {number} row @param {number | null} rating
   */
  async foresee(row, rating) {
    const given = this.#given(row, rating);
    /** @type {Foreseen} */
    const next = (this.#next = { key: JSON.stringify(given), list: null });
    next.list = await this.engine.ask('foresee', given).catch(() => null);
  }

  /** New predictions and a new list, from all ratings. */
  async refresh() {
    const given = this.#given();
    const { key, list } = this.#next;
    if (!list || this.engine.busy || key !== JSON.stringify(given))
      return this.#ask('update', given);
    this.#changes++;
    this.engine.ask('adopt', null).catch(() => undefined);
    this.#show(list);
  }

  /**
   * All ratings that the model knows, newest first, and the wishes for the list.
   * @param {number} [row] that is about to get a rating @param {number | null} [coming]
   */
  #given(row, coming = null) {
    const ratings = this.rated().map(({ row, rating }) => [row, rating.rating]);
    const others = ratings.filter(([one]) => one !== row);
    return { ratings: coming ? [[row, coming], ...others] : others, rank: this.#wish() };
  }

  /** A new list from the same predictions. */
  rank() {
    return this.#ask('rank', this.#wish());
  }

  /** Whether something newer was asked since; for answers that come in pieces. */
  get changes() {
    return this.#changes;
  }

  #wish() {
    return { n: this.shown, safety: 1 - this.explore, exclude: this.#excluded() };
  }

  /** @returns {number[]} */
  #excluded() {
    const rows = [...this.store.hidden].flatMap((id) => this.rows.get(id) ?? []);
    const { genre } = this;
    if (genre !== null)
      this.items.forEach((item, row) => item.genres.includes(genre) || rows.push(row));
    return rows;
  }

  /** @param {"update" | "rank"} what @param {any} given */
  #ask(what, given) {
    this.#changes++;
    return this.engine
      .refresh(what, given, (list) => this.#show(list))
      .catch((error) => this.dispatchEvent(new CustomEvent('failed', { detail: error })));
  }

  /** @param {Ranked[]} list */
  #show(list) {
    this.list = list;
    this.dispatchEvent(new Event('view'));
    void this.#expect();
  }

  /** What is expected of all films comes after the list, and only of the newest ratings. */
  async #expect() {
    const asked = this.#changes;
    const all = await this.engine.ask('all', null).catch(() => null);
    if (!all || asked !== this.#changes) return;
    this.expected = all;
    this.dispatchEvent(new Event('all'));
  }
}
