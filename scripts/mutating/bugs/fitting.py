"""A fit that looks where it must not, pays too late, or says too much."""

from __future__ import annotations

from mutating.bug import Bug

RIVALS = "rounds/test_instead.py"

FITTING = (
    Bug(
        "charged after the noise",
        "the book is charged when the model is there",
        "fitting/run.py",
        "    payment = pay(\n",
        "    run.go()\n    payment = pay(\n",
        ("attack/test_planted.py::test_nothing_is_drawn_before_the_book_is_charged",),
    ),
    Bug(
        "one event missing",
        "the last release of a plan is not charged",
        "fitting/run.py",
        "        order, run.fingerprint(), tuple(run.charged), run.public",
        "        order, run.fingerprint(), tuple(run.charged)[:-1], run.public",
        ("attack/test_planted.py::test_the_book_is_charged_for_all_that_is_drawn",),
    ),
    Bug(
        "value threshold before the pattern",
        "likes are kept by value where who rated what is public",
        "fitting/check.py",
        '    if order.unit == "value":\n        other',
        '    if order.unit == "nothing":\n        other',
        ("fitting/test_values.py",),
    ),
    Bug(
        "delta as large as one wants",
        "a delta above one in the number of people is accepted",
        "fitting/check.py",
        "    if budget.delta > limit:\n",
        "    if budget.delta > 1:\n",
        ("attack/test_planted.py::test_a_delta_above_one_in_the_people_is_refused",),
    ),
    Bug(
        "people counted exactly",
        "the exact number of people makes the plan where none is declared",
        "fitting/price.py",
        '    if order.unit == "value" or order.method.local:\n',
        "    if order.unit:\n",
        ("fitting/test_count.py::test_the_statement_tells_the_plan_that_was_chosen",),
    ),
    Bug(
        "raw count in the statement",
        "a statement tells how many people there are",
        "fitting/run.py",
        "            used=self.method.used(self.settled.public),\n",
        "            used={'people': self.engine.people},\n",
        ("attack/test_planted.py::test_neighbours_have_the_same_statement",),
    ),
    Bug(
        "block mean",
        "the mean of a block of people is taken off everybody's ratings",
        "methods/first_order/rounds.py",
        "            residuals -= np.repeat(user_means, np.diff(block.ptr))\n",
        "            residuals -= residuals.mean()\n",
        ("methods/test_bias.py::TestBias",),
    ),
    Bug(
        "maximum of the data as scale",
        "ratings are scaled by the largest one that is there",
        "methods/baselines/popularity.py",
        '                "mean": Rows(block.ptr, block.item * 0, block.value[:, None]),\n',
        '                "mean": Rows(block.ptr, block.item * 0,\n'
        "                    2 * block.value[:, None] / np.abs(block.value).max()),\n",
        ("methods/test_popularity.py::TestPopularity",),
    ),
    Bug(
        "personal state saved with the model",
        "what engines keep for people goes into the published arrays",
        "fitting/run.py",
        "        return replace(shared, schema=self.public.schema)\n",
        "        kept = getattr(self.engine, 'kept', {})\n"
        "        return replace(shared, schema=self.public.schema,\n"
        "                       arrays={**shared.arrays, **kept})\n",
        ("attack/test_planted.py::test_no_published_array_has_a_row_a_person",),
    ),
    Bug(
        "no noise and no word of it",
        "a run whose noise is off calls itself private",
        "rounds/loop.py",
        "        self.private &= all(part.private for part in released.values())\n",
        "        self.private = True\n",
        ("attack/test_planted.py::test_a_round_without_noise_makes_a_run_not_private",),
    ),
    Bug(
        "items in the order of their ratings",
        "item ids are listed in the order in which the file rates them",
        "data/ids.py",
        "    others.sort(key=names.__getitem__)\n",
        "    digits.sort(key=lambda k: k)\n",
        ("data/test_ids.py::test_where_an_id_stands_depends_on_it_alone",),
    ),
    Bug(
        "mixed people pass",
        "nobody looks whether each person is computed alone",
        "engine/per_person.py",
        "            if share_alone is None or not share.same(share_alone):\n",
        "            if share_alone is None:\n",
        ("testing/test_alone.py::test_the_engine_stops_a_leak",),
    ),
    Bug(
        "not tried before it is paid",
        "a method that mixes people is found after the charge",
        "fitting/run.py",
        "    run.rehearse()\n    paying()\n",
        "    paying()\n",
        ("testing/test_alone.py::test_a_leak_is_refused_before_anything_is_charged",),
    ),
    Bug(
        "share larger than the whole",
        "every part of a plan gets the whole budget",
        "rounds/calibrate.py",
        "        share = part.share / self.whole\n",
        "        share = 1.0\n",
        ("attack/test_planted.py::test_all_parts_of_a_plan_cost_its_budget_together",),
    ),
    Bug(
        "turns not priced",
        "a person who takes several turns is charged for one",
        "rounds/calibrate.py",
        "            if times > 1:\n",
        "            if times > 10**9:\n",
        ("federation/test_shares.py::test_turns_charge_one_device_for_the_turns_it_may_take",),
    ),
    Bug(
        "slices overlap",
        "a person is in several slices that are charged as one",
        "rounds/people.py",
        "((position >= self.index) & (position < self.index + self.width))",
        "(position >= self.index)",
        ("attack/test_planted.py::test_nobody_is_in_two_slices",),
    ),
    Bug(
        "ratings shown by their repr",
        "printing a contribution prints people's ratings",
        "bound/base.py",
        "    __repr__ = shapes\n",
        "",
        ("attack/test_repr.py",),
    ),
    Bug(
        "released figure without its noise",
        "a figure about a model is published as it was measured",
        "evaluation/release.py",
        "    sums = run.released(entry=payment.receipt.hash)\n",
        "    run.noiseless = True\n    sums = run.released(entry=payment.receipt.hash)\n",
        (
            "evaluation/test_release.py::test_a_release_is_charged_and_adds_to_the_fit",
            "evaluation/test_release.py::test_noise_that_drowns_everything_gives_no_figure",
        ),
    ),
    Bug(
        "exact people in the public state",
        "who contributes writes how many people there are where the next round is chosen from",
        "methods/item_item/ease.py",
        "        weights = np.ones(len(block.item))\n        if whole_person:\n",
        "        weights = np.ones(len(block.item))\n"
        '        object.__setattr__(state, "people", float(len(block.people)))\n'
        "        if whole_person:\n",
        ("methods/test_either.py",),
    ),
    Bug(
        "guard that counts people",
        "whether the covariance pays is asked of the people who are there",
        "methods/first_order/rounds.py",
        '            return {"weights": cell_rows(block, self.cell_weights(block, state))}\n',
        '            object.__setattr__(state, "people", float(len(block.people)))\n'
        '            return {"weights": cell_rows(block, self.cell_weights(block, state))}\n',
        ("methods/test_either.py",),
    ),
    Bug(
        "rival with another round's noise",
        "a round that stands instead of another is noised for that one's sensitivity",
        "rounds/calibrate.py",
        "        sensitivity = _sensitivity(self.plan, name, part, pure)\n",
        (
            "        part_name = self.plan.first_of(round_) if round_.instead else round_\n"
            "        sensitivity = _sensitivity(self.plan, name, part_name.parts[0], pure)\n"
        ),
        (f"{RIVALS}::test_each_of_the_two_is_noised_for_its_own_sensitivity",),
    ),
    Bug(
        "both of two rivals",
        "a round is drawn although the one that stands instead of it was",
        "noise/release.py",
        "event.instead is not None and self._open.pop(event.instead, None) is None:\n",
        "event.instead is not None and event.instead not in self._open:\n",
        (f"{RIVALS}::test_never_both_are_drawn",),
    ),
    Bug(
        "status tells who was forgotten",
        "a list of which nobody is in the table ends the fit",
        "cli/people.py",
        (
            "    interactive = sys.stdin.isatty() and sys.stderr.isatty()\n"
            "    if interactive and not click.confirm"
        ),
        "    if True or not click.confirm",
        ("cli/test_without.py",),
    ),
    Bug(
        "first row quoted",
        "a header that is refused is quoted, and may be somebody's row",
        "data/reading/columns.py",
        "    quotable = header if named else None\n",
        "    quotable = header\n",
        ("data/test_read_errors.py",),
    ),
)
