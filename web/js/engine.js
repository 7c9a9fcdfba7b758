/**
 * The page's side of the worker: questions as promises, a watchman for a model that never answers.
 */

import { takeWorker } from './helper.js';

/**
 * @typedef {{item: number, rating: number, error: number, low: number, high: number, score:
 *   number}} Ranked
 */
/** @typedef {{id: string, title: string, year: number | null, genres: string[]}} Item */
/**
 * @typedef {object} About
 * @property {string} name
 * @property {string} method
 * @property {string} kind
 * @property {string} digest
 * @property {{low: number, high: number}} scale
 * @property {any} positive
 * @property {number} count
 * @property {string} folder below the page's own address
 * @property {boolean} taste whether lists go by one's own taste more than by what all think
 */
/**
 * @typedef {object} Expected of every film, by one set of ratings
 * @property {Float32Array} rating @property {Float32Array} low @property {Float32Array} high
 */
/**
 * @typedef {{resolve: (value: any) => void, reject: (error: Error) => void, timer: number}} Waiting
 */

/**
 * Longest silence, in milliseconds, after which a worker is stopped: a hundred times a slow answer.
 */
const PATIENCE = 15_000;
/** A first load may come over a slow line. */
const LOAD_PATIENCE = 180_000;

/** Thrown when the worker was stopped because it did not answer. */
export class TooLong extends Error {}

export class Engine {
  /** @type {Item[]} */
  items = [];
  /** @type {About | null} */
  about = null;
  #worker = takeWorker();
  /** @type {Map<number, Waiting>} */
  #waiting = new Map();
  #next = 1;
  /** The update under way, and the one that waits for it: older ones are dropped. @type {any} */
  #queued = null;
  busy = false;

  constructor() {
    this.#worker.addEventListener('message', ({ data }) => this.#hear(data));
    this.#worker.addEventListener('error', () => this.stop(new Error('the worker failed')));
  }

  /**
   * Takes in the model that the worker fetches, and its catalogue.
   * @returns {Promise<About>}
   */
  async load() {
    await this.ask('load', null, LOAD_PATIENCE);
    if (!this.about) throw new Error('no model came');
    return this.about;
  }

  /** @param {string} what @param {any} given @param {number} [patience] @returns {Promise<any>} */
  ask(what, given, patience = PATIENCE) {
    const id = this.#next++;
    return new Promise((resolve, reject) => {
      const timer = window.setTimeout(() => this.stop(new TooLong('no answer')), patience);
      this.#waiting.set(id, { resolve, reject, timer });
      this.#worker.postMessage({ id, what, given });
    });
  }

  /**
   * Asks for a new view; while one is under way only the newest wish is kept, so a slider never
   * queues.
   * @param {"update" | "rank"} what
   * @param {any} given
   * @param {(list: Ranked[]) => void} show
   */
  async refresh(what, given, show) {
    const earlier = this.#queued;
    this.#queued =
      earlier?.what === 'update' && what === 'rank'
        ? { ...earlier, given: { ...earlier.given, rank: given } }
        : { what, given, show };
    if (this.busy) return;
    this.busy = true;
    try {
      while (this.#queued) {
        const wish = this.#queued;
        this.#queued = null;
        wish.show(await this.ask(wish.what, wish.given));
      }
    } finally {
      this.busy = false;
    }
  }

  /** Ends the worker; whoever waits is told. @param {Error} reason */
  stop(reason) {
    this.#worker.terminate();
    for (const { reject, timer } of this.#waiting.values()) {
      clearTimeout(timer);
      reject(reason);
    }
    this.#waiting.clear();
  }

  /** @param {any} data */
  #hear(data) {
    if (data.event === 'model') this.about = data.about;
    if (data.event === 'items') this.items.push(...data.items);
    const waiting = this.#waiting.get(data.id);
    if (!waiting) return;
    this.#waiting.delete(data.id);
    clearTimeout(waiting.timer);
    if (data.error) waiting.reject(new Error(data.error));
    else waiting.resolve(data.answer);
  }
}
