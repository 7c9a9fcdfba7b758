/** The page begins here: the frame at once, then what was rated, then the model. */

import { clean, h, put } from './dom.js';
import { Engine, TooLong } from './engine.js';
import { Home } from './home.js';
import { folderOf, forget, published } from './data.js';
import { Cut } from './net.js';
import { keepOffline, ownLoads } from './offline.js';
import { keep, setting } from './person/database.js';
import { Store } from './person/store.js';
import { bytes, chooseLanguage, texts } from './text.js';
import { deviceRoom } from './device/room.js';
import { openFilm } from './view/film.js';
import { header, VIEWS } from './view/header.js';
import { ledgerView } from './view/ledger.js';
import { mapView } from './view/map.js';
import { promiseView } from './view/promise.js';
import { recommendations } from './view/recommendations.js';
import { searchField } from './view/search.js';
import { start } from './view/start.js';
import { trouble, skeleton } from './view/parts.js';
import { yours } from './view/yours.js';

/** @typedef {import("./view/header.js").ViewName} ViewName */
/** @typedef {{element: HTMLElement, enter?: () => void, leave?: () => void}} Pane */

await chooseLanguage();
const store = new Store();
const search = searchField();
const top = header(search.element);
const films = h('div', { class: 'films-view' }, hero(), skeleton());
const ledger = ledgerView();
const room = deviceRoom();
const promise = promiseView(room.element);
const atlas = h('div', { class: 'map-view' });
/** @type {Record<ViewName, Pane>} */
const panes = {
  films: { element: films },
  yours: { element: films },
  map: { element: atlas },
  promise,
  ledger,
};
const main = h('main', { id: 'content', tabindex: -1 });
const notice = h('div', { class: 'notice', role: 'status', hidden: true });
const footer = h('footer', null, h('span', null, texts.footer.words));
document.body.append(
  top.element,
  main,
  notice,
  footer,
  h('div', { id: 'announcer', class: 'unseen', role: 'status' }),
);

/** @type {ViewName | null} */
let current = null;

/** Shows the view that the address names; the name after # is never sent to a server. */
function go() {
  const name = VIEWS.find((view) => `#${view}` === location.hash) ?? 'films';
  if (location.hash === '#content') return;
  if (name === current) return;
  const before = current;
  if (before) panes[before].leave?.();
  current = name;
  document.documentElement.dataset['view'] = name;
  top.at(name);
  if (before === null || panes[before].element !== panes[name].element)
    put(main, panes[name].element);
  panes[name].enter?.();
  document.title = name === 'films' ? texts.title : `${texts.nav[name]} · ${texts.title}`;
  if (before !== null) scrollTo(0, 0);
}

addEventListener('hashchange', go);
go();

/** The first words of the page, and the figure that matters. */
function hero() {
  const sent = h('a', { class: 'sent', href: '#ledger' });
  const figure = h('span', null, texts.hero.sent(bytes(0)));
  put(sent, figure);
  queueMicrotask(() =>
    ledger.onTotals((sum) => put(sent, h('span', null, texts.hero.sent(bytes(sum.body))))),
  );
  return h(
    'div',
    { class: 'hero' },
    h('h1', null, texts.hero.title),
    h('p', null, texts.hero.lead),
    sent,
  );
}

/** Fetches the model, or takes the one on this device, and fills the page. */
async function begin() {
  const engine = new Engine();
  try {
    const folder = folderOf(await setting('model', '').catch(() => ''));
    const [about] = await Promise.all([engine.load(folder), store.read()]);
    const home = new Home(engine, store);
    home.explore = await setting('explore', 0.5).catch(() => 0.5);
    furnish(home);
    await home.finder.read(home.items);
    search.use(home);
    void promise.use(about, folder);
    void news(about.digest, folder);
  } catch (error) {
    engine.stop(new Error('ended'));
    fail(error);
  }
}

/** @param {Home} home */
function furnish(home) {
  const map = mapView(home);
  const own = yours(home);
  panes.map.element.replaceChildren(map.element);
  panes.map.enter = map.enter;
  if (current === 'map') map.enter();
  const [first] = films.children;
  home.addEventListener('film', (event) =>
    openFilm(home, /** @type {CustomEvent} */ (event).detail),
  );
  home.addEventListener('failed', (event) => fail(/** @type {CustomEvent} */ (event).detail));
  const list = recommendations(home);
  const begin = start(home);
  home.addEventListener(
    'view',
    () =>
      put(
        films,
        first,
        h('div', { class: 'columns' }, h('div', { class: 'side' }, begin, own), list),
      ),
    { once: true },
  );
  void home.refresh();
}

/** @param {unknown} error */
function fail(error) {
  const kind =
    error instanceof TooLong
      ? 'tooLong'
      : error instanceof Cut || /^Cut:/.test(String(/** @type {any} */ (error)?.message))
        ? 'cut'
        : !navigator.onLine
          ? 'offline'
          : /server answered/.test(String(/** @type {any} */ (error)?.message))
            ? 'server'
            : /ModelError|RangeError|SyntaxError/.test(String(/** @type {any} */ (error)?.message))
              ? 'broken'
              : 'server';
  const [first] = films.children;
  put(
    films,
    first,
    trouble(kind, async () => {
      await forget();
      put(films, first, skeleton());
      void begin();
    }),
  );
}

/**
 * Asks once a visit what is published. A newer model, or another one, is used when the person
 * wishes.
 * @param {string} digest
 * @param {string} folder
 */
async function news(digest, folder) {
  const none = { first: '', models: [], federation: [] };
  const { first, models, federation } = await published().catch(() => none);
  void room.use(federation);
  const own = models.find((one) => (folder === '' ? one.name === first : one.base === folder));
  if (models.length > 1) footer.append(chooser(models, own?.base ?? ''));
  if (!own || own.digest === digest) return;
  put(
    notice,
    texts.state.newer,
    ' ',
    h('button', { class: 'quiet', type: 'button', on: { click: change } }, texts.state.useIt),
  );
  notice.hidden = false;
}

/** @param {import("./data.js").Listed[]} models @param {string} base */
function chooser(models, base) {
  const select = h(
    'select',
    null,
    ...models.map((one) =>
      h('option', { value: one.base, selected: one.base === base }, clean(one.name)),
    ),
  );
  select.addEventListener('change', async () => {
    await keep('model', folderOf(select.value)).catch(() => undefined);
    await change();
  });
  return h(
    'label',
    { class: 'models' },
    texts.footer.model,
    ' ',
    h('span', { class: 'select' }, select),
  );
}

/** Begins anew with what the server has now. */
async function change() {
  await forget();
  location.reload();
}

void ownLoads();
void begin();
void keepOffline();
