/** One answer to one announcement: checked, computed, noised, masked (sections 6 and 7). */

import { NOTHING, plus, price, realised } from './account.js';
import { integers } from './bound.js';
import { choose } from './choice.js';
import { mask, roundKey, sha } from './keys.js';
import { ownGaussian, ownLaplace, polya, skellam } from './noise.js';
import { State } from './rounds.js';
import { chained, frame, packed, tensors } from './wire.js';

/** @typedef {import("./wire.js").Bytes} Bytes */
/** @typedef {import("./wire.js").Header} Header */
/** @typedef {import("./account.js").Act} Act */
/** @typedef {import("./account.js").Cost} Cost */
/** @typedef {import("./task.js").Agreed} Agreed */
/** @typedef {import("./solve.js").Person} Person */
/**
 * What was done so far in a task: the last round, the names of all, this device's place.
 * @typedef {{round: number, ran: string[], place: number}} Before
 */

/** Least part of a Laplace draw that a share is rounded up to. */
const LEAST_PART = 2 ** -40;
/** Rounds of which one device takes so many turns as were priced. */
const TURNS = /^factors /;

/** The next float above a positive one. @param {number} x */
function above(x) {
  const view = new DataView(new ArrayBuffer(8));
  view.setFloat64(0, x);
  view.setBigInt64(0, view.getBigInt64(0) + 1n);
  return view.getFloat64(0);
}

/**
 * The round of an announcement, if it is one of this task on its terms, with its public state. What
 * is refused here is refused whatever this person rated.
 * @param {Agreed} agreed @param {Header} told @param {Bytes} payload @param {Before} before
 */
export function checked(agreed, told, payload, before) {
  const { task } = agreed;
  const round = agreed.rounds[told['round']];
  if (told['task'] !== agreed.name || !round) throw new Error('a round of another task');
  if (told['round'] < before.round) throw new Error('a round before one that was answered');
  if (told['least'] !== task.least || told['joined'] < task.least || told['since'])
    throw new Error('the announced cohort is not the one of the task');
  if (!agreed.local && told['enough'] > Math.floor(task.honest * task.least + 1e-9))
    throw new Error('the announced noise is not the one of the task');
  const { slice, turn } = round;
  if (slice) {
    const place = before.place % slice.of;
    if (place < slice.index || place >= slice.index + slice.width)
      throw new Error('a round for other people');
  }
  const taken = before.ran.filter((name) => TURNS.test(name) && name !== round.name);
  if (turn && TURNS.test(round.name) && taken.length >= turn.most)
    throw new Error('more turns than the plan has priced');
  const items = task.items.ids.length;
  return { round, state: new State(tensors(payload), round.needs, items) };
}

/**
 * The words of an answer, and what they really cost. The caller has paid.
 * @param {Agreed} agreed @param {Person} person @param {Header} told
 * @param {Bytes} payload @param {Before} before @param {Bytes} secret
 * @param {import("./coins.js").Bits} bits
 * @returns {Promise<{words: Bytes, moved: Cost}>}
 */
export async function words(agreed, person, told, payload, before, secret, bits) {
  const { round, state } = checked(agreed, told, payload, before);
  const key = await roundKey(secret, told, await sha(payload));
  const [first] = round.parts;
  const given = round.contribute(person, state, first && agreed.act(round, first));
  let moved = NOTHING;
  const out = [];
  for (const [index, layout] of (agreed.layouts[told['round']] ?? []).entries()) {
    const part = round.parts[index];
    const lines = given[layout.name];
    if (!part || !lines) throw new Error('a part without a contribution');
    const act = agreed.act(round, part);
    if (!part.bound) {
      if (!act) throw new Error('a report without noise');
      moved = plus(moved, price(act, 1));
      const answer = choose(/** @type {any} */ (act), lines.values, bits);
      out.push(new Uint8Array(BigInt64Array.of(BigInt(person.label), BigInt(answer)).buffer));
      continue;
    }
    const whole = integers(part.bound, lines, part.size, part.width);
    const own = act && realised(act, whole);
    if (own) moved = plus(moved, price(own, 1));
    const noise = drawn(agreed, act, whole.length, bits);
    if (noise) noise.forEach((k, i) => (whole[i] = (whole[i] ?? 0) + k));
    const stream = await mask(key, layout.name, whole.length * (layout.bits > 32 ? 8 : 4));
    out.push(masked(whole, layout.bits, stream));
  }
  return { words: chained(out), moved };
}

/**
 * What this device adds to a part.
 * @param {Agreed} agreed
 * @param {Act | undefined} act
 * @param {number} count
 * @param {import("./coins.js").Bits} bits
 */
function drawn(agreed, act, count, bits) {
  if (!act || !agreed.devicesAdd) return null;
  const { enough, local } = agreed;
  if (act.kind === 'skellam') return skellam(count, above(Number(act.variance) / enough), bits);
  if (local && act.kind === 'gaussian') return ownGaussian(count, Number(act.sigma), bits);
  if (local) return ownLaplace(count, Number(act.scale), bits);
  if (act.kind !== 'laplace') throw new Error('noise that cannot be shared');
  const part = enough > 1 ? Math.max(above(1 / enough), LEAST_PART) : 1;
  return polya(count, part, Number(act.scale), bits);
}

/**
 * Integers and mask, added modulo 2^bits, without gaps.
 * @param {Float64Array} whole @param {number} bits @param {ArrayBuffer} stream
 */
function masked(whole, bits, stream) {
  if (bits > 32) {
    const words = new BigUint64Array(stream).map((word, i) =>
      BigInt.asUintN(bits, word + BigInt(whole[i] ?? 0)),
    );
    return packed(words, bits);
  }
  // Modulo 2^32 first: a float holds the sum of two such words exactly.
  const words = Float64Array.from(
    new Uint32Array(stream),
    (word, i) => (word + ((whole[i] ?? 0) >>> 0)) % 2 ** bits,
  );
  return packed(words, bits);
}

/** The whole message. @param {Agreed} agreed @param {Header} told @param {Bytes} words */
export async function upload(agreed, told, words) {
  const { task, round, attempt, ticket } = told;
  const layouts = (await sha(agreed.told(round))).slice(0, 32);
  const { least } = agreed.task;
  return frame({ task, round, attempt, least, ticket, rows: [], layouts }, words);
}
