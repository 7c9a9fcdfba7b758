/** The head of the page: where one is, the search, and the switch that cuts the network. */

import { attribute, h, s, write } from '../dom.js';
import { isCut, onCut, setCut } from '../net.js';
import { texts } from '../text.js';

export const VIEWS = /** @type {const} */ (['films', 'yours', 'map', 'promise', 'ledger']);
/** @typedef {typeof VIEWS[number]} ViewName */

const PATHS = {
  films: 'M4 6.5h16M4 12h16M4 17.5h10',
  yours: 'M12 4.2l2.3 4.8 5.3.7-3.9 3.7 1 5.3-4.7-2.6-4.7 2.6 1-5.3-3.9-3.7 5.3-.7z',
  map: 'M3.5 12a8.5 8.5 0 1 0 17 0a8.5 8.5 0 1 0-17 0M10 12a2 2 0 1 0 4 0a2 2 0 1 0-4 0',
  promise: 'M12 3.5l7 2.8v5.2c0 4.3-2.9 7.4-7 9-4.1-1.6-7-4.7-7-9V6.3zM9 12l2.2 2.2L15.2 10',
  ledger: 'M6 3.5h12v17H6zM9 8h6M9 12h6M9 16h3',
};

/** @param {ViewName} name */
function icon(name) {
  return s(
    'svg',
    { viewBox: '0 0 24 24', class: 'icon', 'aria-hidden': 'true' },
    s('path', { d: PATHS[name] }),
  );
}

/** @param {HTMLElement} search */
export function header(search) {
  const links = VIEWS.map((name) =>
    h('a', { href: `#${name}`, class: name }, icon(name), h('span', null, texts.nav[name])),
  );
  const nav = h('nav', { 'aria-label': texts.nav.label }, ...links);
  const mark = h(
    'a',
    { class: 'mark', href: '#films', 'aria-label': texts.title },
    s(
      'svg',
      { viewBox: '0 0 24 24', 'aria-hidden': 'true' },
      s('circle', { cx: 12, cy: 12, r: 8.6, class: 'ring' }),
      s('circle', { cx: 13.9, cy: 13.9, r: 3, class: 'dot' }),
    ),
    h('span', null, texts.brand),
  );
  return {
    element: h(
      'header',
      { class: 'top' },
      h('a', { class: 'skip', href: '#content' }, texts.nav.skip),
      mark,
      nav,
      search,
      networkSwitch(),
    ),
    /** @param {ViewName} name */
    at(name) {
      links.forEach((link, place) =>
        attribute(link, 'aria-current', VIEWS[place] === name ? 'page' : null),
      );
    },
  };
}

/** The switch: the page makes no request while it is off, and says so. */
function networkSwitch() {
  const words = h('span', { class: 'words' }, texts.network.on);
  const button = h(
    'button',
    { type: 'button', role: 'switch', class: 'network', 'aria-checked': 'true' },
    h('span', { class: 'track', 'aria-hidden': 'true' }),
    words,
  );
  const show = (/** @type {boolean} */ cut) => {
    attribute(button, 'aria-checked', cut ? 'false' : 'true');
    write(
      words,
      cut ? texts.network.cut : navigator.onLine ? texts.network.on : texts.network.offline,
    );
    attribute(button, 'title', cut ? texts.network.cutWords : texts.network.onWords);
  };
  const look = async () => show(await isCut());
  button.addEventListener('click', async () => {
    await setCut(button.getAttribute('aria-checked') === 'true');
  });
  onCut(show);
  addEventListener('online', look);
  addEventListener('offline', look);
  void look();
  return button;
}
