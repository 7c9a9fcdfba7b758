/**
 * The room for taking part in a federation, by choice. Its furniture comes when somebody enters, or
 * when this person's device is switched on.
 */

import { h } from '../dom.js';
import { setting } from '../person/database.js';
import { texts } from '../text.js';

export function deviceRoom() {
  const place = h('div', { class: 'desk' });
  const element = h(
    'section',
    { class: 'device', id: 'device', 'aria-labelledby': 'device-title' },
    h('h2', { id: 'device-title' }, texts.device.title),
    place,
  );
  /** @type {Promise<typeof import("./view.js")> | null} */
  let furniture = null;
  /** Servers that the operator of this page names. @type {string[]} */
  let origins = [];
  const open = async () => {
    furniture ??= import('./view.js');
    (await furniture).furnish(place, origins);
  };
  return {
    element,
    open,
    /** Once it is known which servers are named. @param {string[]} named */
    async use(named) {
      origins = named;
      const on = await setting('on', false).catch(() => false);
      if (furniture || on) await open();
    },
  };
}
