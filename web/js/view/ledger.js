/** The ledger for the eye: totals, and every request in a table. */

import { h, put, write } from '../dom.js';
import { entries, ofRatings, onLedger } from '../ledger.js';
import { grouped, lines } from './entries.js';
import { bytes, number, texts } from '../text.js';

/** @typedef {import("../ledger.js").Entry} Entry */

/** Lines of the table at first, and more at each wish. */
const PAGE = 30;

/** Sums of a ledger. @param {Entry[]} all */
function totals(all) {
  const sum = (/** @type {(entry: Entry) => number} */ of) =>
    all.reduce((total, entry) => total + of(entry), 0);
  return {
    requests: all.filter((entry) => !entry.cut).length,
    refused: all.filter((entry) => entry.cut).length,
    body: ofRatings(all),
    asked: sum((entry) => entry.asked + entry.body),
    received: sum((entry) => entry.received ?? 0),
  };
}

export function ledgerView() {
  const figure = (/** @type {string} */ label) => {
    const value = h('dd');
    return { value, element: h('div', null, h('dt', null, label), value) };
  };
  const ratings = figure(texts.ledger.ratings);
  const sent = figure(texts.ledger.sent);
  const received = figure(texts.ledger.received);
  const requests = figure(texts.ledger.requests);
  const refused = h('p', { class: 'note' });
  const body = h('tbody');
  const older = h('button', { class: 'quiet', type: 'button' }, texts.ledger.older);
  const { when, what, who, left, came } = texts.ledger;
  const table = h(
    'table',
    null,
    h(
      'thead',
      null,
      h(
        'tr',
        null,
        ...[when, what, who, left, came].map((name) => h('th', { scope: 'col' }, name)),
      ),
    ),
    body,
  );
  const element = h(
    'section',
    { class: 'ledger', 'aria-labelledby': 'ledger-title' },
    h('h1', { id: 'ledger-title' }, texts.ledger.title),
    h('p', { class: 'lead' }, texts.ledger.lead),
    h(
      'dl',
      { class: 'figures' },
      ratings.element,
      sent.element,
      received.element,
      requests.element,
    ),
    refused,
    h(
      'div',
      { class: 'scroll', tabindex: 0, role: 'region', 'aria-label': texts.ledger.table },
      table,
    ),
    h('div', { class: 'after' }, older),
    h('h2', null, texts.ledger.how),
    h('p', null, texts.ledger.howWords),
    h('p', { class: 'note' }, texts.ledger.note),
  );
  let shown = PAGE;
  let front = false;
  let asked = 0;

  const show = async () => {
    asked = 0;
    if (!front) return;
    const all = await entries();
    const sum = totals(all);
    write(ratings.value, bytes(sum.body));
    write(sent.value, bytes(sum.asked));
    write(received.value, bytes(sum.received));
    write(requests.value, number(sum.requests));
    write(refused, sum.refused ? texts.ledger.refused(sum.refused) : '');
    const groups = grouped(all);
    put(body, ...groups.slice(0, shown).flatMap(lines));
    older.hidden = groups.length <= shown;
  };
  const soon = () => (asked ||= requestAnimationFrame(show));
  older.addEventListener('click', () => {
    shown += 4 * PAGE;
    soon();
  });
  onLedger(soon);
  return {
    element,
    enter() {
      front = true;
      void show();
    },
    leave: () => void (front = false),
  };
}
