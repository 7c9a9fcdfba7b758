/**
 * A task as this device believes it: its rounds and layouts follow from the task by this page's own
 * code, and the announced noise is believed only where it covers what this page adds.
 */

import { costOf } from './account.js';
import { answers } from './answers.js';
import { sensitivity } from './bound.js';
import { federated } from './factors.js';
import { bias, popularity } from './rounds.js';
import { layout, layoutsText, packedSize, text } from './wire.js';

/** @typedef {import("./account.js").Act} Act */
/** @typedef {import("./rounds.js").Round} Round */
/** @typedef {import("./rounds.js").Part} Part */
/**
 * @typedef {object} Task
 * @property {string} method
 * @property {Record<string, any>} settings
 * @property {number} seed
 * @property {string} unit
 * @property {"sound" | "paper" | "none"} calibration
 * @property {number | null} epsilon
 * @property {number} delta
 * @property {number} low
 * @property {number} high
 * @property {number} people
 * @property {number | null} max_ratings
 * @property {import("./design.js").Items} items
 * @property {number} cohort
 * @property {number} least
 * @property {number} honest
 * @property {number} groups
 * @property {"servers" | "devices" | "both"} noise
 * @property {number} seconds
 * @property {string} purpose
 */

const METHODS = {
  popularity,
  bias,
  'mf-federated': federated,
  'one-bit': answers,
  'one-bit-projected': answers,
  'one-bit-naive': answers,
};
const LOCAL = /^one-bit/;
/** Parts of a step in which servers say their noise. */
const FINE = 2 ** 20;
/** Deviations of noise that a word leaves room for; more for a long tail. */
const REACH = 10;
const LONG_REACH = 40;
/** Rounding that an announced sensitivity may be off by. */
const CLOSE = 1 - 1e-12;

/** A task with all that follows from it. */
export class Agreed {
  /** @param {Uint8Array} body of the signed answer */
  constructor(body) {
    const facts = JSON.parse(text(body));
    this.name = String(facts.name);
    this.aggregator = { url: String(facts.aggregator.url), pin: String(facts.aggregator.identity) };
    /** @type {Task} */
    const task = (this.task = facts.task);
    this.local = LOCAL.test(task.method);
    const plan = METHODS[/** @type {keyof typeof METHODS} */ (task.method)];
    if (!plan) throw new Error(`this page does not know the method ${task.method}`);
    if (task.unit !== 'user' || task.calibration === 'paper')
      throw new Error('this page takes part only where whole persons are protected');
    if (task.calibration === 'none' && task.method === 'mf-federated')
      throw new Error('without noise, mf-federated shows who rated what');
    /** @type {Round[]} */
    this.rounds = plan(task);
    /** @type {Map<string, Act>} */
    this.acts = new Map(facts.events.map((/** @type {Act} */ act) => [act.name, act]));
    /** Whether anything is promised. */
    this.noisy = task.calibration === 'sound';
    this.#check();
    this.cost = costOf([...this.acts.values()]);
    this.layouts = this.rounds.map((round) => round.parts.map((part) => this.#layout(round, part)));
  }

  /** The act of a part, if the task has noise. @param {Round} round @param {Part} part */
  act(round, part) {
    return this.acts.get(`${round.name}/${part.name}`);
  }

  /** Acts of one answer to a round, each once. @param {Round} round */
  actsOf(round) {
    return round.parts.flatMap((part) => this.act(round, part) ?? []);
  }

  /** Shares that suffice. */
  get enough() {
    return Math.max(1, Math.floor(this.task.honest * this.task.least + 1e-9));
  }

  get devicesAdd() {
    return this.local || this.task.noise !== 'servers';
  }

  /** What the layouts of a round are known by. @param {number} index */
  told(index) {
    return layoutsText(this.layouts[index] ?? []);
  }

  /** Bytes of one answer to a round, whatever was rated. @param {number} index */
  bytes(index) {
    return (this.layouts[index] ?? []).reduce(
      (all, { size, width, bits }) => all + packedSize(size * width, bits),
      0,
    );
  }

  /** Refuses noise that does not cover what this page would add. */
  #check() {
    const parts = this.rounds.flatMap((round) => round.parts.map((part) => ({ round, part })));
    if (this.acts.size !== (this.noisy ? parts.length : 0))
      throw new Error('the announced acts are not those of this plan');
    for (const { round, part } of this.noisy ? parts : []) {
      const act = this.act(round, part);
      if (!act || !this.#covers(act, part))
        throw new Error('the announced noise does not cover what this device would add');
    }
  }

  /** @param {Act} act @param {Part} part */
  #covers(act, part) {
    if ((act.sampled ?? 1) !== 1) return false;
    if (!part.bound) {
      const { choices = 0, favoured = 0 } = act;
      return act.kind === 'choice' && choices <= 128 && choices % 2 === 0 && favoured < choices;
    }
    const { l1, l2 } = sensitivity(part.bound);
    const moved = Number(act.sensitivity);
    if (act.draws !== part.size * part.width) return false;
    if (act.kind === 'laplace') return moved >= l1 * CLOSE && Number(act.scale) > 0;
    if (act.kind === 'gaussian') return moved >= l2 * CLOSE && Number(act.sigma) >= 16;
    const most = Math.min(l1, l2 * Math.sqrt(act.draws), l2 * l2);
    const shared = act.kind === 'skellam' && !this.local;
    const enough = Number(act.l1) >= most * CLOSE && Number(act.variance) >= 1;
    return shared && moved >= l2 * CLOSE && enough;
  }

  /** What each server adds to a sum. @param {Act | undefined} act */
  #serverNoise(act) {
    if (!act || this.local || this.task.noise === 'devices') return { law: '', spread: 0 };
    return { law: act.kind, spread: whole(act) };
  }

  /** @param {Round} round @param {Part} part */
  #layout(round, part) {
    const { name, size, width, bound } = part;
    if (!bound) return layout({ name, size: 1, width: 2, bits: 64, report: true });
    const act = this.act(round, part);
    const { law, spread } = this.#serverNoise(act);
    const { l1, l2 } = sensitivity(bound);
    const { cohort } = this.task;
    const reach = act?.kind === 'laplace' ? LONG_REACH : REACH;
    const span = cohort * Math.min(l1, l2) + reach * Math.sqrt(this.#variance(act, cohort));
    return layout({ name, size, width, bits: wordBits(span), law, spread });
  }

  /**
   * Of all noise on a number of a full cohort's sum.
   * @param {Act | undefined} act
   * @param {number} many
   */
  #variance(act, many) {
    if (!act) return 0;
    if (this.local) {
      const one = act.kind === 'laplace' ? 2 * Number(act.scale) ** 2 : Number(act.sigma) ** 2;
      return one * many;
    }
    const one = variance(act);
    const servers = this.task.noise === 'devices' ? 0 : 2 * one;
    return servers + (this.devicesAdd ? (one * many) / this.enough : 0);
  }
}

/**
 * Bits of a word that holds sums up to `span`, with room to see one beyond.
 * @param {number} span
 */
function wordBits(span) {
  if (!(span < 2 ** 63)) return 64;
  const exact = Math.max(
    8,
    Math.trunc(span) === 0 ? 1 : BigInt(Math.trunc(span)).toString(2).length + 1,
  );
  return Math.min(exact <= 32 ? 32 : 64, exact + 2);
}

/** What a server says of its noise, as a whole number. @param {Act} act */
function whole(act) {
  if (act.kind === 'skellam') return Math.ceil(Number(act.variance));
  return Math.ceil(Number(act.kind === 'laplace' ? act.scale : act.sigma) * FINE);
}

/** @param {Act} act */
function variance(act) {
  if (act.kind === 'skellam') return whole(act);
  return (act.kind === 'laplace' ? 2 : 1) * (whole(act) / FINE) ** 2;
}
