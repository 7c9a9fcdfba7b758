/** Ratings in and out of the browser as files, and the end of all of them. */

import { forget } from '../data.js';
import { announce, clean, h, put } from '../dom.js';
import { texts } from '../text.js';
import { stars } from '../stars.js';
import { exportText, saveFile } from '../person/csv.js';
import { importText, UnknownFile } from '../person/importing.js';
import { nearest, likedFrom } from '../scale.js';
import { modal } from './parts.js';

/** @typedef {import("../home.js").Home} Home */
/** @typedef {import("../person/importing.js").Imported} Imported */

const LARGEST = 20_000_000;
/** Titles named when a catalogue lacks them. */
const NAMED = 12;

/** @param {Home} home */
export function exportRatings(home) {
  saveFile('tacit-ratings.csv', exportText(home.store.ratings.values()), 'text/csv');
  announce(texts.data.exported(home.store.ratings.size));
}

/** @param {Home} home */
export function importDialog(home) {
  const input = h('input', {
    type: 'file',
    accept: '.csv,.txt,text/csv,text/plain',
    class: 'unseen',
    id: 'file',
  });
  const drop = h(
    'label',
    { class: 'drop', for: 'file' },
    h('strong', null, texts.data.choose),
    h('span', null, texts.data.drop),
  );
  const place = h('div', { class: 'outcome', 'aria-live': 'polite' });
  const box = modal(
    texts.data.importTitle,
    'import',
    h('p', { class: 'lead' }, texts.data.importLead),
    input,
    drop,
    h('p', { class: 'note' }, texts.data.kinds),
    place,
  );
  let taken = 0;
  const take = async (/** @type {File | undefined} */ file) => {
    if (!file) return;
    const mine = ++taken;
    const say = (/** @type {Node} */ words) => mine === taken && put(place, words);
    if (file.size > LARGEST) return say(h('p', { class: 'warn' }, texts.data.tooLarge));
    say(h('p', null, texts.data.reading));
    try {
      const imported = await importText(await file.text(), home.items, home.values);
      say(outcome(home, imported, () => box.close()));
    } catch (error) {
      if (!(error instanceof UnknownFile)) throw error;
      say(h('p', { class: 'warn' }, texts.data.unknown));
    }
  };
  input.addEventListener('change', () => take(input.files?.[0]));
  drop.addEventListener('dragover', (event) => event.preventDefault());
  drop.addEventListener('drop', (event) => {
    event.preventDefault();
    void take(event.dataTransfer?.files[0]);
  });
}

/**
 * What a file holds, and the button that takes it.
 * @param {Home} home
 * @param {Imported} imported
 * @param {() => void} close
 */
function outcome(home, imported, close) {
  let watched = nearest(likedFrom(home.about.scale), home.values);
  const { found, missing, skipped } = imported;
  const widget = stars(home.values, (rating) => (watched = rating ?? watched));
  widget.set(watched);
  widget.name(texts.data.kind.netflix);
  const add = h(
    'button',
    { class: 'main', type: 'button', disabled: !found.length },
    texts.data.add(found.length),
  );
  add.addEventListener('click', async () => {
    const at = Date.now();
    const rows = found.map(({ row, rating }) => ({
      item: home.item(row).id,
      rating: rating ?? watched,
      at,
      title: home.title(row),
    }));
    close();
    await home.store.add(rows);
    announce(texts.data.added(rows.length));
  });
  const named = missing.slice(0, NAMED).map((title) => h('li', null, h('bdi', null, clean(title))));
  if (missing.length > NAMED) named.push(h('li', null, '…'));
  return h(
    'div',
    null,
    h(
      'p',
      null,
      texts.data.read(texts.data.kind[imported.kind], imported.rows),
      ' ',
      h('strong', null, texts.data.found(found.length)),
    ),
    missing.length ? h('p', { class: 'note' }, texts.data.missing(missing.length)) : null,
    missing.length ? h('ul', { class: 'missing' }, ...named) : null,
    skipped ? h('p', { class: 'note' }, texts.data.skipped(skipped)) : null,
    imported.kind === 'netflix'
      ? h('p', { class: 'line' }, texts.data.netflix, ' ', widget.element)
      : null,
    h('div', { class: 'actions' }, add),
  );
}

/** @param {Home} home */
export function askWipe(home) {
  const wipe = h('button', { class: 'main', type: 'button' }, texts.data.wipe);
  const save = h(
    'button',
    {
      class: 'quiet',
      type: 'button',
      on: { click: () => exportRatings(home) },
      disabled: !home.store.ratings.size,
    },
    texts.data.exportFirst,
  );
  const box = modal(
    texts.data.wipeTitle,
    'wipe',
    h('p', null, texts.data.wipeWords),
    h('div', { class: 'actions' }, wipe, save),
  );
  wipe.addEventListener('click', async () => {
    await wipeAll(home);
    box.close();
    announce(texts.data.wiped);
  });
}

/**
 * Ratings, settings and ledger; the stored copies of page and model; the service worker.
 * @param {Home} home
 */
async function wipeAll(home) {
  await home.store.wipe();
  await forget();
  if (typeof caches !== 'undefined')
    await Promise.all(
      (await caches.keys())
        .filter((name) => name.startsWith('tacit '))
        .map((name) => caches.delete(name)),
    );
  const workers = (await navigator.serviceWorker?.getRegistrations()) ?? [];
  await Promise.all(workers.map((worker) => worker.unregister()));
}
