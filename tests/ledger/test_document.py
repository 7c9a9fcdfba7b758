"""The statement as a document and as a registry record."""

from __future__ import annotations

import json
import re
from datetime import date
from typing import Annotated, Literal

import pytest
import yaml
from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from tacit.errors import SettingError
from tacit.ledger.statement.declared import Declared, declare
from tacit.ledger.statement.document import believed, document
from tacit.ledger.statement.registry import registry_record, to_yaml
from tacit.ledger.statement.render import to_html, to_markdown
from tacit.ledger.statement.statement import Schedule
from tacit.ledger.statement.words import as_likes

SAID = {
    "name": "Films of a library",
    "by": "A library",
    "contact": "privacy@library.example",
    "date": "2030-01-31",
    "data": "stars given to lent films",
    "period": "2025 to 2029",
    "people": "everybody with a card",
    "use": "lists on the library's own page",
    "region": "Norway",
    "sector": "Government",
    "sources": "https://library.example/privacy",
    "notes": "the first of its kind here",
    "collected": "by the form under each film, with consent",
    "secured": "one machine, two readers",
    "deleted": "a year after the last loan",
    "decided": "the board, on 2030-01-10, after reading docs/plan.md",
    "utility": "worse for films that few have seen",
    "authors": "Ada, Ben",
}
# One for each question of NIST SP 800-226 that the issue names: words that answer it.
CHECKLIST = {
    "unit": "a whole person",
    "neighbouring relation": "is added or removed",
    "parameters": "hold at once",
    "meaning": "times in a hundred",
    "odds": "grow by a factor of",
    "variant": "Approximate DP",
    "why this variant": "Laplace noise of the same promise",
    "trust model": "trusted curator",
    "mechanism": "discrete Gaussian noise",
    "floating point": "floating point",
    "generator": "AES in counter mode",
    "timing": "timing and memory",
    "composition": "Accountant",
    "over time": "running total",
    "collected": "with consent",
    "secured": "two readers",
    "deleted": "a year after",
    "utility": "worse for films",
    "bias": "small groups",
    "who decided": "the board",
    "who": "A library",
    "to whom": "everybody with a card",
    "when": "2030-01-31",
    "contact": "privacy@library.example",
    "data": "lent films",
    "period": "2025 to 2029",
    "how choices were made": "No evaluation on these ratings",
    "noise": "There is no seed",
    "public": "Taken as public",
    "not protected": "Not protected",
    "verify": "tacit verify MODEL",
    "audit": "Attacks that were tried",
    "declared": "as declared",
}


# The schema of the OpenDP deployments registry, restated: its names, its lists, what it needs.
# Of: https://github.com/opendp/deployments-registry-data, schemas/deployments-schema.yaml
# As of: 2026-07-15, commit 3e9c812a924cf01d228f26f6c462c59c391c3f2a
# A record of ours is of tier 3, so fields that the registry leaves open are needed here.


def a_day(text: str) -> str:
    date.fromisoformat(text)
    return text


class Strict(BaseModel):
    """A part of the schema: no field more."""

    model_config = ConfigDict(extra="forbid", strict=True, protected_namespaces=())


class Basic(Strict):
    name: str
    data_curators: Annotated[list[str], Field(min_length=1)]
    intended_use: str
    data_product_type: Literal[
        "Summary statistics",
        "Machine learning model",
        "Dataset",
        "Synthetic data",
        "Interactive API",
        "SQL queries",
    ]
    data_product_region: str
    description: str
    publication_date: Annotated[str, AfterValidator(a_day)]
    data_product_sector: Literal[
        "Technology", "Healthcare", "Education", "Government", "Energy", "Finance"
    ]


class Variant(Strict):
    variant_name: Literal["Pure DP", "Approximate DP", "Zero-concentrated DP", "Renyi DP", "Custom"]
    data_domain: str
    unprotected_quantities: str


class Parameters(Strict):
    epsilon: float | None = None
    delta: float | str | None = None
    rho: float | None = None


class Loss(Strict):
    privacy_unit: str
    privacy_unit_details: str
    privacy_parameters: Parameters
    privacy_parameters_details: str


class Model(Strict):
    model_name: Literal["Local", "Central", "Shuffle", "Federated", "Varies"]
    model_name_details: str
    actors: str
    release_type: Literal["One release", "Many releases"]
    release_type_details: str
    data_source_type: Literal["Static", "Dynamic"]
    data_source_type_details: str = ""
    access_type: Literal["Interactive", "Non-interactive"]
    access_type_details: str = ""


class Accounting(Strict):
    post_processing: str
    composition: str


class Implementation(Strict):
    preprocessing_and_hyperparameter_tuning: str
    mechanisms: str
    justification: str


class Administrative(Strict):
    sources: str
    notes: str
    registry_authors: Annotated[list[str], Field(min_length=1)]


class Deployment(Strict):
    basic: Basic
    dp_variant: Variant
    privacy_loss: Loss
    deployment_model: Model
    accounting: Accounting
    implementation: Implementation
    administrative: Administrative


class Record(Strict):
    url_slug: str
    status: Literal[
        "Converted",
        "Draft",
        "Pending",
        "Changes Required",
        "Approved",
        "Approved (Update Requested)",
        "Approved (Pending)",
    ]
    tier: Literal[1, 2, 3]
    deployment: Deployment


@pytest.fixture(scope="module")
def statement(tmp_path_factory):
    """Of a small certified fit, checked against its book."""
    import tacit
    from tacit.ledger.book.book import open_book
    from tacit.model.verify import verify_with_book

    book = str(tmp_path_factory.mktemp("book") / "ledger.sqlite")
    fitted = tacit.Bias(epsilon=1.0, ledger=book).fit(
        tacit.sample(200), items=tacit.sample_catalogue(), users=200
    )
    verdict = verify_with_book(fitted.model_, open_book(book, "default"))
    assert verdict.holds
    return verdict.statement


@pytest.mark.parametrize("question", CHECKLIST)
def test_the_document_answers_the_checklist(statement, question):
    found = document(statement, declare(SAID), evaluations=0)
    for text in (to_markdown(found), to_html(found)):
        assert CHECKLIST[question] in re.sub(r"\s+", " ", text)


def test_plain_words_come_before_the_annex(statement):
    text = to_markdown(document(statement, declare(SAID), evaluations=0))
    assert text.index("What that means") < text.index("Technical annex")
    assert text.index("Technical annex") < text.index("discrete Gaussian")


def test_what_was_not_declared_is_said(statement):
    text = to_markdown(document(statement, declare({})))
    assert text.count("not declared") >= 6
    assert "was not at hand" in text


def test_an_evaluation_is_told(statement):
    text = to_markdown(document(statement, declare({}), evaluations=2))
    assert "entries of the book: 2" in text
    assert "not covered by this promise" in text


def test_an_unchecked_promise_is_not_forwarded_as_certified(statement):
    folder = statement.with_check(None)
    page = to_html(document(folder, declare(SAID)))
    assert "Not checked" in page


def test_what_an_audit_found_is_listed(statement):
    audit = [
        {
            "attack": "one run",
            "method": "bias",
            "unit": "user",
            "calibration": "sound",
            "claimed": 1.0,
            "measured": 0.8123,
            "mistake": 0.05,
            "verdict": "not refuted",
        }
    ]
    text = to_markdown(document(statement, declare({}), audit=audit))
    assert "| one run | 1 | 0.812 | – | not refuted |" in text
    assert "this release is at" not in text


def test_what_was_computed_is_not_called_measured(statement):
    audit = [_finding(mistake=0, measured=0.785)]
    text = to_markdown(document(statement, declare({}), audit=audit))
    assert "| worst pair | 1 | – | 0.785 | not refuted |" in text


def _finding(**changed):
    return {
        "attack": "worst pair",
        "method": "bias",
        "unit": "user",
        "calibration": "sound",
        "claimed": 1.0,
        "measured": 0.1,
        "mistake": 0.05,
        "verdict": "not refuted",
        **changed,
    }


@pytest.mark.parametrize(
    "other", [{"method": "bayes"}, {"unit": "rating"}, {"calibration": "paper"}]
)
def test_an_audit_of_another_claim_is_not_listed(statement, other):
    audit = [_finding(**other)]
    text = to_markdown(document(statement, declare({}), audit=audit))
    assert "worst pair" not in text
    assert "No audit of this method and unit" in text


def test_an_audit_at_another_epsilon_says_so(statement):
    audit = [_finding(claimed=0.8)]
    text = to_markdown(document(statement, declare({}), audit=audit))
    assert "made at epsilon 0.8; this release is at 1" in text


def test_the_page_stands_alone_and_shows_no_markup_of_strangers(statement):
    page = to_html(document(statement, declare({"by": "<script>alert(1)</script>"})))
    assert "<script" not in page
    assert "http-equiv" in page
    assert "@media print" in page
    text = to_markdown(document(statement, declare({"by": "<script>alert(1)</script>"})))
    assert "<script" not in text


def test_likes_are_called_likes(statement):
    liked = statement.model_copy(update={"likes": True})
    text = to_markdown(document(liked, declare({})))
    assert not re.search(r"(?<!`)\bratings?\b", text)
    assert "likes" in text
    assert "`rating`" not in str(liked)


def test_names_of_options_stay_when_likes_are_told():
    assert as_likes("the unit `rating` of ratings") == "the unit `rating` of likes"


def test_a_belief_grows_with_its_odds():
    assert believed(0.5, 1.0) == 0.5
    assert believed(0.5, 3.0) == pytest.approx(0.75)
    assert believed(0.1, 9.0) == pytest.approx(0.5)


def test_the_registry_record_validates(statement):
    record = registry_record(statement, declare(SAID))
    Record.model_validate(record)
    date.fromisoformat(record["deployment"]["basic"]["publication_date"])
    assert re.fullmatch(r"[a-z0-9-]+", record["url_slug"])
    assert record["deployment"]["privacy_loss"]["privacy_parameters"] == {
        "epsilon": 1.0,
        "delta": 1e-6,
    }
    assert record["deployment"]["administrative"]["registry_authors"] == ["Ada", "Ben"]


def test_a_record_needs_neither_sector_nor_sources(statement):
    few = {name: SAID[name] for name in ("name", "by", "date", "region")}
    record = registry_record(statement, declare(few))
    Record.model_validate(record)
    assert record["deployment"]["basic"]["data_product_sector"] == "Technology"
    assert "no sector was declared" in record["deployment"]["administrative"]["notes"]


def test_a_sector_is_one_of_the_registrys(statement):
    with pytest.raises(SettingError, match="knows no sector") as seen:
        registry_record(statement, declare(SAID | {"sector": "Films"}))
    assert "Government" in seen.value.remedy


def test_a_release_of_a_calendar_says_so(statement):
    """One of twelve releases on one budget, and the data go on growing."""
    one = Schedule(horizon=12, week=3, times=2, begins="2030-01-07", days=7)
    released = statement.model_copy(update={"schedule": one})
    record = registry_record(released, declare(SAID))
    Record.model_validate(record)
    model = record["deployment"]["deployment_model"]
    assert (model["release_type"], model["data_source_type"]) == ("Many releases", "Dynamic")
    assert "release 3 of 12" in model["release_type_details"]
    assert "paid for by one entry of the book" in model["release_type_details"]
    assert "each covers 7 days, from 2030-01-07 on" in model["release_type_details"]


def test_the_record_loses_nothing_that_was_declared(statement):
    record = to_yaml(registry_record(statement, declare(SAID)))
    flat = re.sub(r"\s+", " ", record)
    for name in ("period", "people", "collected", "deleted", "utility", "sources", "notes"):
        assert SAID[name] in flat


def test_the_schema_can_refuse(statement):
    record = registry_record(statement, declare(SAID))
    record["deployment"]["more"] = 1
    with pytest.raises(ValueError, match="more"):
        Record.model_validate(record)


def test_yaml_is_read_back_as_it_was(statement):
    record = registry_record(statement, declare(SAID | {"by": 'a "b": \\ # c é\u2028'}))
    assert yaml.safe_load(to_yaml(record)) == json.loads(json.dumps(record))


@pytest.mark.parametrize("name", ["name", "by", "region", "date"])
def test_a_record_without_what_only_the_owner_knows_is_refused(statement, name):
    with pytest.raises(SettingError, match=name) as seen:
        registry_record(statement, declare(SAID | {name: ""}))
    assert f"--declare {name}=" in seen.value.remedy


def test_a_date_is_a_date(statement):
    with pytest.raises(SettingError, match="YYYY-MM-DD"):
        registry_record(statement, declare(SAID | {"date": "soon"}))


def test_only_what_a_statement_asks_can_be_declared():
    with pytest.raises(SettingError, match="colour") as seen:
        declare({"colour": "red"})
    assert "contact" in seen.value.remedy


def test_every_field_of_the_owner_is_used(statement):
    marks = {name: f"mark-{name}" for name in Declared.model_fields}
    marks |= {"date": "2030-01-31", "sector": "Energy"}
    shown = to_markdown(document(statement, declare(marks)))
    shown += to_yaml(registry_record(statement, declare(marks)))
    assert [name for name in marks if marks[name] not in shown] == []
