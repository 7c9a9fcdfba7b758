/** Begins the service worker: a changed file of the page is another version, so another worker. */

import { serve } from './js/service.js';

// `VERSION` is a digest of all files, which `scripts/page` puts here. A server with words of its
// own sets `NAMES`, a digest of them, above this script.
serve(VERSION + (globalThis.NAMES ?? ''));
