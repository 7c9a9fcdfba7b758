/** Taking part, for the eye: what is asked, what it costs, a switch, and a way out. */

import { attribute, h, put, write } from '../dom.js';
import { bytes, number, texts } from '../text.js';
import { trustedScript } from '../trusted.js';

/** @typedef {Record<string, any>} Facts */

/** The largest cap that the page suggests is still a promise. */
const MOST_CAP = 20;
/** Digits of an epsilon. */
const DIGITS = 2;

/** @type {Worker | null} */
let worker = null;
let next = 1;
/** @type {Map<number, {resolve: (value: any) => void, reject: (error: Error) => void}>} */
const waiting = new Map();
/** @type {Facts} */
let state = {};
/** @type {Facts | null} */
let offer = null;
/** @type {HTMLElement | null} */
let place = null;
/** @type {string[]} */
let origins = [];
/** @type {(origins: string[], words?: string) => void} */
let close = () => undefined;
/** Which form is on show: it is built anew only when that changes. */
let shown = '';

/** @param {string} what @param {any} [given] @returns {Promise<any>} */
function ask(what, given) {
  const id = next++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    worker?.postMessage({ id, what, given });
  });
}

/** @param {MessageEvent} event */
function hear({ data }) {
  if (data.event === 'state') {
    state = data;
    return show();
  }
  const asked = waiting.get(data.id);
  waiting.delete(data.id);
  if (data.error === undefined) return asked?.resolve(data.answer);
  return asked?.reject(new Error(data.error));
}

/**
 * Shows the terms to who asks for them, or how it goes to who takes part.
 * @param {HTMLElement} element
 * @param {string[]} named servers, by this page's operator
 * @param {(origins: string[], words?: string) => void} back shows the room as it was before
 */
export async function furnish(element, named, back) {
  place = element;
  origins = named;
  close = back;
  if (!worker) {
    const how = /** @type {WorkerOptions} */ ({ type: 'module', name: 'tacit device' });
    worker = new Worker(trustedScript('js/device/desk.js'), how);
    worker.addEventListener('message', hear);
    worker.addEventListener('error', () => fail(texts.device.broken));
  }
  shown = '';
  await ask('state');
  if (state['member']) return;
  offer = await ask('look', { origins });
  show();
}

/** @param {string} words */
function fail(words) {
  if (place) put(place, h('p', { class: 'warn', role: 'alert' }, words));
  shown = 'failed';
}

/** @param {string} kind @param {string} words @param {() => void} act */
const button = (kind, words, act) =>
  h('button', { class: kind, type: 'button', on: { click: act } }, words);

/** @param {number} value */
const epsilon = (value) => number(value, DIGITS);

function show() {
  if (state['member']) return member();
  if (state['doing'] === 'left' && shown === 'member') {
    shown = '';
    close(origins, texts.device.left);
  }
  if (!offer || shown === 'offer' || !place) return;
  shown = 'offer';
  offered(place, offer);
}

/** What was spent before, if anything. */
function bookLine() {
  const book = state['book'];
  if (!book?.answers) return null;
  return h('p', { class: 'facts' }, texts.device.book(epsilon(book.spent), epsilon(book.cap)));
}

/** @param {HTMLElement} into @param {Facts} found */
function offered(into, found) {
  const cap = h('input', {
    type: 'number',
    id: 'device-cap',
    min: 0.1,
    max: MOST_CAP,
    step: 0.1,
    value: state['book']?.cap ?? 2,
  });
  const tickets = found['tickets'].map((/** @type {string} */ terms, /** @type {number} */ k) =>
    terms === 'open'
      ? null
      : h('input', {
          type: 'text',
          id: `device-ticket-${k}`,
          spellcheck: 'false',
          autocomplete: 'off',
        }),
  );
  const accept = found['accept'].length
    ? h('input', { type: 'checkbox', id: 'device-accept' })
    : null;
  const status = h('p', { class: 'note', role: 'status' });
  const join = button('main', texts.device.join, async () => {
    const given = tickets.map(
      (/** @type {HTMLInputElement | null} */ one) => one?.value.trim() ?? '',
    );
    offer = null;
    await ask('join', {
      offer: found,
      cap: Number(cap.value),
      accept: Boolean(accept),
      tickets: given,
    }).catch((error) => fail(error.message));
  });
  const check = () => {
    const over = found['total'] !== null && found['total'] > Number(cap.value);
    join.disabled = over || !cap.validity.valid || (accept !== null && !accept.checked);
    write(status, over ? texts.device.overCap : '');
  };
  const back = () => {
    offer = null;
    shown = '';
    void ask('leave'); // the page may speak to nobody again
    close(origins);
  };
  for (const field of [cap, accept]) field?.addEventListener('input', check);
  check();
  const kinds = /** @type {("none" | "strangers")[]} */ (found['accept']);
  put(
    into,
    h('p', null, texts.device.offer),
    bookLine(),
    facts([
      [texts.device.purpose, found['purpose'] || texts.device.noPurpose],
      [texts.device.method, found['method']],
      [
        texts.device.among,
        texts.device.amongWords(number(found['least']), number(found['people'])),
      ],
      [texts.device.noise, noiseWords(found)],
      [
        texts.device.costs,
        found['epsilon'] === null ? texts.device.nothing : epsilon(found['epsilon']),
      ],
    ]),
    roundTable(found['rounds']),
    h(
      'div',
      { class: 'fields' },
      found['epsilon'] === null ? null : field(cap, texts.device.cap),
      ...tickets.map((/** @type {HTMLInputElement | null} */ one, /** @type {number} */ k) =>
        one ? field(one, texts.device.ticket[k] ?? '') : null,
      ),
      accept
        ? h(
            'label',
            { class: 'tick' },
            accept,
            ' ',
            kinds.map((kind) => texts.device.accept[kind]).join(' '),
          )
        : null,
    ),
    h('div', { class: 'actions' }, join, button('quiet', texts.device.notNow, back)),
    status,
    h('p', { class: 'note' }, texts.device.offerNote),
  );
}

/** @param {Facts} found */
function noiseWords(found) {
  if (!found['noisy']) return texts.device.noNoise;
  return texts.device.noiseFrom[/** @type {"servers"} */ (found['noise'])];
}

/** @param {HTMLElement} input @param {string} words */
const field = (input, words) =>
  h('div', { class: 'field' }, h('label', { for: input.id }, words), input);

/** @param {[string, string][]} pairs */
const facts = (pairs) =>
  h(
    'dl',
    { class: 'terms' },
    ...pairs.flatMap(([name, words]) => [h('dt', null, name), h('dd', null, words)]),
  );

/** @param {Facts[]} rounds */
function roundTable(rounds) {
  const head = [texts.device.round, texts.device.sends, texts.device.price];
  return h(
    'div',
    { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': texts.device.rounds },
    h(
      'table',
      null,
      h('thead', null, h('tr', null, ...head.map((name) => h('th', { scope: 'col' }, name)))),
      h(
        'tbody',
        null,
        ...rounds.map((one) =>
          h(
            'tr',
            null,
            h('td', null, one['name']),
            h('td', null, bytes(one['bytes'])),
            h('td', null, epsilon(one['epsilon'])),
          ),
        ),
      ),
    ),
  );
}

/**
 * Parts of the member's view that change while it takes part.
 * @type {Record<string, HTMLElement>}
 */
let live = {};

/** This person takes part, or could again. */
function member() {
  if (!place) return;
  if (shown !== 'member') {
    shown = 'member';
    build(place);
  }
  const { book, on, doing, why } = state;
  const words = /** @type {Record<string, any>} */ (texts.device.doing)[doing] ?? '';
  const status = typeof words === 'function' ? words(state) : words;
  write(live['status'], doing === 'failed' ? texts.device.failed(why) : status);
  write(live['spent'], texts.device.of(epsilon(book.spent), epsilon(book.cap)));
  write(live['realised'], epsilon(book.realised));
  write(live['answers'], number(book.answers));
  const more = state['next'];
  write(
    live['next'],
    more ? texts.device.nextWords(epsilon(more.epsilon), bytes(more.bytes)) : '–',
  );
  attribute(/** @type {HTMLElement} */ (live['switch']), 'aria-checked', on ? 'true' : 'false');
}

/** @param {HTMLElement} into */
function build(into) {
  const toggle = () => void ask(state['on'] ? 'off' : 'on').catch((error) => fail(error.message));
  live = {
    status: h('p', { class: 'doing', role: 'status' }),
    spent: h('dd'),
    realised: h('dd'),
    answers: h('dd'),
    next: h('dd'),
    switch: h(
      'button',
      {
        class: 'switch',
        type: 'button',
        role: 'switch',
        id: 'device-switch',
        on: { click: toggle },
      },
      texts.device.switch,
    ),
  };
  const leave = async () => {
    if (confirm(texts.device.leaveSure)) await ask('leave').catch((error) => fail(error.message));
  };
  const figure = (/** @type {string} */ name, /** @type {string} */ key) =>
    h('div', null, h('dt', null, name), live[key]);
  put(
    into,
    live['switch'],
    live['status'],
    h(
      'dl',
      { class: 'figures' },
      figure(texts.device.spent, 'spent'),
      figure(texts.device.realised, 'realised'),
      figure(texts.device.next, 'next'),
      figure(texts.device.answers, 'answers'),
    ),
    h('p', { class: 'note' }, texts.device.memberNote),
    h('div', { class: 'actions' }, button('quiet', texts.device.leave, leave)),
  );
}
