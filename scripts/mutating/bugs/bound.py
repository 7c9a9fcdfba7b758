"""A person who adds more than was charged."""

from __future__ import annotations

from mutating.bug import Bug

BOUND = (
    Bug(
        "clip skipped",
        "a row is put on the grid as it is",
        "kernels/rows.py",
        "        factor = steps * (limit / size if size > limit else 1.0)\n"
        "        total = np.int64(0)\n"
        "        for cell in range(last - first):\n"
        "            for column in range(width):\n"
        "                # Conversion rounds toward zero.\n"
        "                q = np.int64(values[first + cell",
        "        factor = steps * 1.0\n        ceiling = np.int64(2**62)\n"
        "        total = np.int64(0)\n"
        "        for cell in range(last - first):\n"
        "            for column in range(width):\n"
        "                q = np.int64(values[first + cell",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "clip too loose",
        "rows are clipped at four times the limit that is charged",
        "bound/clip.py",
        "            np.ascontiguousarray(rows.values),\n            self.limit,\n",
        "            np.ascontiguousarray(rows.values),\n            4 * self.limit,\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "one pass too loose",
        "where rows are clipped and added in one pass, they are clipped at four times the limit",
        "bound/clip.py",
        "            add_squared(rows.ptr, rows.index, values, self.limit, self.steps, out)\n",
        "            add_squared(rows.ptr, rows.index, values, 4 * self.limit, self.steps, out)\n",
        ("bound/test_clip.py::test_to_clip_and_add_in_one_pass_gives_the_same_integers",),
    ),
    Bug(
        "integers not checked",
        "a float clip is taken for the proof",
        "kernels/rows.py",
        "                total += q * q\n        while total > ceiling:\n",
        "                total += q * q\n        while total < 0:\n",
        ("attack/test_planted.py::test_a_float_that_rounds_up_is_pulled_back",),
    ),
    Bug(
        "rounded to the nearest",
        "rounding may lengthen a row",
        "kernels/rows.py",
        "                q = np.int64(values[first + cell, column] * factor)\n"
        "                out[to + cell, column] = q\n"
        "                total += q * q\n"
        "        while total > ceiling:\n",
        "                q = np.int64(np.rint(values[first + cell, column] * factor))\n"
        "                out[to + cell, column] = q\n"
        "                total += q * q\n"
        "        while total < 0:\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "infinity let through",
        "a row that holds infinity is not emptied",
        "kernels/rows.py",
        "    size = np.sqrt(square)\n    if np.isfinite(size):\n",
        "    size = np.sqrt(square)\n    if not np.isnan(size):\n",
        ("bound/test_clip.py::test_a_row_with_a_hole_in_it_counts_nothing",),
    ),
    Bug(
        "bound before centring",
        "cells are clipped, and then a mean is taken off that nothing bounds",
        "bound/centre.py",
        "        centre_cells(rows.ptr, out, self.shrink, floor(self.steps * self.limit))\n",
        "        centre_cells(rows.ptr, out, self.shrink, 2**60)\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "rounding slack dropped",
        "the shift of a mean is charged without the step that truncation adds",
        "bound/centre.py",
        "    return np.floor(shift) + 1\n",
        "    return np.floor(shift)\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "rounded entries not charged",
        "every entry of a matrix is rounded, and only the move is charged",
        "bound/gram.py",
        "        return Sensitivity(inf, cell_move + rounding * sqrt(pairs))\n",
        "        return Sensitivity(inf, cell_move)\n",
        ("attack/test_planted.py::test_rounding_every_entry_of_a_matrix_is_charged",),
    ),
    Bug(
        "matrix divided by too little",
        "a person's products are divided by the root of her row's length",
        "bound/gram.py",
        "/ (self.cells.steps**2 * np.sqrt(length + self.offset))\n",
        "            / (self.cells.steps**2 * np.sqrt(length + self.offset) ** 0.5)\n",
        ("bound/test_gram.py",),
    ),
    Bug(
        "factor of a matrix too long",
        "rows that are multiplied with themselves are clipped at twice their limit",
        "bound/gram.py",
        "        grid(rows.ptr, rows.values, self.limit, self.root, out)\n",
        "        grid(rows.ptr, rows.values, 2 * self.limit, self.root, out)\n",
        ("bound/test_gram.py",),
    ),
    Bug(
        "sensitivity of another unit",
        "a changed rating is charged as a person who leaves",
        "bound/clip.py",
        '        return single if unit == "user" else single.times(2)\n',
        "        return single\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "value charged as a cell",
        "a value that changes from end to end is charged as one that comes",
        "bound/clip.py",
        "            return Sensitivity(2 * top, 2 * top, 1)\n",
        "            return Sensitivity(top, top, 1)\n",
        ("bound/test_clip.py::test_no_neighbour_breaks_the_bound",),
    ),
    Bug(
        "swap charged as an addition",
        "under a cap a new rating evicts another, and one of the two is charged",
        "bound/clip.py",
        '        cells = (limited or 0) if unit == "user" else 2 if limited else 1\n',
        '        cells = (limited or 0) if unit == "user" else 1\n',
        ("bound/test_clip.py::test_a_cap_on_ratings_makes_one_cell_a_swap",),
    ),
    Bug(
        "replaced person in a matrix",
        "a person who changes is charged in a Gram matrix as one who leaves",
        "bound/gram.py",
        "        return Sensitivity(2 * single.l1, sqrt(2) * single.l2 * (1 + 1e-15))\n",
        "        return Sensitivity(2 * single.l1, single.l2)\n",
        ("bound/test_swaps.py",),
    ),
    Bug(
        "replaced record charged as absent",
        "in the local model two records are charged as one",
        "bound/report.py",
        '        return super().sensitivity("user").times(2)\n',
        '        return super().sensitivity("user")\n',
        ("bound/test_report.py",),
    ),
    Bug(
        "level of one rating",
        "a swap moves a person's level twice as far as is charged",
        "bound/centre.py",
        "            largest_move = floor(self.steps * 4 / 6) + 1\n",
        "            largest_move = floor(self.steps * 2 / 6) + 1\n",
        ("bound/test_clip.py::test_no_swap_under_a_cap_breaks_the_bound",),
    ),
    Bug(
        "ratings kept by value",
        "a cap on ratings keeps the lowest ones",
        "bound/limit.py",
        "    order = np.lexsort((draw_words(len(ratings)), ratings.user))\n",
        "    order = np.lexsort((ratings.value, ratings.user))\n",
        ("bound/test_limit.py",),
    ),
    Bug(
        "a person listed as several",
        "a contribution is not checked to be listed person by person",
        "bound/base.py",
        "        len(ptr) != people + 1\n        or ptr[0] != 0\n",
        "        ptr[0] != 0\n",
        ("bound/test_check.py::test_lines_that_are_not_shared_out_among_the_people_are_refused",),
    ),
    Bug(
        "noise by rows of one row",
        "noise drawn row by row is charged as if one row moved",
        "bound/base.py",
        "        return min(self.l1, self.l2 * sqrt(min(self.rows, size)))\n",
        "        return self.l2\n",
        ("bound/test_clip.py::test_noise_by_rows_covers_every_row_that_moves",),
    ),
)
