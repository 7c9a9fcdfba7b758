/**
 * The room for taking part in a federation, by choice. It says what it is for; its furniture, the
 * device itself, comes when somebody asks for it or has done so before.
 */

import { h, put, write } from '../dom.js';
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
  const status = h('p', { class: 'note', role: 'status' });

  /** @param {string[]} origins servers that the operator of this page names */
  const furnish = async (origins) => (await import('./view.js')).furnish(place, origins, closed);
  /** Nothing is asked yet, or no more. @param {string[]} origins @param {string} [words] */
  const closed = (origins, words = '') => {
    const look = () => {
      write(status, texts.device.looking);
      furnish(origins).catch((error) => write(status, texts.device.noOffer(error.message)));
    };
    write(status, words);
    if (!origins.length) return put(place, h('p', null, texts.device.none), status);
    const hosts = origins.map((origin) => new URL(origin).host).join(', ');
    return put(
      place,
      h('p', null, texts.device.words),
      h(
        'div',
        { class: 'actions' },
        h('button', { class: 'main', type: 'button', on: { click: look } }, texts.device.look),
      ),
      h('p', { class: 'note' }, texts.device.lookNote(hosts)),
      status,
    );
  };
  return {
    element,
    /** Once it is known which servers are named. @param {string[]} origins */
    async use(origins) {
      const member = await setting('member', null).catch(() => null);
      if (member) await furnish(origins);
      else closed(origins);
    },
  };
}
