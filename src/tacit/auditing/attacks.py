"""The attacks of an audit, each from a target and a ground to findings."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from math import inf

import numpy as np

from tacit.auditing.adversary import QUICK_EFFORT, Effort, hunt_pairs
from tacit.auditing.black_box import features, learned_scores
from tacit.auditing.canaries import Ground
from tacit.auditing.devices import play_devices
from tacit.auditing.guesses import GaussianCurve, guess, least_mu_any
from tacit.auditing.one_run import OneRun, measure, run_once
from tacit.auditing.verdict import AttackFinding, Target, make_finding
from tacit.auditing.walk import Walk, walk
from tacit.data.catalogue import Catalogue
from tacit.ledger.account import account
from tacit.ledger.account.event import Unbounded
from tacit.rounds.round import Kind, Part, Released

TRANSCRIPT = "one run, transcript"
PUBLISHED = "one run, published model"
BARE = "bare releases"
WORST = "worst neighbours"
DEVICE = "one device, two records"
ABOVE = 1 + 1e-9
"""A share of a bound beyond rounding."""
SUREST = 0.2
"""Of the canaries that are guessed from a published model."""

GroundAttack = Callable[[Target, Ground], list[AttackFinding]]


def proven(run: OneRun, target: Target) -> float:
    """What the account proves of the events that were drawn from."""
    return _account(run.walked, target)


def _account(walked: Walk, target: Target) -> float:
    events = walked.run.events
    if not events or any(isinstance(event, Unbounded) for event in events):
        return inf
    return account.epsilon(events, target.delta, unit=target.unit)


VIEWS = ("transcript", "published")
"""Of a fit with canaries."""


def one_run(target: Target, ground: Ground, views: Sequence[str] = VIEWS) -> list[AttackFinding]:
    """A fit with canaries: what is bare, then the transcript, then the published model."""
    run = run_once(ground.method(target), ground.people, ground.canaries, target.unit)
    findings = [_bare(target, run)]
    if target.calibration == "sound" and "transcript" in views:
        findings.append(_transcript(target, run))
    if "published" in views:
        findings.append(_published(target, run))
    return [finding for finding in findings if finding is not None]


def worst_pair(target: Target, ground: Ground) -> list[AttackFinding]:
    """The pair of neighbours that the plan tells apart best, by search: no statistics."""
    if target.calibration != "sound":
        return []
    people = ground.people
    walked = walk(
        ground.method(target), people, Catalogue(list(people.items)), users=people.n_users
    )
    effort = QUICK_EFFORT if target.quick else Effort()
    got = hunt_pairs(walked, target.delta, effort)
    if got is None:
        return []
    broken = [name for name, share in got.reached.items() if share > ABOVE]
    low = [f"{name} {got.reached[name]:.0%} ({why})" for name, why in got.slack.items()]
    note = f"{len(got.reached) - len(low)} of {len(got.reached)} bounds are reached to 95 %"
    if low:
        note += "; not " + ", ".join(low)
    note += "; epsilon by kind of search: " + ", ".join(
        f"{name} {epsilon:.2f}" for name, epsilon in got.stages.items()
    )
    if broken:
        note = f"BROKEN bounds: {', '.join(broken)}; {note}"
    finding = make_finding(
        target,
        WORST,
        got.epsilon,
        proven=_account(walked, target),
        note=note,
        witness=got.witness,
        box="white",
    )
    return [replace(finding, mistake=0.0)]


def device_game(target: Target, ground: Ground) -> list[AttackFinding]:
    """Where every device randomizes for itself: one device, two records, many runs."""
    if target.calibration != "sound":
        return []
    people = ground.people
    method = ground.method(target)
    if not method.local:
        return []
    walked = walk(method, people, Catalogue(list(people.items)), users=people.n_users)
    got = play_devices(walked, delta=target.delta, mistake=target.mistake, quick=target.quick)
    if got is None:
        return []
    won = got.won
    finding = make_finding(
        target,
        DEVICE,
        won.epsilon,
        proven=_account(walked, target),
        note=f"{got.release}: {won.hits} of {won.runs} runs on one record and {won.false} on "
        "the other are beyond the threshold",
        witness=got.witness,
        box="white",
    )
    return [finding]


def _bare(target: Target, run: OneRun) -> AttackFinding | None:
    """Sums of people's numbers that were released without noise."""
    bare = [
        f"{step.round.name}/{part.name}"
        for step in run.walked.steps
        if step.released is not None
        for part in step.round.parts
        if _is_bare(part, step.released[part.name], target)
    ]
    if not bare:
        return None
    listed = ", ".join(bare[:4]) + (" ..." if len(bare) > 4 else "")
    return make_finding(
        target,
        BARE,
        inf,
        proven=proven(run, target),
        leak=True,
        note=f"released without noise: {listed}",
        box="white",
    )


def _is_bare(part: Part, released: Released, target: Target) -> bool:
    """Whether a part has no noise at all: that of a printed epoch is inside it."""
    if part.kind in (Kind.REPORT, Kind.SELECTION) or released.sd > 0:
        return False
    inside = part.printed is not None and not part.printed.bare
    return target.calibration == "none" or not inside


def _transcript(target: Target, run: OneRun) -> AttackFinding | None:
    transcript = run.transcript
    if not transcript.moves.any():
        return None
    got = measure(transcript, run.coins, delta=target.delta, mistake=target.mistake)
    shared = ""
    if transcript.shared:
        shared = f"; everybody shares {', '.join(transcript.shared)}"
    return make_finding(
        target,
        TRANSCRIPT,
        got.independent,
        proven=proven(run, target),
        note=f"{got.right} of {got.made} guesses about {len(run.coins)} canaries are right; "
        f"their moves allow epsilon {got.reachable:.2f}; whatever depends on what: "
        f"{got.any:.2f}{shared}",
        box="white",
    )


def _published(target: Target, run: OneRun) -> AttackFinding:
    """Guess half of the canaries by a rule that the other half taught."""
    half = np.arange(len(run.coins)) % 2 == 0
    published = features(run.shared, run.canaries)
    scores = learned_scores(published, run.coins, half)
    guess_count = round(SUREST * len(scores))
    got = guess(scores, run.coins[~half], guess_count)
    mu = least_mu_any(got, target.mistake)
    return make_finding(
        target,
        PUBLISHED,
        GaussianCurve(mu).epsilon(target.delta),
        proven=proven(run, target),
        note=f"{got.right} of {got.made} guesses about {got.people} canaries are right, by "
        "a rule that the others taught",
        box="black",
    )
