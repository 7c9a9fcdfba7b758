"""What a person waits for, measured inside the page: from her press to a list that is drawn."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import median

from playwright.sync_api import Page

WATCH = """
window.shifts = []; window.tasks = []; window.broken = []; window.lists = []; window.presses = [];
const watch = (type, note) =>
  new PerformanceObserver(list => list.getEntries().forEach(note)).observe({type, buffered: true});
watch('layout-shift', e => e.hadRecentInput || shifts.push(
  [e.value, e.sources.map(s => s.node?.className ?? s.node?.nodeName).join()]));
watch('longtask', e => tasks.push([e.startTime, e.duration]));
addEventListener('securitypolicyviolation',
  e => broken.push(e.violatedDirective + ' ' + e.blockedURI));
addEventListener('pointerup', e => presses.push(e.timeStamp), true);
const mark = performance.mark.bind(performance);
performance.mark = (name, ...more) => {
  const made = mark(name, ...more);
  if (name === 'tacit list') requestAnimationFrame(() => {
    const after = new MessageChannel();
    after.port1.onmessage = () => lists.push([made.startTime, performance.now()]);
    after.port2.postMessage(0);
  });
  return made;
};
"""
"""Run before the page's own scripts. `lists` has for each new list when it was in the document, and
when the frame that shows it was drawn: the task after that frame's callback."""
ROWS = 4
"""Rows of the list that any window shows."""
HELD = 60.0
"""Milliseconds that a finger rests on the button."""
PACE = 500.0
"""Milliseconds from one press to the next: a quick person. Movements of the list take 260."""


LONGEST = 15_000.0
"""Milliseconds after which no list is expected any more, on however busy a machine."""
DRAWN = """
longest => new Promise(resolve => {
  const end = performance.now() + longest;
  const look = () => {
    const pressed = presses.at(-1);
    const list = lists.find(each => each[0] > pressed);
    if (list || performance.now() > end) resolve(list?.map(time => time - pressed) ?? null);
    else setTimeout(look, 20);
  };
  look();
})
"""
"""Waits for the list that the last press made; milliseconds until it was new, and drawn."""


@dataclass(frozen=True)
class Waits:
    """Milliseconds from the press to the new list, for each press."""

    new: list[float]
    drawn: list[float]

    def facts(self) -> dict[str, float]:
        """For a report."""
        return {
            "ms": round(median(self.new), 1),
            "best": round(min(self.new), 1),
            "drawn": round(median(self.drawn), 1),
        }


def first_list(page: Page) -> float:
    """Milliseconds from the navigation to the first list that was drawn."""
    drawn = """
    new Promise(resolve => {
      const look = () => lists.length ? resolve(lists[0][1]) : setTimeout(look, 20);
      look();
    })
    """
    return float(page.evaluate(drawn))


def click_stars(page: Page, clicks: int) -> Waits:
    """Rates films of the list with the mouse, one after the other."""
    waits = Waits([], [])
    for click in range(clicks):
        stars = page.locator(".rec input").nth(click % ROWS)
        box = stars.bounding_box()
        assert box is not None
        at = box["width"] * (1.5 + click % 5) / 6
        page.mouse.move(box["x"] + at, box["y"] + box["height"] / 2)
        page.wait_for_timeout(PACE)
        page.mouse.down()
        page.wait_for_timeout(HELD)
        page.mouse.up()
        found = page.evaluate(DRAWN, LONGEST)
        assert found, "a press made no new list"
        page.wait_for_timeout(PACE)
        waits.new.append(found[0])
        waits.drawn.append(found[1])
    return waits
