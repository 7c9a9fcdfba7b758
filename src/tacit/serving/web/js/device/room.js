/**
 * The room for taking part in a federation, by choice. It is empty: this page takes part in
 * nothing, and `net.js` has no way to send. Whoever furnishes it adds here the device's side of
 * `docs/protocol.md`.
 */

import { h } from '../dom.js';
import { texts } from '../text.js';

export function deviceRoom() {
  return h(
    'section',
    { class: 'device', 'aria-labelledby': 'device-title' },
    h('h2', { id: 'device-title' }, texts.device.title),
    h('p', null, texts.device.words),
  );
}
