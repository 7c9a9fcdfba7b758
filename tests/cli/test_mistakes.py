"""Two hundred mistakes on the command line: each is answered with exit status 2, no traceback,
what is wrong and what to do."""

from __future__ import annotations

import shlex
import sys

import pytest

from tacit.cli.main import main

FIT = "--scale 1,5 --epsilon 1 --users 30 --method bias --out m"
CALENDAR = "--scale 1,5 --epsilon 1 --users 30 --out calendar"
MISTAKES = f"""
fitt ok.csv
fit
fit ok.csv
fit ok.csv --out m
fit ok.csv --scale 1,5 --out m
fit none.csv {FIT}
fit emptydir {FIT}
fit full {FIT}
fit empty.csv {FIT}
fit blank.csv {FIT}
fit header.csv {FIT}
fit text.csv {FIT}
fit off.csv {FIT}
fit nan.csv {FIT}
fit short.csv {FIT}
fit nouser.csv {FIT}
fit noitem.csv {FIT}
fit likes.csv {FIT}
fit double.csv {FIT} --duplicates error
fit noid.csv {FIT}
fit ms.csv {FIT}
fit badtime.csv {FIT}
fit quote.csv {FIT}
fit bytes.csv {FIT}
fit sheet.xls {FIT}
fit bad.parquet {FIT}
fit bad.zip {FIT}
fit bad.gz {FIT}
fit alone.csv --scale 1,5 --epsilon 1 --method bias --out m
fit ok.csv --epsilon 1 --method bias --out m
fit ok.csv {FIT} extra
fit ok.csv {FIT} --colour red
fit ok.csv {FIT} --epsilon 0
fit ok.csv {FIT} --epsilon -1
fit ok.csv {FIT} --epsilon nan
fit ok.csv {FIT} --epsilon inf
fit ok.csv {FIT} --epsilon one
fit ok.csv {FIT} --epsilon
fit ok.csv {FIT} --delta 1
fit ok.csv {FIT} --delta 2
fit ok.csv {FIT} --delta -1
fit ok.csv {FIT} --delta .1
fit ok.csv {FIT} --delta small
fit ok.csv {FIT} --delta 0 --method ease
fit ok.csv {FIT} --unit person
fit ok.csv {FIT} --unit value
fit ok.csv {FIT} --unit
fit ok.csv {FIT} --method byes
fit ok.csv {FIT} --method none
fit ok.csv {FIT} --method one-bit --unit rating
fit ok.csv {FIT} --engine gpu
fit ok.csv {FIT} --engine local
fit ok.csv {FIT} --engine federated --unit value
fit ok.csv {FIT} --noise both
fit ok.csv {FIT} --noise all --engine federated
fit ok.csv {FIT} --calibration strict
fit ok.csv {FIT} --calibration paper
fit ok.csv {FIT} --calibration paper --method mf-sgd --unit rating
fit ok.csv {FIT} --threads 0
fit ok.csv {FIT} --threads -2
fit ok.csv {FIT} --threads many
fit ok.csv {FIT} --users 0
fit ok.csv {FIT} --users -3
fit ok.csv {FIT} --users some
fit ok.csv {FIT} --users 2.5
fit ok.csv {FIT} --scale 5,1
fit ok.csv {FIT} --scale 5
fit ok.csv {FIT} --scale a,b
fit ok.csv {FIT} --scale 1,2,3
fit ok.csv {FIT} --scale 1,nan
fit ok.csv {FIT} --scale 3,3
fit ok.csv {FIT} --max-ratings 0
fit ok.csv {FIT} --max-ratings few
fit ok.csv {FIT} --items none.csv
fit ok.csv {FIT} --items twice.csv
fit ok.csv {FIT} --items noids.csv
fit ok.csv {FIT} --items empty.csv
fit ok.csv {FIT} --items file
fit ok.csv {FIT} --layout ml-9m
fit ok.csv {FIT} --layout netflix
fit ok.csv {FIT} --duplicates first
fit ok.csv {FIT} --columns user
fit ok.csv {FIT} --columns who=user
fit ok.csv {FIT} --columns user=9
fit ok.csv {FIT} --columns user=person
fit ok.csv {FIT} --columns =user
fit ok.csv {FIT} --positive 9
fit ok.csv {FIT} --positive four
fit ok.csv {FIT} --positive
fit likes.csv --epsilon 1 --users 3 --out m
fit ok.csv {FIT} --set even
fit ok.csv {FIT} --set colour=red
fit ok.csv {FIT} --set =3
fit ok.csv {FIT} --start none
fit ok.csv {FIT} --start broken
fit ok.csv {FIT} --start file
fit ok.csv {FIT} --keep-apart 0
fit ok.csv {FIT} --keep-apart 100%
fit ok.csv {FIT} --keep-apart some
fit ok.csv {FIT} --without none.txt
fit ok.csv {FIT} --without empty.csv
fit ok.csv {FIT} --budgets none.txt
fit ok.csv {FIT} --budgets empty.csv
fit ok.csv {FIT} --unit rating --budgets ok.csv
fit ok.csv {FIT} --devices drop_out=.1
fit ok.csv {FIT} --devices nonsense
fit ok.csv {FIT} --population ""
fit ok.csv {FIT} --population " x "
fit ok.csv {FIT} --ledger file
fit ok.csv {FIT} --ledger mysql://x
fit ok.csv {FIT} --ledger emptydir
fit ok.csv {FIT} --out model
fit ok.csv {FIT} --out full
fit ok.csv {FIT} --out file
fit ok.csv {FIT} --out file/m
recommend
recommend none
recommend broken
recommend file
recommend ok.csv
recommend model --ratings none.csv
recommend model --ratings empty.csv
recommend model --ratings mineoff.csv
recommend model --ratings minetext.csv
recommend model --ratings minenone.csv
recommend model --ratings mine.csv -n 0
recommend model --ratings mine.csv -n -1
recommend model --ratings mine.csv -n ten
recommend model --ratings mine.csv --by colour
recommend model --ratings mine.csv --only names.txt
recommend model --ratings mine.csv --only none.txt
recommend model --ratings mine.csv --exclude none.txt
recommend model --ratings mine.csv --explain nothing
recommend model --ratings mine.csv --out x.csv
recommend model --ratings mine.csv --scale 1,5
recommend model --people ok.csv
recommend model --people ok.csv --out x.txt
recommend model --people ok.csv --out ok.csv
recommend model --people none.csv --out x.csv
recommend model --people ok.csv --ratings mine.csv --out x.csv
recommend model --people off.csv --out x.csv
similar
similar model
similar model nothing
similar none i1
similar model i1 -n 0
add-items
add-items model
add-items model none.csv --out m
add-items model twice.csv --out m
add-items none items.csv --out m
add-items model items.csv
export
export model
export model --to csv --out x.csv
export model --to npz --out x.parquet
export model --to npz --out file/x.npz
export model --to parquet --out ok.csv
export none --to npz --out x.npz
export model --to npz --out x.npz --similarities
statement
statement none
statement broken
statement model --out s.pdf
statement model --out s
statement model --out s.md --declare by
statement model --out s.md --declare colour=red
statement model --out s.md --about none.toml
statement model --out s.md --about bad.toml
statement model --out s.md --about list.toml
statement model --out s.md --about other.toml
statement model --out s.md --audit none.json
statement model --out s.md --audit bad.json
statement model --out s.md --json
statement model --declare by=me
statement model --audit bad.json
statement model --registry
statement model --registry --declare name=a --declare by=b --declare region=c --declare date=soon
statement model --key none
statement model --key key
statement model --ledger file
verify
verify none
verify broken
verify model --key key
verify model --ledger file
plan
plan --epsilon 1
plan --epsilon 1 --users 10
plan --epsilon 0 --users 10 --items 5
plan --epsilon x --users 10 --items 5
plan --epsilon 1 --users 0 --items 5
plan --epsilon 1 --users 10 --items 0
plan --epsilon 1 --users 10 --items none.csv
plan --epsilon 1 --users 10 --items 5 --method byes
plan --epsilon 1 --users 10 --items 5 --scale 5,1
plan --epsilon 1 --users 10 --items 5 --unit person
choose
choose --users 10 --items 5
choose --rmse 9 --users 1000 --items 500
choose --rmse .9 --recall .1 --users 1000 --items 500
choose --rmse x --users 1000 --items 500
evaluate
evaluate none.csv --scale 1,5 --epsilon 1
evaluate ok.csv --epsilon 1
evaluate ok.csv --scale 1,5 --epsilon x
evaluate ok.csv --scale 1,5 --epsilon 0
evaluate ok.csv --scale 1,5 --epsilon 1 --method byes
evaluate ok.csv --scale 1,5 --epsilon 1 --split most
evaluate ok.csv --scale 1,5 --epsilon 1 --split 90/20
evaluate ok.csv --scale 1,5 --epsilon 1 --seeds 0
evaluate ok.csv --scale 1,5 --epsilon 1 --folds 1
ledger
ledger colour
ledger cap
ledger cap --epsilon 0
ledger cap --epsilon x
ledger cap --epsilon 1 --unit person
ledger show --ledger file
ledger verify --ledger file
reproduce
reproduce nobody2099
reproduce mcsherry2009 --data none
demo --epsilon 0
demo --epsilon x
demo --out full
serve
serve none
serve model --port x
serve model --tls-cert key
doctor --colour
tune
fit ok.csv {FIT} --method bayes --budgets budgets.csv
fit ok.csv {FIT} --method bayes --budgets below.csv
fit ok.csv {FIT} --method bayes --budgets nouser.csv
fit ok.csv {FIT} --method bayes --public off.csv
fit ok.csv {FIT} --method bayes --public double.csv
fit ok.csv {FIT} --method bayes --public none.csv
fit ok.csv {FIT} --method bayes --public-are celebrities
fit ok.csv {FIT} --method als --public ok.csv
fit ok.csv {FIT} --memory lots
fit ok.csv {FIT} --memory -1GB
fit ok.csv {FIT} --memory 1KB
fit ok.csv {FIT} --engine spark --budgets budgets.csv
fit bad.tacit {FIT}
fit euro.csv {FIT}
fit thousand.csv {FIT}
fit slash.csv {FIT}
fit ok.csv {FIT} --columns tags=colour
fit ok.csv {FIT} --columns tags=colour --items items.csv
fit ok.csv {FIT} --columns title=none --items items.csv
fit ok.csv {FIT} --columns time=never
fit ok.csv {FIT} --columns rating=none
refresh ok.csv {CALENDAR}
refresh ok.csv {CALENDAR} --horizon 4
refresh ok.csv {CALENDAR} --horizon 0 --items items.csv
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --times 9
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --begins soon --days 7
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --days 7
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --begins 2020-01-01 --days 7
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --unit rating
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --method als
refresh ok.csv {CALENDAR} --horizon 4 --items items.csv --out model
synthesize model
synthesize model --people 0 --out invented.csv
synthesize model --people 10 --out x.txt
synthesize model --people 10 --out people.csv
synthesize none --people 10 --out invented.csv
synthesize model --people 10 --out invented.csv --times 2020,2021
synthesize model --people 10 --out invented.csv --step 9
pack ok.csv --out x.csv --scale 1,5
pack ok.csv --out bad.tacit --scale 1,5
pack ok.csv --out y.tacit
pack none.csv --out y.tacit --scale 1,5
pack ok.csv --out y.tacit --scale 1,5 --memory some
tune ok.csv --scale 1,5 --users 30
tune ok.csv --scale 1,5 --users 30 --epsilon 1 --out t --method bias
tune ok.csv --scale 1,5 --users 30 --epsilon 1 --out t --method bias,bayes --trials 0
tune ok.csv --scale 1,5 --users 30 --epsilon 1 --out t --method bias --sweep colour=1,2
tune ok.csv --scale 1,5 --users 30 --epsilon 1 --method bias,popularity
tune ok.csv --scale 1,5 --users 30 --epsilon 1 --out t --method bias,popularity --public-data
evaluate ok.csv --release --epsilon 1
evaluate ok.csv --release --epsilon 1 --model model
evaluate ok.csv --release --epsilon 1,2 --model model
evaluate ok.csv --scale 1,5 --release --epsilon 1 --model model
evaluate ok.csv --scale 1,5 --places 5
evaluate ok.csv --scale 1,5 --split time
evaluate ok.csv --scale 1,5 --report page.pdf
verify bad.json
plan --epsilon 1 --users 100 --items 50 --plot x.bmp
fit ok.csv {FIT} --columns rating=item
fit ok.csv {FIT} --columns user=1,item=1
fit ok.csv {FIT} --columns time=rating
fit ok.csv {FIT} --columns user=user,user=item
evaluate ok.csv --scale 1,5 --epsilon 1 --columns rating=item
fit rivals.csv {FIT}
serve model --port 99999
serve model --port -1
serve model --metrics-port 99999
serve model --tls-cert nope.pem --tls-key nope.pem
serve model --tls-cert key --tls-key key
serve model --host shop.invalid --port 0
recommend model --ratings ok.csv
serve model --noun product
serve model --title ""
""".strip().splitlines()


GROUPS = ("ledger",)
"""Commands of commands: alone they show their help."""


def test_there_are_two_hundred_of_them():
    assert len(set(MISTAKES)) == len(MISTAKES) >= 200


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_is_answered(desk_of_mistakes, monkeypatch, capsys, mistake):
    place = desk_of_mistakes
    monkeypatch.chdir(place)
    before = sorted(each for each in place.iterdir())
    monkeypatch.setattr(sys, "argv", ["tacit", *shlex.split(mistake)])
    with pytest.raises(SystemExit) as stop:
        main()
    told = capsys.readouterr().err
    assert stop.value.code == 2, told
    assert "Traceback" not in told
    alone = mistake in GROUPS and "Usage: tacit" in told
    assert alone or ("error:" in told and "remedy:" in told), told
    assert sorted(each for each in place.iterdir()) == before
