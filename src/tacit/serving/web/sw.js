/**
 * Begins the service worker. The browser looks here for a change: `scripts/page-files` writes it.
 */

import { serve } from './js/service.js';

/** A digest of all files of the page, so that a changed file is a changed worker. */
const VERSION = '321d2ea89dd8';

serve(VERSION);
