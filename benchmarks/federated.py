"""1,000 devices, two servers, one machine: seconds and bytes of a round; one-bit reports a second.

    python benchmarks/federated.py rounds     # S3 of Hua et al., d 50, 20 items a device
    python benchmarks/federated.py sound      # 100 devices x 1,682 items x 8 factors
    python benchmarks/federated.py reports    # small uploads, each authenticated and durable

Both servers are processes of their own with SQLite stores in a temporary folder; the fleet
is this process.
"""

from __future__ import annotations

import argparse

from federated_reports import reports
from federated_rounds import rounds


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("what", choices=["rounds", "sound", "reports"])
    parser.add_argument("--devices", type=int)
    parser.add_argument("--rounds", type=int, default=20)
    parser.add_argument(
        "--wrk", action="store_true", help="drive reports with wrk instead of a fleet"
    )
    parser.add_argument(
        "--new", action="store_true", help="reports of devices that the aggregator has to look up"
    )
    o = parser.parse_args()
    if o.what == "rounds":
        options = [
            "--method",
            "mf-federated",
            "--calibration",
            "paper",
            "--unit",
            "value",
            "--epsilon",
            "0.8",
            "--set",
            "scheme=S3",
            "--set",
            f"rounds={o.rounds + 2}",
            "--set",
            f"cohort={o.devices or 1000}",
        ]
        rounds(o.devices or 1000, 10_000, o.rounds, options, "S3 over HTTP, d 50", {})
    elif o.what == "sound":
        options = [
            "--method",
            "mf-federated",
            "--calibration",
            "sound",
            "--epsilon",
            "1000",
            "--delta",
            "1e-4",
            "--set",
            "factors=8",
            "--set",
            f"rounds={o.rounds}",
        ]
        policy = {"epsilon": 1e6, "delta": 1e-4}
        rounds(
            o.devices or 100,
            1682,
            max(1, o.rounds - 2),
            options,
            "sound over HTTP, 1,682 items x 8",
            policy,
        )
    else:
        reports(10 * (o.devices or 4_000), 64, o.wrk, o.new)


if __name__ == "__main__":
    main()
