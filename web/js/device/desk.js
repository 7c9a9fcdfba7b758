/** The device's own worker: it answers the page, and takes part while the person lets it. */

import { keep, setting } from '../person/database.js';
import { epsilonOf, NOTHING, plus, price } from './account.js';
import { newMember, readBook, readMember, write } from './book.js';
import { Server } from './link.js';
import { Off, offered, Participant } from './part.js';

/** @type {any} */
const scope = self;
/** @type {Participant | null} */
let running = null;
/** What the page was told last. @type {Record<string, any>} */
let doing = {};

/** @param {Record<string, any>} more */
async function tell(more = {}) {
  Object.assign(doing, more);
  const [book, member, on] = await Promise.all([readBook(), readMember(), setting('on', false)]);
  scope.postMessage({
    event: 'state',
    ...doing,
    on,
    member: member && { url: member.url, name: member.key.name, ran: member.memory?.ran ?? [] },
    book: {
      cap: book.cap,
      delta: book.delta,
      answers: book.answers,
      spent: epsilonOf(book.spent, book.delta),
      realised: epsilonOf(book.realised, book.delta),
    },
  });
}

/** Takes part, one device for all tabs of a person. */
async function start() {
  if (running) return;
  const mine = (running = new Participant((state) => void tell(state)));
  await navigator.locks
    .request(`tacit device ${location.pathname}`, { ifAvailable: true }, async (lock) => {
      if (!lock) return tell({ doing: 'elsewhere' });
      const how = await mine.run();
      if (how !== 'off') await keep('on', false);
      return tell({ doing: how });
    })
    .catch((error) =>
      error instanceof Off ? tell({ doing: 'off' }) : tell({ doing: 'failed', why: error.message }),
    );
  if (running === mine) running = null;
}

/** @type {Record<string, (given: any) => Promise<any>>} */
const DOORS = {
  state: () => tell(),

  /** What a federation asks for. Nothing of the person's goes with the question. */
  async look({ origins }) {
    await keep('federation', origins);
    /** @type {unknown} */
    let last = new Error('no federation is named here');
    for (const url of origins) {
      try {
        const recommender = new Server(url, null);
        await recommender.learn();
        const { agreed, aggregator, accept } = await offered(recommender);
        const { task } = agreed;
        const book = await readBook();
        return {
          url,
          pin: recommender.pin,
          aggregator: aggregator.pin,
          tickets: [recommender, aggregator].map((server) => server.enrolment),
          accept,
          method: task.method,
          purpose: task.purpose,
          noise: agreed.local ? 'own' : task.noise,
          local: agreed.local,
          noisy: agreed.noisy,
          people: task.people,
          least: task.least,
          epsilon: agreed.noisy ? epsilonOf(agreed.cost, book.delta) : null,
          total: agreed.noisy ? epsilonOf(plus(book.spent, agreed.cost), book.delta) : null,
          rounds: agreed.rounds.map((round, index) => ({
            name: round.name,
            bytes: agreed.bytes(index),
            epsilon: epsilonOf(
              agreed
                .actsOf(round)
                .map((act) => price(act, 1))
                .reduce(plus, NOTHING),
              book.delta,
            ),
          })),
        };
      } catch (error) {
        last = error;
      }
    }
    throw last;
  },

  async join({ offer, cap, accept, tickets }) {
    const book = await readBook();
    const member =
      (await readMember()) ??
      (await newMember(offer.url, offer.pin, offer.aggregator, { accept, tickets }));
    await write({ member, book: { ...book, cap }, on: true });
    void start();
    return tell({ doing: 'waiting', why: '' });
  },

  async on() {
    await keep('on', true);
    void start();
    return tell({ doing: 'waiting', why: '' });
  },

  async off() {
    await keep('on', false);
    running?.stop();
    return tell({ doing: 'off' });
  },

  /** Forgets the key and all that belongs to it; the book of what was spent stays. */
  async leave() {
    running?.stop();
    await write({ member: undefined, on: undefined, federation: undefined });
    doing = {};
    return tell({ doing: 'left' });
  },

  async cap({ cap }) {
    const book = await readBook();
    await write({ book: { ...book, cap } });
    return tell();
  },
};

scope.addEventListener('message', async (/** @type {MessageEvent} */ { data }) => {
  const { id, what, given } = data;
  try {
    const door = DOORS[what];
    if (!door) throw new Error('no such door');
    scope.postMessage({ id, answer: await door(given ?? {}) });
  } catch (error) {
    scope.postMessage({ id, error: /** @type {Error} */ (error).message });
  }
});

void setting('on', false).then((on) => (on ? start() : undefined));
