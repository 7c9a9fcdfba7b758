/**
 * The promise: what the people behind the model were promised, said so that a person can weigh it.
 */

import { STATEMENT } from '../base.js';
import { fetcher } from '../data.js';
import { deviceRoom } from '../device/room.js';
import { attribute, clean, h, put, write } from '../dom.js';
import { asked, verify } from '../model/statement.js';
import { chance, number, texts } from '../text.js';
import { oddsPanel } from './odds.js';

/** @typedef {import("../engine.js").About} About */
/** @typedef {Record<string, any>} Statement */

/** Lines of one list, and letters of one text, that are shown of a statement. */
const MOST_LINES = 30;
const MOST_LETTERS = 600;
/** As it was signed, with its signature beside it; plain where nobody signed it. */
const AS_SIGNED = 'application/vnd.tacit.signed+json, application/json;q=0.5';
const fetched = fetcher('page');
/** Where the model in use lies. */
let folder = '';

export function promiseView() {
  const room = deviceRoom();
  const place = h('div', { class: 'statement' });
  const lead = h('p', { class: 'lead' }, texts.promise.lead);
  const model = h('p', { class: 'facts' });
  const element = h(
    'section',
    { class: 'promise', 'aria-labelledby': 'promise-title' },
    h('h1', { id: 'promise-title' }, texts.promise.title),
    lead,
    model,
    place,
    h(
      'section',
      { class: 'card', 'aria-labelledby': 'you-title' },
      h('h2', { id: 'you-title' }, texts.promise.you),
      h('p', null, texts.promise.youWords),
    ),
    room.element,
  );
  /** @type {About | null} */
  let about = null;
  let front = false;
  let shown = false;

  const show = async () => {
    if (!about || !front || shown) return;
    shown = true;
    write(
      model,
      texts.promise.modelWords(clean(about.name), clean(about.method), number(about.count)),
    );
    try {
      put(place, ...(await filled()));
    } catch {
      shown = false;
      put(place, h('p', { class: 'warn' }, texts.promise.unavailable));
    }
  };
  return {
    element,
    enter() {
      front = true;
      void show();
    },
    leave: () => void (front = false),
    /** For taking part. */
    room,
    /** Once the model is here. @param {About} ready */
    async use(ready) {
      about = ready;
      folder = ready.folder;
      shown = false;
      if (front) return show();
      // Asked for while there is a network, so that it is here when there is none.
      await Promise.all([answer(AS_SIGNED), answer('text/plain')]).catch(() => undefined);
    },
  };
}

/** @param {string} form */
async function answer(form) {
  const response = await fetched(folder + STATEMENT, { headers: { accept: form } });
  if (!response.ok) throw new Error('no statement');
  return response;
}

async function filled() {
  const response = await answer(AS_SIGNED);
  const body = new Uint8Array(await response.clone().arrayBuffer());
  const statement = /** @type {Statement} */ (await response.json());
  return [
    standing(statement, body, response.headers),
    oddsPanel(statement['epsilon'] ?? null, statement['delta'] ?? null, asked(statement)),
    h(
      'div',
      { class: 'cards' },
      card(texts.promise.whom, [
        texts.promise.unit[/** @type {"user"} */ (statement['unit'])] ?? '',
        sentence(statement['neighbours']),
      ]),
      card(texts.promise.honest, [sentence(statement['trust'])]),
      listCard(texts.promise.notProtected, statement['not_protected']),
      listCard(texts.promise.assumed, statement['public']),
    ),
    whole(statement),
  ];
}

/**
 * The seal: certified or not, signed or not.
 * @param {Statement} statement
 * @param {Uint8Array} body
 * @param {Headers} headers
 */
function standing(statement, body, headers) {
  const kind = /** @type {"certified" | "claimed" | "not private"} */ (
    ['certified', 'claimed'].includes(statement['certified'])
      ? statement['certified']
      : 'not private'
  );
  const signature = h('p', { class: 'signature' }, texts.promise.checking);
  const words = kind === 'certified' ? texts.promise.certifiedWords : sentence(statement['reason']);
  void check(body, headers).then(([text, good]) => {
    write(signature, text);
    attribute(signature, 'data-good', good);
  });
  return h(
    'div',
    { class: `seal ${kind.split(' ')[0]}` },
    h('p', { class: 'standing' }, texts.promise[kind]),
    h('p', null, words),
    h('p', { class: 'facts' }, bookOf(statement)),
    signature,
    statement['purpose'] === 'demonstration'
      ? h('p', { class: 'facts' }, texts.promise.demonstration)
      : null,
  );
}

/** Where the cost was charged. @param {Statement} statement */
function bookOf(statement) {
  const { population, book_number: entry } = statement;
  return entry ? sentence(texts.promise.book(clean(population), number(Number(entry)))) : '';
}

/** @param {Uint8Array} body @param {Headers} headers @returns {Promise<[string, string]>} */
async function check(body, headers) {
  const signature = headers.get('tacit-signature');
  const key = headers.get('tacit-key');
  if (!signature || !key) return [texts.promise.unsigned, 'none'];
  try {
    const good = await verify(body, signature, key);
    return good
      ? [texts.promise.signedBy(key.slice(0, 16)), 'yes']
      : [texts.promise.badSignature, 'no'];
  } catch {
    return [texts.promise.uncheckable, 'none'];
  }
}

/** @param {unknown} text */
function sentence(text) {
  const words = String(text ?? '').slice(0, MOST_LETTERS);
  return (
    words.charAt(0).toUpperCase() + words.slice(1) + (/[.!?]$/.test(words) || !words ? '' : '.')
  );
}

/** @param {string} title @param {string[]} lines */
function card(title, lines) {
  return h(
    'section',
    { class: 'card' },
    h('h2', null, title),
    ...lines.filter(Boolean).map((line) => h('p', null, sentence(line))),
  );
}

/** @param {string} title @param {unknown} lines */
function listCard(title, lines) {
  const given = Array.isArray(lines) ? lines.slice(0, MOST_LINES) : [];
  return h(
    'section',
    { class: 'card' },
    h('h2', null, title),
    h('ul', null, ...given.map((line) => h('li', null, sentence(line)))),
  );
}

/** Everything, in the program's own words. @param {Statement} statement */
function whole(statement) {
  const text = h('pre', { tabindex: 0 });
  const details = h(
    'details',
    { class: 'whole' },
    h('summary', null, texts.promise.whole),
    profile(statement),
    text,
  );
  details.addEventListener('toggle', async () => {
    if (!details.open || text.textContent) return;
    const told = await answer('text/plain').then(
      (response) => response.text(),
      () => texts.promise.unavailable,
    );
    write(text, told.slice(0, 100_000));
  });
  return details;
}

/** @param {Statement} statement */
function profile(statement) {
  const pairs = Array.isArray(statement['profile'])
    ? statement['profile'].slice(0, MOST_LINES)
    : [];
  if (!pairs.length) return null;
  return h(
    'table',
    { class: 'profile' },
    h('caption', null, texts.promise.profile),
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        h('th', { scope: 'col' }, texts.promise.profileEpsilon),
        h('th', { scope: 'col' }, texts.promise.profileDelta),
      ),
    ),
    h(
      'tbody',
      null,
      ...pairs.map((pair) =>
        h(
          'tr',
          null,
          h('td', null, number(Number(pair?.[0]), 3)),
          h('td', null, chance(Number(pair?.[1]))),
        ),
      ),
    ),
  );
}
