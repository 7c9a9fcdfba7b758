"""Noise that is too small, shared, repeated or predictable."""

from __future__ import annotations

from mutating.bug import Bug

NOISE = (
    Bug(
        "halved noise",
        "a release draws half the noise that was charged",
        "noise/release.py",
        "    scale = law.spread\n",
        "    scale = law.spread / 2\n",
        ("engine/test_threads.py::test_noise_has_the_scale_of_the_event",),
    ),
    Bug(
        "float noise",
        "noise of a floating-point generator, rounded, in place of the exact law",
        "noise/gaussian.py",
        '    return draw(table("gaussian", float(sigma)), n, bits, threads)',
        "    return np.random.default_rng().normal(0, sigma, n).round().astype(np.int64)",
        ("noise/test_settings.py",),
    ),
    Bug(
        "seeded noise",
        "the generator starts from a constant",
        "noise/bits.py",
        "        seed = _source(48)\n",
        "        _source(48)\n        seed = bytes(48)\n",
        ("noise/test_bits.py::test_two_generators_never_share_a_stream",),
    ),
    Bug(
        "seed kept after a fork",
        "parent and child draw the same noise",
        "noise/bits.py",
        "        if self._home != (os.getpid(), _forks):",
        "        if self._home is None:",
        ("noise/test_bits.py::test_parent_and_child_draw_different_bits_after_a_fork",),
    ),
    Bug(
        "key never renewed",
        "a generator goes on with one key for ever",
        "noise/bits.py",
        "            if self._left < 8 * count:\n",
        "            if self._left < -(2**60):\n",
        ("noise/test_bits.py::test_a_generator_takes_a_new_key_in_time",),
    ),
    Bug(
        "event drawn twice",
        "one paid event gives any number of releases",
        "noise/release.py",
        "        event = self._open.pop(name, None)\n",
        "        event = self._open.get(name, None)\n",
        ("attack/test_planted.py::test_a_paid_event_is_drawn_once",),
    ),
    Bug(
        "one draw for a matrix",
        "all entries of a band get the same noise",
        "noise/release.py",
        "            else draw_noise(self._event, (count,)).steps\n",
        "            else np.resize(draw_noise(self._event, (1,)).steps, count)\n",
        ("attack/test_planted.py::test_every_entry_of_a_matrix_has_a_noise_of_its_own",),
    ),
    Bug(
        "matrix without its first noise",
        "the first entry of every row of a matrix is released as it is",
        "noise/kernels.py",
        "            if noise.size:\n",
        "            if noise.size and column > start:\n",
        ("attack/test_planted.py::test_every_entry_of_a_matrix_has_a_noise_of_its_own",),
    ),
    Bug(
        "response twice as telling",
        "a randomized bit has the odds of twice its epsilon",
        "noise/response.py",
        "    _, high = exp_minus_rational(Fraction(epsilon), precision)\n",
        "    _, high = exp_minus_rational(2 * Fraction(epsilon), precision)\n",
        ("noise/test_proofs.py::test_the_response_bound_never_passes_epsilon",),
    ),
    Bug(
        "choice twice as telling",
        "a randomized choice has the odds of twice its epsilon",
        "noise/device.py",
        "    _, high = exp_minus_rational(Fraction(epsilon), precision)\n",
        "    _, high = exp_minus_rational(2 * Fraction(epsilon), precision)\n",
        ("noise/test_device.py::test_no_answer_is_more_than_e_to_the_epsilon_likelier",),
    ),
    Bug(
        "selection without its factor",
        "a selection is charged for scores that move one way only",
        "noise/selection.py",
        "    rate = Fraction(epsilon) / (2 * Fraction(sensitivity))\n",
        "    rate = Fraction(epsilon) / Fraction(sensitivity)\n",
        ("statistical/test_others.py::test_permute_and_flip_has_its_law",),
    ),
    Bug(
        "K-norm without rejection",
        "candidates of another law are all kept",
        "noise/knorm.py",
        "    x = length - np.sum(np.abs(values), axis=1) / wide\n",
        "    x = 0.0 * length\n",
        ("statistical/test_others.py::test_knorm_on_small_lattices",),
    ),
    Bug(
        "number of trials not secret",
        "a selection always runs the same number of trials",
        "noise/trials.py",
        "    return number\n",
        "    return 3\n",
        ("statistical/test_trials.py::test_the_number_of_trials_has_its_law",),
    ),
    Bug(
        "coin shared by rounds",
        "the secret coin of a person is tossed once for all rounds",
        "engine/memory.py",
        ("        return bits.fresh().words(self.people)\n"
"\n"
"    def partition_words"),
        ("        return self.partition_words()\n"
"\n"
"    def partition_words"),
        ("attack/test_planted.py::test_a_coin_is_tossed_anew_in_every_round",),
    ),
)
