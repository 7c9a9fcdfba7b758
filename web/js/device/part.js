/**
 * Taking part: join, pay, answer, and again, until the training is over, the cap is reached, or the
 * person switches it off.
 */

import { within } from '../person/database.js';
import { Cut } from '../net.js';
import { NOTHING, epsilonOf, plus, price } from './account.js';
import { checked, upload, words } from './answer.js';
import { readBook, readMember, write } from './book.js';
import { Bits } from './coins.js';
import { sha } from './keys.js';
import { Away, Link, Refused, Server, signedTask } from './link.js';
import { mixed } from './numbers.js';
import { Agreed } from './task.js';
import { frame, unframed, utf8 } from './wire.js';

/** @typedef {import("./book.js").Member} Member */
/** @typedef {import("./book.js").Book} Book */
/** @typedef {import("./solve.js").Person} Person */
/** @typedef {import("../person/store.js").Rating} Rating */

/** On a cap, for rounding. */
const SLACK = 1 + 1e-9;
/** Milliseconds before a first further try, and the longest pause. */
const PAUSE = 100;
const LONGEST = 5000;
/** Smallest cohort to hide in, and the largest part of one that is believed to be honest. */
const LEAST = 2;
const HONEST = 0.95;

/**
 * A task as it is offered, with what it would cost.
 * @param {Server} recommender
 */
export async function offered(recommender) {
  const agreed = new Agreed(await signedTask(recommender));
  const { task } = agreed;
  const aggregator = new Server(agreed.aggregator.url, agreed.aggregator.pin);
  await aggregator.learn();
  if (!agreed.local && task.least < LEAST) throw new Error('nobody would be hidden in so few');
  const alone = agreed.noisy && !agreed.local && task.noise === 'devices';
  if (alone && task.honest > HONEST) throw new Error('it takes too many to be honest');
  /** What a person must accept explicitly. @type {("none" | "strangers")[]} */
  const accept = agreed.noisy ? (alone ? ['strangers'] : []) : ['none'];
  return { agreed, aggregator, accept };
}

/**
 * Whether a book has room for more.
 * @param {Book} book
 * @param {import("./account.js").Cost} more
 */
const hasRoom = (book, more) => epsilonOf(plus(book.spent, more), book.delta) <= book.cap * SLACK;

/**
 * This person's ratings as the task numbers its items; those of other items are left out.
 * @param {Agreed} agreed @param {Member} member @returns {Promise<Person>}
 */
export async function personOf(agreed, member) {
  const { ids, titles } = agreed.task.items;
  const { low, high, max_ratings: most } = agreed.task;
  const byId = new Map(ids.map((id, row) => [String(id), row]));
  /** @type {Map<string, number>} */
  const byTitle = new Map();
  titles?.forEach((title, row) => {
    const known = String(title).toLowerCase();
    byTitle.set(known, byTitle.has(known) ? -1 : row);
  });
  /** @type {Map<number, number>} */
  const found = new Map();
  for (const own of /** @type {Rating[]} */ (
    await within('ratings', 'readonly', (store) => store.getAll())
  )) {
    const row = byId.get(own.item) ?? byTitle.get(own.title.toLowerCase()) ?? -1;
    if (row >= 0 && own.rating >= low && own.rating <= high)
      found.set(row, (own.rating - (low + high) / 2) / ((high - low) / 4));
  }
  let rows = [...found.keys()];
  if (most != null && rows.length > most) {
    // By a secret order: never by value or time.
    const key = BigInt(`0x${member.secret.slice(0, 16)}`);
    const order = new Map(rows.map((row) => [row, mixed(BigInt(row) ^ key)]));
    rows.sort((a, b) => ((order.get(a) ?? 0n) < (order.get(b) ?? 0n) ? -1 : 1));
    rows = rows.slice(0, most);
  }
  rows.sort((a, b) => a - b);
  return {
    label: member.label,
    items: Uint32Array.from(rows),
    values: Float64Array.from(rows, (row) => found.get(row) ?? 0),
  };
}

/** Enrols where it must, and takes part. */
export class Participant {
  #stop = new AbortController();

  /** @param {(state: Record<string, any>) => void} tell what the page shows */
  constructor(tell) {
    this.tell = tell;
  }

  stop() {
    this.#stop.abort();
  }

  /** Until it is over; tells how it ended. @returns {Promise<"over" | "cap" | "off">} */
  async run() {
    const member = await readMember();
    if (!member) return 'off';
    const recommender = new Server(member.url, member.pin);
    const { agreed, aggregator, accept } = await this.#patiently(async () => {
      await recommender.learn();
      return offered(recommender);
    });
    if (aggregator.pin !== member.aggregator) throw new Error('the aggregator has changed');
    // Another task than the one whose terms were read is held to the same terms.
    if (accept.length && !member.accept) throw new Error('it promises less than was accepted');
    const book = await readBook();
    if (epsilonOf(agreed.cost, book.delta) > book.cap * SLACK) return 'cap';
    const link = new Link(recommender, aggregator, member.key);
    if (!member.enrolled) {
      await this.#patiently(() => link.enrol(member.tickets));
      member.enrolled = true;
      await write({ member });
    }
    if (member.memory?.task !== agreed.name)
      member.memory = {
        task: agreed.name,
        round: -1,
        asked: '',
        words: new Uint8Array(),
        ran: [],
        done: [-1, -1],
      };
    return this.#rounds(link, agreed, member, member.memory);
  }

  /**
   * @param {Link} link @param {Agreed} agreed @param {Member} member
   * @param {import("./book.js").Memory} memory @returns {Promise<"over" | "cap" | "off">}
   */
  async #rounds(link, agreed, member, memory) {
    const drawn = await sha(utf8('place'), utf8(member.secret), utf8(agreed.name));
    const place = Number.parseInt(drawn.slice(0, 13), 16);
    while (!this.#stop.signal.aborted) {
      this.tell({ doing: 'waiting', next: await this.#next(agreed, memory) });
      const told = await this.#patiently(() => this.#join(link, agreed, memory, place));
      if (told === null) return 'over';
      const { header, payload } = unframed(told);
      const { round } = checked(agreed, header, payload, { ...memory, place });
      this.tell({ doing: 'answering', round: header['round'] });
      const { task, nonce, key } = header;
      const terms = `${task} ${header['round']} ${nonce} ${key} ${link.key.name}`;
      const asked = await sha(utf8(terms), payload);
      if (memory.asked !== asked) {
        // Paid, durably, before any noise is drawn.
        const paid = await this.#pay(agreed.actsOf(round));
        if (!paid) return 'cap';
        const secret = await link.maskSecret(key);
        const person = await personOf(agreed, member);
        const before = { ...memory, place };
        const made = await words(agreed, person, header, payload, before, secret, new Bits());
        const ran = [...new Set([...memory.ran, round.name])];
        Object.assign(memory, { round: header['round'], asked, words: made.words, ran });
        const book = await readBook();
        book.realised = plus(book.realised, made.moved);
        book.answers++;
        await write({ member, book }); // before it is sent
      }
      const body = await upload(agreed, header, memory.words);
      const counted = await this.#deliver(link, body, header['seconds']);
      memory.done = [header['round'], header['attempt']];
      await write({ member });
      this.tell({ doing: 'answered', round: header['round'], bytes: body.length, counted });
    }
    return 'off';
  }

  /**
   * What one more round would cost, as far as it is known which.
   * @param {Agreed} agreed
   * @param {import("./book.js").Memory} memory
   */
  async #next(agreed, memory) {
    const index = Math.min(memory.round + 1, agreed.rounds.length - 1);
    const round = agreed.rounds[index];
    const book = await readBook();
    const more = (round ? agreed.actsOf(round) : []).map((act) => price(act, 1));
    const after = epsilonOf(more.reduce(plus, book.spent), book.delta);
    return {
      round: index,
      bytes: agreed.bytes(index),
      epsilon: after - epsilonOf(book.spent, book.delta),
    };
  }

  /** @param {import("./account.js").Act[]} acts */
  async #pay(acts) {
    const book = await readBook();
    const more = acts.map((act) => price(act, 1)).reduce(plus, NOTHING);
    if (!hasRoom(book, more)) return false;
    book.spent = plus(book.spent, more);
    await write({ book });
    return true;
  }

  /**
   * @param {Link} link
   * @param {Agreed} agreed
   * @param {import("./book.js").Memory} memory
   * @param {number} place
   */
  async #join(link, agreed, memory, place) {
    const header = {
      task: agreed.name,
      stamp: 0,
      done: memory.done,
      place,
      holds: 0,
      items: false,
    };
    const body = frame(header, undefined, { stamp: link.stamp() });
    try {
      return await link.call(link.recommender, '/v1/join', body, 'join', {}, this.#stop.signal);
    } catch (error) {
      if (!(error instanceof Refused)) throw error;
      if (error.status === 410 && !/stopped|sits out/.test(error.message)) return null;
      if (error.status === 409) throw new Away('two requests crossed');
      throw error;
    }
  }

  /**
   * Until it is counted, or too late: the same bytes again are always safe.
   * @param {Link} link
   * @param {import("./wire.js").Bytes} body
   * @param {number} seconds
   */
  async #deliver(link, body, seconds) {
    const until = Date.now() + 1000 * seconds;
    try {
      await this.#patiently(
        () => link.call(link.aggregator, '/v1/upload', body, 'answer'),
        () => Date.now() > until,
      );
      return true;
    } catch (error) {
      if (error instanceof Refused && error.status === 409) return true;
      if (error instanceof Away) return false;
      if (error instanceof Refused && [404, 410].includes(error.status)) return false;
      throw error;
    }
  }

  /**
   * Again and again while a server is away or the network is cut.
   * @template T
   * @param {() => Promise<T>} act @param {() => boolean} [late]
   * @returns {Promise<T>}
   */
  async #patiently(act, late = () => false) {
    for (let pause = PAUSE; ; pause = Math.min(2 * pause, LONGEST)) {
      try {
        return await act();
      } catch (error) {
        if (this.#stop.signal.aborted) throw new Off();
        const passing = error instanceof Away || error instanceof Cut;
        if (!passing || late()) throw error;
        this.tell({ doing: error instanceof Cut ? 'cut' : 'away' });
      }
      await new Promise((resolve) => {
        setTimeout(resolve, pause);
        this.#stop.signal.addEventListener('abort', resolve, { once: true });
      });
      if (this.#stop.signal.aborted) throw new Off();
    }
  }
}

/** The person switched it off. */
export class Off extends Error {}
