/**
 * The device's conversation with both servers: what it sends carries its MAC, what it hears is
 * checked against the identities that it knows (sections 3 and 4 of `docs/protocol.md`).
 */

import { send } from '../net.js';
import { believed, exchanged, signedBy, tag } from './keys.js';
import { text, utf8 } from './wire.js';

/** @typedef {import("./wire.js").Bytes} Bytes */
/** @typedef {import("./keys.js").OwnKey} OwnKey */
/** @typedef {"task" | "enrol" | "join" | "answer"} Why */

/** Refusals that are worth another try: slow, no round yet, too many. */
const PASSING = [408, 425, 429];
const MOST_REASON = 300;
/** What may be shown of a server's words. */
const PLAIN = /^[\x20-\x7e]*$/;

/** A server did not answer, or not yet. */
export class Away extends Error {}

/** A server turned a message down for good. */
export class Refused extends Error {
  /** @param {number} status @param {string} reason */
  constructor(status, reason) {
    super(reason || `a server refused (${status})`);
    this.status = status;
  }
}

/**
 * @param {string} url @param {string} path @param {RequestInit} options @param {Why} why
 * @returns {Promise<{status: number, headers: Headers, body: Bytes}>}
 */
async function fetched(url, path, options, why) {
  try {
    const response = await send(new URL(path, url), options, why);
    const body = new Uint8Array(await response.arrayBuffer());
    return { status: response.status, headers: response.headers, body };
  } catch (error) {
    if (error instanceof TypeError) throw new Away('no answer');
    throw error;
  }
}

/** A server as the device knows it. */
export class Server {
  /** @type {Map<string, string>} */
  keys = new Map();
  current = '';
  enrolment = '';

  /**
   * @param {string} url
   * @param {string | null} pin the identity that is known; the first one seen is kept
   */
  constructor(url, pin) {
    const { protocol, hostname } = new URL(url);
    const near = ['localhost', '127.0.0.1', '[::1]'].includes(hostname);
    if (protocol !== 'https:' && !near) throw new Error('a server without TLS');
    this.url = url;
    this.pin = pin;
  }

  /** Looks at its card of keys. */
  async learn() {
    const { status, body } = await fetched(this.url, '/v1/keys', {}, 'task');
    if (status !== 200) throw new Away(String(status));
    const card = await believed(body, this.pin);
    this.pin = card.identity;
    this.keys = card.keys;
    this.current = [...card.keys.keys()][0] ?? '';
    this.enrolment = card.enrolment;
  }
}

/** The signed task of a recommender. @param {Server} recommender */
export async function signedTask(recommender) {
  const { status, headers, body } = await fetched(recommender.url, '/v1/task', {}, 'task');
  if (status !== 200) throw new Away(String(status));
  const signature = headers.get('tacit-signature') ?? '';
  if (!(await signedBy(recommender.pin ?? '', signature, 'task', body)))
    throw new Error('the task is not signed by the recommender');
  return body;
}

export class Link {
  /** Nanoseconds by which the recommender's clock is ahead. */
  #offset = 0n;
  #last = 0n;

  /** @param {Server} recommender @param {Server} aggregator @param {OwnKey} key */
  constructor(recommender, aggregator, key) {
    if (recommender.pin === aggregator.pin)
      throw new Error('the recommender is its own aggregator: it could see every contribution');
    this.recommender = recommender;
    this.aggregator = aggregator;
    this.key = key;
  }

  /** Nanoseconds since 1970, larger than any before. */
  stamp() {
    const now = BigInt(Date.now()) * 1_000_000n + this.#offset;
    this.#last = now > this.#last ? now : this.#last + 1n;
    return this.#last;
  }

  /** What masks are keyed with, under one of the recommender's keys. @param {string} name */
  async maskSecret(name) {
    if (!this.recommender.keys.has(name)) await this.recommender.learn();
    const known = this.recommender.keys.get(name);
    if (!known) throw new Error('a round under a key that the recommender does not show');
    return (await exchanged(this.key.private, known)).mask;
  }

  /**
   * Makes this device known to both servers, each with what it asks for: never the other's.
   * @param {string[]} papers a ticket or the common token of either, empty for none
   */
  async enrol(papers) {
    for (const [place, server] of [this.recommender, this.aggregator].entries()) {
      const own = papers[place] ?? '';
      const token = server.enrolment === 'token';
      const ticket = own && !token ? { ticket: own } : {};
      const body = utf8(JSON.stringify({ public: this.key.public, ...ticket }));
      await this.call(server, '/v1/enrol', body, 'enrol', token ? { 'tacit-token': own } : {});
    }
  }

  /**
   * @param {Server} server @param {string} path @param {Bytes} body @param {Why} why
   * @param {Record<string, string>} [more] headers @param {AbortSignal} [signal]
   * @returns {Promise<Bytes>}
   */
  async call(server, path, body, why, more = {}, signal) {
    const { mac } = await exchanged(this.key.private, server.keys.get(server.current) ?? '');
    const own = await tag(mac, 'request', 'POST', path, body);
    const headers = {
      'content-type': 'application/octet-stream',
      'tacit-device': this.key.name,
      'tacit-key': server.current,
      'tacit-head': await tag(mac, 'head', 'POST', path, String(body.length)),
      'tacit-mac': own,
      ...more,
    };
    const options = { method: 'POST', headers, body, ...(signal ? { signal } : {}) };
    const answer = await fetched(server.url, path, options, why);
    const genuine =
      answer.headers.get('tacit-mac') === (await tag(mac, 'response', own, answer.body));
    if (answer.status === 409 && genuine) this.#learnTime(answer.body);
    if (answer.status !== 200) await this.#refused(server, answer.status, answer.body);
    if (!genuine) throw new Error('an answer that is not from the server that was known before');
    return answer.body;
  }

  /** @param {Server} server @param {number} status @param {Bytes} body */
  async #refused(server, status, body) {
    let reason = '';
    try {
      reason = String(JSON.parse(text(body)).error ?? '').slice(0, MOST_REASON);
    } catch {
      // no words
    }
    if (status === 401 && reason.includes('has changed')) {
      await server.learn();
      throw new Away('keys rotated');
    }
    if (PASSING.includes(status) || status >= 500) throw new Away(String(status));
    throw new Refused(status, PLAIN.test(reason) ? reason : '');
  }

  /** Sets the clock by a refusal that tells the time. @param {Bytes} body */
  #learnTime(body) {
    // Larger than a float holds exactly, so read as digits.
    const told = (/** @type {string} */ name) =>
      new RegExp(`"${name}":\\s*(\\d{1,19})\\b`).exec(text(body))?.[1];
    const [now, after] = [told('time'), told('after')];
    if (!now || !after) return;
    this.#offset = BigInt(now) - BigInt(Date.now()) * 1_000_000n;
    this.#last = BigInt(after);
  }
}
