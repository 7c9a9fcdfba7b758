"""People who are counted twice, or by a coin that others know: clusters, packed files, calendars,
budgets of one's own, public people."""

from __future__ import annotations

from mutating.bug import Bug

REFRESHED = "fitting/test_refresh.py"
KILLED = "fitting/test_refresh_killed.py"
SECRETS = "engine/spark/test_secrets.py"
SCATTER = "engine/spark/test_scatter.py"
WEIGHED = "fitting/test_personal.py"

ENGINE = (
    Bug(
        "coin of a generator on a cluster",
        "a task draws people's coins itself, and others when it runs again",
        "engine/spark/work.py",
        "        return secret_words(self._keys.coin, self._digests)\n",
        (
            "        made = np.random.default_rng()\n"
            "        return made.integers(0, 1 << 63, len(self._digests), np.uint64)\n"
        ),
        (SECRETS,),
    ),
    Bug(
        "one coin for all rounds of a cluster",
        "the key of people's coins is that of the run",
        "engine/spark/engine.py",
        "            Keys(fresh_key(), self._place_key),\n",
        "            Keys(bytes(32), self._place_key),\n",
        (SECRETS,),
    ),
    Bug(
        "person in two partitions",
        "rows are dealt out among tasks whoever they are of",
        "engine/spark/table.py",
        '        return scattered.repartition(partitions, "place"), pack\n',
        "        return scattered.repartition(partitions), pack\n",
        (SECRETS,),
    ),
    Bug(
        "place of a row, not of a person",
        "rows are scattered by where they stand, and somebody comes to two partitions",
        "engine/spark/scatter.py",
        "        mixed = (ids * MIX) >> UPPER\n",
        "        mixed = ids + np.arange(len(ids), dtype=np.uint64)\n",
        (f"{SCATTER}::test_nobody_is_in_two_places_and_no_row_is_lost",),
    ),
    Bug(
        "place by a hash of the process",
        "two workers send the rows of one person to two partitions",
        "engine/spark/scatter.py",
        "        hashes = np.array([crc32(name.encode()) for name in names], np.uint64)\n",
        "        hashes = np.array([hash(name) & 0xFFFF for name in names], np.uint64)\n",
        (f"{SCATTER}::test_a_place_follows_from_the_id_alone_in_every_process",),
    ),
    Bug(
        "item in the bits of a person",
        "in a word of a rating a large item's place makes it another person's",
        "engine/spark/scatter.py",
        "    if not (_within(user, USER_BITS) and _within(item, ITEM_BITS)):\n",
        "    if not _within(user, USER_BITS):\n",
        (f"{SCATTER}::test_an_item_never_runs_into_the_bits_of_a_person",),
    ),
    Bug(
        "fault on the way passed over",
        "rows that a task could not send are missing without a word",
        "engine/spark/scatter.py",
        "        raise_fault(row)\n        if row.part == WORDS:\n",
        "        if row.kind != CODED:\n            continue\n        if row.part == WORDS:\n",
        (f"{SCATTER}::test_a_fault_on_the_way_stops_the_task_that_gathers",),
    ),
    Bug(
        "person in two blocks of a cluster",
        "a block ends where a batch does, not where a person does",
        "engine/spark/pack.py",
        (
            "        yield runs._replace(\n"
            "            names=runs.names[:-1], ends=runs.ends[:-1], rows=runs.rows.slice(0, "
            "end)\n"
            "        )\n"
            "        held, goal = [runs.rows.slice(end)], cells\n"
            "        count -= end\n"
        ),
        ("        yield runs\n        held, goal, count = [], cells, 0\n"),
        ("engine/spark/test_parts.py",),
    ),
    Bug(
        "chunk of a matrix summed twice",
        "the last block of a chunk is the first of the next",
        "engine/gram.py",
        ("            yield run\n            run, cells = [], 0\n"),
        ("            yield run\n            run, cells = run[-1:], 0\n"),
        ("engine/test_streaming.py",),
    ),
    Bug(
        "person in two pieces of a packed file",
        "a piece begins with the last person of the one before",
        "data/packed/packed.py",
        "            yield self.people_between(first, last)\n            first = last\n",
        "            yield self.people_between(first, last)\n"
        "            first = last - (first + 1 < last < self.n_users)\n",
        ("engine/test_streaming.py",),
    ),
    Bug(
        "rating twice in a packed file",
        "a cell that a table repeats stays there twice",
        "data/reading/spooled.py",
        (
            "            ptr, merged = merge_repeats(cells, ptr, self.duplicates, "
            "self.label, spot)\n"
        ),
        "            merged = len(spot('')) - len(spot(''))\n",
        ("data/test_pack.py",),
    ),
    Bug(
        "budgets of people ignored in matrices",
        "who asked for less is weighed in sums and whole in products",
        "engine/threads.py",
        "                matrix.add(position, contribution[name], people, user_weights)\n",
        "                matrix.add(position, contribution[name], people)\n",
        (WEIGHED,),
    ),
    Bug(
        "weight rounded away from zero",
        "who asked for less adds a step to every number",
        "bound/personal.py",
        ("    lessened_lines: Whole = np.sign(lines) * ((np.abs(lines) * line_weight) // WHOLE)\n"),
        (
            "    lessened_lines: Whole = np.sign(lines) * -((-np.abs(lines) * line_weight) "
            "// WHOLE)\n"
        ),
        ("bound/test_personal.py",),
    ),
    Bug(
        "weight priced by one release",
        "a person's weight is worth what she asked for in the last round alone",
        "fitting/personal.py",
        "    events = tuple(events)\n    by_epsilon",
        "    events = tuple(events)[-1:]\n    by_epsilon",
        (WEIGHED,),
    ),
    Bug(
        "budgets of places in a table",
        "a weight is found by a number that one person less gives to another",
        "fitting/personal.py",
        "    if ratings.notes.numbered:\n",
        "    if ratings is None:\n",
        (WEIGHED,),
    ),
    Bug(
        "device adds all and pays for less",
        "a device that asked for less multiplies nothing",
        "federation/device/device.py",
        "        clipped = lessened(clipped, rows.ptr, weights)\n",
        "        clipped = clipped + 0\n",
        ("federation/test_own_epsilon.py",),
    ),
    Bug(
        "counted again every week",
        "nobody looks who was counted in a calendar",
        "fitting/counted.py",
        "        if len(counted_weeks) >= self.calendar.most:\n",
        "        if len(counted_weeks) >= self.calendar.horizon:\n",
        (REFRESHED,),
    ),
    Bug(
        "list of the counted not sealed",
        "people may be taken off the list of a calendar",
        "fitting/refresh.py",
        "        if sealed(seal, names, digests) != week.counted_digest:\n",
        "        if not sealed(seal, names, digests):\n",
        (REFRESHED,),
    ),
    Bug(
        "week drawn twice",
        "a calendar that was killed draws noise anew for what it has stored",
        "fitting/refresh.py",
        "            noisy = diary.array(noisy_path)\n",
        "            noisy = None\n",
        (KILLED,),
    ),
    Bug(
        "copy of a calendar goes on",
        "a folder that drew noise of its own for a released week is believed",
        "fitting/refresh.py",
        ("            if week.ended.left not in (None, keyed_digest(diary, week.number, key)):\n"),
        "            if not keyed_digest(diary, week.number, key):\n",
        (REFRESHED,),
    ),
    Bug(
        "calendar charged as one release",
        "who is counted twice is charged as who is counted once",
        "rounds/calendar.py",
        "        starts = range(0, self.horizon, self.gap)[: self.most]\n",
        "        starts = range(0, self.horizon, self.gap)[:1]\n",
        ("rounds/test_calendar.py",),
    ),
    Bug(
        "kept apart here and seen there",
        "a cell that a fit must not see is read in the public table",
        "fitting/public_prior.py",
        (
            "    ratings = people.ratings if held_out is None else "
            "held_out.training_ratings(people.ratings)\n"
        ),
        "    ratings = people.ratings\n",
        ("fitting/test_pairs.py",),
    ),
    Bug(
        "private people as public ones",
        "the private table itself is taken as a prior",
        "fitting/public_prior.py",
        "    if isinstance(private, Ratings) and people.ratings.value is private.value:\n",
        "    if isinstance(private, str):\n",
        ("fitting/test_pairs.py",),
    ),
    Bug(
        "popularity of the block taken off",
        "likes are centred on what the people of a block have in common",
        "methods/item_item/ease.py",
        "    dense = -length[:, None] * common.along\n",
        "    dense = -length.mean() * np.ones((people, 1)) * common.along\n",
        ("bound/test_centred_likes.py",),
    ),
)
