"""Devices and servers that give more away than they agreed."""

from __future__ import annotations

from mutating.bug import Bug

FEDERATION = (
    Bug(
        "device share too small",
        "a device adds half its share of the noise",
        "noise/portion.py",
        '        variance = nextafter(event.variance / enough, float("inf")) * devices\n',
        '        variance = nextafter(event.variance / enough, float("inf")) * devices / 2\n',
        ("federation/test_shares.py::test_enough_portions_make_the_variance_that_was_charged",),
    ),
    Bug(
        "twice the participants",
        "shares are made for twice as many devices as must be honest",
        "federation/agreed/scheme.py",
        "            return portion(event, count, self.made.task.enough)\n",
        "            return portion(event, count, 2 * self.made.task.enough)\n",
        (
            "federation/test_federated_privacy.py::test_a_device_adds_its_share_whatever_is_announced",
        ),
    ),
    Bug(
        "mask reused for another state",
        "two contributions to a round are hidden by one mask",
        "federation/protocol/packing.py",
        '    return derived(secret, f"{task} {round_} {nonce} {state_digest}")\n',
        '    return derived(secret, f"{task} {round_} {nonce}")\n',
        ("federation/test_federated_privacy.py::test_one_mask_never_covers_two_contributions",),
    ),
    Bug(
        "mask reused for another part",
        "two parts of a round are hidden by one mask",
        "federation/protocol/packing.py",
        "    part_key = derived(key, label)\n",
        '    part_key = derived(key, "")\n',
        ("federation/test_frames.py::test_a_mask_is_uniform_and_differs_by_round_part_and_device",),
    ),
    Bug(
        "turns without end",
        "a device answers more turns than the plan has priced",
        "federation/device/device.py",
        "        return len(names & self.ran - {round_.name}) < part.most\n",
        "        return True\n",
        (
            "federation/test_federated_privacy.py::test_a_device_takes_as_many_turns_as_were_priced_whatever_its_cap",
        ),
    ),
    Bug(
        "smaller cohort accepted",
        "a device answers a round with fewer shares of noise than its task has",
        "federation/device/device.py",
        "if announcement.least != task.least or (shared and announcement.enough > enough):\n",
        "if announcement.least != task.least:\n",
        (
            "federation/test_federated_privacy.py::test_a_round_on_other_terms_than_the_tasks_is_not_answered",
        ),
    ),
    Bug(
        "device without a cap",
        "a device takes any task, whatever its noise",
        "federation/device/policy.py",
        "        if price > self.epsilon * SLACK:\n",
        "        if price < 0:\n",
        (
            "federation/test_federated_wire.py::test_a_device_refuses_a_plan_whose_noise_is_too_small_for_its_cap",
        ),
    ),
    Bug(
        "sum over too few",
        "an aggregator reveals a sum over fewer devices than each of them asked for",
        "federation/server/uploads.py",
        "max([int(stored_round.least), self.least, *(int(row[1]) for row in contributors)])\n",
        "0\n",
        ("federation/test_rogue_servers.py::test_a_sum_over_too_few_is_never_revealed",),
    ),
    Bug(
        "second sum of a round",
        "an aggregator opens a round again whose sum it has revealed",
        "federation/server/uploads.py",
        "            if _is_revealed(session, *key):\n",
        "            if _is_revealed(session, '', 0):\n",
        ("federation/test_rogue_servers.py::test_a_second_sum_of_a_round_is_never_revealed",),
    ),
    Bug(
        "server without its noise",
        "a server hands on a sum without the noise that it has promised",
        "federation/agreed/scheme.py",
        "        return with_noise(layout, sum_)\n",
        "        return sum_\n",
        (
            "attack/test_server_noise.py::test_an_aggregator_that_invented_all_others_faces_a_whole_noise",
            "attack/test_server_noise.py::test_a_recommender_that_invented_all_others_faces_a_whole_noise",
        ),
    ),
    Bug(
        "contribution not bounded on the device",
        "a device adds what it computed to the sum before it is clipped",
        "federation/device/device.py",
        "    clipped = part.bound.apply(rows)\n",
        "    clipped = np.int64(rows.values * part.bound.steps)\n",
        ("federation/test_realised.py::test_it_is_the_price_of_the_norms_of_what_was_added",),
    ),
    Bug(
        "absurd numbers silence a device",
        "a device whose numbers end in an error under a made-up state falls silent",
        "federation/device/device.py",
        "    except ABSURD:\n",
        "    except KeyError:\n",
        (
            "federation/test_absurd_states.py::test_no_absurd_number_silences_only_those_who_rated_some_item",
        ),
    ),
    Bug(
        "public arrays of any width",
        "a device takes tastes of another width than the rest of its state has",
        "federation/agreed/expect.py",
        "    return len(lengths) <= 1 and all(0 < n <= MOST_COLUMNS for n in lengths)\n",
        "    return True\n",
        ("federation/test_absurd_states.py::test_arrays_that_do_not_fit_one_another_are_refused",),
    ),
    Bug(
        "own noise of a device shared",
        "in the local model one draw covers all devices of a block",
        "noise/device.py",
        "        total += noise.steps.sum(axis=0)\n",
        "        total += noise.steps[0]\n",
        ("noise/test_device.py::test_the_noise_of_many_devices_is_the_sum_of_theirs",),
    ),
    Bug(
        "answers before they are paid",
        "devices answer whether or not their own book has room",
        "engine/local.py",
        "                payers = books.pay(answer.event, payers)\n",
        "                books.pay(answer.event, payers)\n",
        ("engine/test_local.py::test_devices_refuse_past_their_own_cap_whatever_is_asked",),
    ),
)
