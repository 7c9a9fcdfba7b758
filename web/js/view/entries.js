/** Lines of the ledger's table. Files of the page that came together are one line that opens. */

import { attribute, h } from '../dom.js';
import { shortBytes, texts } from '../text.js';

/** @typedef {import("../ledger.js").Entry} Entry */

/** Requests within this many milliseconds of each other came together. */
const TOGETHER = 5000;
/** Fewer than this are listed one by one. */
const FEW = 4;

const clock = new Intl.DateTimeFormat(texts.language, {
  hour: '2-digit',
  minute: '2-digit',
  second: '2-digit',
  hourCycle: 'h23',
});

/** Groups that are open, by their oldest entry. */
const open = new Set();

/** Newest first. @param {Entry[]} all @returns {Entry[][]} */
export function grouped(all) {
  /** @type {Entry[][]} */
  const groups = [];
  /** The group of page files that each part of the page is in. @type {Map<string, Entry[]>} */
  const current = new Map();
  for (const entry of all) {
    const key = `${entry.by} ${entry.why}`;
    const joins = !entry.cut && (entry.why === 'page' || entry.why === 'worker');
    const group = joins ? current.get(key) : undefined;
    const last = group?.at(-1);
    if (group && last && Math.abs(entry.at - last.at) < TOGETHER) {
      group.push(entry);
      continue;
    }
    const fresh = [entry];
    groups.push(fresh);
    if (joins) current.set(key, fresh);
  }
  return groups
    .flatMap((group) => (group.length < FEW ? group.map((entry) => [entry]) : [group]))
    .reverse();
}

/** @param {Entry[]} group @returns {HTMLElement[]} */
export function lines(group) {
  const [first] = group;
  if (!first) return [];
  if (group.length === 1) return [line(first)];
  const key = `${first.by} ${first.why} ${first.at}`;
  /** Made when somebody opens the group: a visit has a hundred files. @type {HTMLElement[]} */
  let parts = [];
  const total = (/** @type {(entry: Entry) => number} */ of) =>
    group.reduce((sum, entry) => sum + of(entry), 0);
  const button = h(
    'button',
    { class: 'quiet', type: 'button' },
    texts.ledger.group[first.why === 'worker' ? 'worker' : 'page'](group.length),
  );
  const show = () => {
    attribute(button, 'aria-expanded', open.has(key) ? 'true' : 'false');
    for (const part of parts) part.remove();
    parts = open.has(key) ? group.map(line) : [];
    for (const part of parts) part.classList.add('part');
    head.after(...parts);
  };
  button.addEventListener('click', () => {
    if (!open.delete(key)) open.add(key);
    show();
  });
  const known = group.some((entry) => entry.received !== null);
  const head = cells(
    first,
    button,
    shortBytes(total((entry) => entry.asked + entry.body)),
    known ? shortBytes(total((entry) => entry.received ?? 0)) : texts.ledger.unknown,
  );
  show();
  return [head, ...parts];
}

/** @param {Entry} entry */
function line(entry) {
  const came = entry.cut
    ? texts.ledger.cutState
    : entry.status === null
      ? texts.ledger.underWay
      : entry.status === 0
        ? texts.ledger.failed
        : entry.received === null
          ? texts.ledger.unknown
          : shortBytes(entry.received);
  const address = h(
    'span',
    null,
    h('code', null, entry.address.slice(0, 80)),
    ' ',
    h('span', { class: 'facts' }, texts.ledger.why[entry.why]),
  );
  return cells(entry, address, shortBytes(entry.asked + entry.body), came);
}

/** @param {Entry} entry @param {Node} what @param {string} left @param {string} came */
function cells(entry, what, left, came) {
  const time = new Date(entry.at);
  const today = time.toDateString() === new Date().toDateString();
  const day = today
    ? ''
    : `${time.toLocaleDateString(texts.language, { day: 'numeric', month: 'short' })} `;
  return h(
    'tr',
    { class: entry.cut ? 'refused' : '' },
    h('td', null, day + clock.format(time)),
    h('td', null, what),
    h('td', null, texts.ledger.by[entry.by]),
    h('td', { class: 'amount' }, left),
    h('td', { class: 'amount' }, came),
  );
}
