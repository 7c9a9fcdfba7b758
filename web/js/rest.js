/** What the first view does not need, in one script that comes after it. */

import { exportRatings, importDialog, askWipe } from './view/files.js';
import { openFilm } from './view/film.js';
import { ledgerView } from './view/ledger.js';
import { mapView } from './view/map.js';
import { promiseView } from './view/promise.js';

export { askWipe, exportRatings, importDialog, ledgerView, mapView, openFilm, promiseView };
