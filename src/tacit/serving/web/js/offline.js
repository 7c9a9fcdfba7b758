/** The page without its server: the service worker, and what the browser loaded before there was one. */

import { lineBytes, record, shown } from "./ledger.js";
import { isData } from "./net.js";
import { trustedScript } from "./trusted.js";

/** Registers the service worker, once the page has what it needs. */
export async function keepOffline() {
  if (!("serviceWorker" in navigator)) return;
  try {
    await navigator.serviceWorker.register(trustedScript("sw.js"), { type: "module", updateViaCache: "none" });
  } catch {
    // Without one the page works, but only with its server: a browser or a place that does not allow it.
  }
}

/**
 * Writes down what the browser itself loaded for this page (its document, styles and scripts): there was
 * no service worker to do it. With one, it has done so already.
 */
export async function ownLoads() {
  if (navigator.serviceWorker?.controller) return;
  const loads = /** @type {PerformanceResourceTiming[]} */ ([...performance.getEntriesByType("navigation"), ...performance.getEntriesByType("resource")]);
  for (const load of loads) note(load);
  new PerformanceObserver((list) => {
    for (const load of list.getEntries()) note(/** @type {PerformanceResourceTiming} */ (load));
  }).observe({ type: "resource" });
}

const noted = new Set();

/** @param {PerformanceResourceTiming} load */
function note(load) {
  const url = new URL(load.name);
  const ours = load.initiatorType === "fetch" || isData(url); // those went through net.js, which wrote them down
  if (ours || noted.has(load.name) || !url.protocol.startsWith("http")) return;
  noted.add(load.name);
  const { transferSize, responseStatus } = load;
  if (transferSize === 0 && load.decodedBodySize > 0) return; // from the browser's own cache: nothing left
  void record({
    at: Math.round(performance.timeOrigin + load.startTime), by: "browser", why: "page", address: shown(url),
    asked: lineBytes("GET", url), body: 0, received: transferSize, status: responseStatus || 200, cut: false,
  });
}
