"""A book that forgets, allows or costs too little."""

from __future__ import annotations

from mutating.bug import Bug

LEDGER = (
    Bug(
        "cap looked at too late",
        "a charge is admitted if the book was below its cap before it",
        "ledger/book/rules.py",
        "        after = epsilon_of(before + replace(price, unbounded=0), delta)\n",
        "        after = epsilon_of(before, delta)\n",
        ("ledger/test_book.py::TestSQLiteBook",),
    ),
    Bug(
        "no cap for what nothing bounds",
        "a printed method is booked under a cap without being asked",
        "ledger/book/rules.py",
        "        if price.unbounded and not accept_unbounded:\n",
        "        if price.unbounded and accept_unbounded is None:\n",
        ("ledger/test_book.py::TestSQLiteBook",),
    ),
    Bug(
        "rollback unnoticed",
        "an old copy of a book says that it knows every statement",
        "ledger/book/book.py",
        "        return head == genesis(self.population) or any(\n",
        "        return bool(head) or any(\n",
        (
            "attack/test_book.py::test_an_old_copy_verifies_but_does_not_know_the_newer_head",
        ),
    ),
    Bug(
        "seal not looked at",
        "the end of a book can be cut off",
        "ledger/book/chain.py",
        "    if not hmac.compare_digest(\n",
        "    if text is None and not hmac.compare_digest(\n",
        ("attack/test_book.py::test_damage_is_detected_and_named",),
    ),
    Bug(
        "entries may be edited",
        "the text of an entry is not compared with its hash",
        "ledger/book/chain.py",
        "        if not isinstance(text, str) or sha256(text) != stored:\n",
        "        if not isinstance(text, str):\n",
        ("attack/test_book.py::test_damage_is_detected_and_named",),
    ),
    Bug(
        "one request, other events",
        "a request that is repeated with other events is not charged for them",
        "ledger/book/book.py",
        "                if (made.events, made.unit) != (asked, unit):\n",
        "                if made.unit != unit:\n",
        (
            "attack/test_planted.py::test_a_request_stands_for_its_own_events_alone",
        ),
    ),
    Bug(
        "wrong delta conversion",
        "the closed form of the Gaussian with a wrong sign",
        "ledger/account/gaussian.py",
        "    x = epsilon / mu - mu / 2\n",
        "    x = epsilon / mu + mu / 2\n",
        ("ledger/test_gaussian.py",),
    ),
    Bug(
        "Renyi orders read too low",
        "the step from a divergence to epsilon forgets delta's order",
        "ledger/account/renyi.py",
        "    return divergence + log1p(-1 / order) - log(delta * order) / (order - 1)\n",
        "    return divergence + log1p(-1 / order) - log(order) / (order - 1)\n",
        ("ledger/test_account.py",),
    ),
    Bug(
        "rounds do not add up",
        "of several Gaussian rounds only the dearest is charged",
        "ledger/account/cost.py",
        "        mu2 += each.mu2\n",
        "        mu2 = max(mu2, each.mu2)\n",
        ("ledger/test_account.py::test_rounds_compose_as_one",),
    ),
    Bug(
        "group of one",
        "a person's ratings are charged as one of them",
        "ledger/account/cost.py",
        '        return 2 if at == "value" else limit\n',
        "        return 1\n",
        ("ledger/test_account.py::test_units_are_translated_by_group_privacy",),
    ),
    Bug(
        "coin that hides no rating",
        "sampling whole people amplifies for one rating",
        "ledger/account/cost.py",
        '    chance = event.sampled if unit == "user" else 1.0\n',
        "    chance = event.sampled\n",
        (
            "ledger/test_account.py::test_sampling_people_does_not_amplify_for_one_rating",
        ),
    ),
    Bug(
        "grid for nothing",
        "the discrete Gaussian is charged as the continuous one",
        "ledger/account/cost.py",
        "        mu2 = steps * steps * event.sensitivity**2 / (event.sigma**2 - 4)\n",
        "        mu2 = steps * steps * event.sensitivity**2 / event.sigma**2\n",
        (
            "ledger/test_account.py::test_the_discrete_gaussian_pays_for_its_grid",
        ),
    ),
    Bug(
        "beside a cheaper part",
        "a part that lies beside a cheaper one is free",
        "ledger/account/cost.py",
        "            if lead is None or not _covers(_price(lead, unit, steps), own):\n",
        "            if lead is None:\n",
        ("ledger/test_account.py",),
    ),
    Bug(
        "amplified too much",
        "a pure event is amplified to q times epsilon",
        "ledger/account/cost.py",
        "        else log1p(chance * expm1(epsilon))\n",
        "        else chance * epsilon\n",
        ("ledger/test_account.py",),
    ),
    Bug(
        "evaluation under a cap",
        "raw ratings are compared on a capped book without being asked",
        "ledger/book/rules.py",
        "        and not owner_only\n",
        "        and owner_only is None\n",
        ("ledger/test_book.py::TestSQLiteBook",),
    ),
    Bug(
        "device book forgets",
        "a device pays for its first answer only",
        "ledger/book/devices.py",
        "            self._table[asked[fits]] = rows[fits]\n",
        "            self._table[asked[fits]] = self._table[asked[fits]]\n",
        ("ledger/test_devices.py",),
    ),
)
