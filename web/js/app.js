/** The page begins here: the frame at once, then what was rated, then the model. */

import { clean, h, put, write } from './dom.js';
import { Engine, TooLong } from './engine.js';
import { Home } from './home.js';
import { folderOf, forget, published } from './data.js';
import { entries, ofRatings, onLedger } from './ledger.js';
import { Cut, isCut, onCut } from './net.js';
import { keepOffline, ownLoads } from './offline.js';
import { keep, setting } from './person/database.js';
import { Store } from './person/store.js';
import { bytes, chooseLanguage, texts } from './text.js';
import { header, VIEWS } from './view/header.js';
import { later } from './view/later.js';
import { recommendations } from './view/recommendations.js';
import { searchField } from './view/search.js';
import { start } from './view/start.js';
import { trouble, skeleton } from './view/parts.js';
import { yours } from './view/yours.js';

/** @typedef {import("./view/header.js").ViewName} ViewName */
/** @typedef {import("./view/later.js").Pane} Pane */

/** How often, in milliseconds, the first figure of the page looks at the ledger. */
const LOOK = 400;

await chooseLanguage();
const store = new Store();
const search = searchField();
const top = header(search.element);
const films = h('div', { class: 'films-view' }, hero(), skeleton());
const others = () => import('./rest.js');
const promise = later(async () => (await others()).promiseView());
/** @type {Record<ViewName, Pane>} */
const panes = {
  films: { element: films },
  yours: { element: films },
  map: { element: h('div') },
  promise,
  ledger: later(async () => (await others()).ledgerView()),
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
  const figure = h('span', null, texts.hero.sent(bytes(0), false));
  const sent = h('a', { class: 'sent', href: '#ledger' }, figure);
  let timer = 0;
  const look = async () => {
    timer = 0;
    write(figure, texts.hero.sent(bytes(ofRatings(await entries())), await isCut()));
  };
  onLedger(() => (timer ||= window.setTimeout(look, LOOK)));
  onCut(look);
  void isCut().then((cut) => (cut ? look() : undefined));
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
    const [about, explore] = await Promise.all([
      engine.load(),
      setting('explore', 0.5).catch(() => 0.5),
      store.read(),
    ]);
    const home = new Home(engine, store);
    home.explore = explore;
    await furnish(home);
    await home.finder.read(home.items);
    search.use(home);
    await rest();
    void promise.ready().then((pane) => pane.use(about));
    void news(about.digest, about.folder);
  } catch (error) {
    engine.stop(new Error('ended'));
    fail(error);
  }
}

/** What the first view does not need: here before it is wanted, so that no network need be then. */
async function rest() {
  const views = [promise, panes.map, panes.ledger].map((pane) => pane.ready?.());
  await Promise.allSettled(views);
}

/**
 * Fills the page, until the first list is there.
 * @param {Home} home
 */
function furnish(home) {
  const own = yours(home);
  panes.map = later(async () => (await others()).mapView(home));
  if (current === 'map') {
    put(main, panes.map.element);
    panes.map.enter?.();
  }
  const [first] = films.children;
  home.addEventListener('film', async (event) =>
    (await others()).openFilm(home, /** @type {CustomEvent} */ (event).detail),
  );
  home.addEventListener('failed', (event) => fail(/** @type {CustomEvent} */ (event).detail));
  const list = recommendations(home);
  const begin = start(home);
  const back = home.rated().length ? ' back' : ''; // who comes again finds her list first
  home.addEventListener(
    'view',
    () =>
      put(
        films,
        first,
        h('div', { class: `columns${back}` }, h('div', { class: 'side' }, begin, own), list),
      ),
    { once: true },
  );
  return home.refresh();
}

/** @param {unknown} error */
function fail(error) {
  const words = String(/** @type {any} */ (error)?.message);
  const kind =
    error instanceof TooLong
      ? 'tooLong'
      : error instanceof Cut || /^Cut:/.test(words)
        ? 'cut'
        : !navigator.onLine
          ? 'offline'
          : /(Model|Range|Syntax)Error(?!.*server answered)/.test(words)
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
  void promise.ready().then((pane) => pane.room.use(federation));
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
void begin().then(keepOffline);
