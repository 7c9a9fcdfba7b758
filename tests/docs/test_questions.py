"""An engineer who has never seen it finds the right page from the index in two clicks."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tacit.cli.main import COMMANDS

DOCS = Path(__file__).parents[2] / "docs"
LINK = re.compile(r"\[[^\]]*\]\(([^)\s#]+)(?:#[^)\s]*)?\)")
QUESTIONS = {
    "install": ("../README.md", "pip install"),
    "other columns": ("reading.md", "--columns user="),
    "larger than memory": ("pack.md", "tacit pack"),
    "a billion ratings": ("scale.md", "--items FILE"),
    "plays or purchases": ("reading.md", "--positive"),
    "ratings are public": ("public.md", "assumed public"),
    "give people away": ("synthesize.md", "tacit synthesize"),
    "which command or option": ("commands.md", "tacit doctor"),
    "in a notebook": ("python.md", "tacit.load("),
    "what is epsilon": ("choosing-epsilon.md", "odds"),
    "before I pay": ("plan.md", "before any rating is read"),
    "as a picture": ("evaluate.md", "--report"),
    "which method": ("methods.md", "one-bit"),
    "why this item": ("recommend.md", "--explain"),
    "new items": ("recommend.md", "tacit add-items"),
    "every month": ("start.md", "--start"),
    "weekly on one budget": ("refresh.md", "--horizon"),
    "publish how accurate": ("release.md", "--release"),
    "try several settings": ("tune.md", "tacit tune"),
    "on a page for people": ("serve.md", "tacit serve"),
    "what do I forward": ("officer.md", "statement.html"),
    "forgotten": ("officer.md", "--without"),
    "must not hold ratings": ("trust.md", "federated"),
    "on a cluster": ("spark.md", "--engine spark"),
    "back up": ("operate.md", "pg_dump"),
    "what can go wrong": ("sharp-edges.md", "## Critical"),
    "believe the promise": ("audit.md", "refuted"),
    "that paper claim": ("results/claims.md", "Xian"),
    "MovieLens": ("results/bayes.md", "RMSE"),
    "raters agreed": ("public.md", "--public"),
    "wants less revealed": ("personal.md", "--budgets"),
    "any tool can train on": ("synthesize.md", "tacit synthesize"),
    "add a method": ("adding-a-method.md", "```python"),
    "found a hole": ("../SECURITY.md", "report"),
}
"""Words of a question, the page that answers it, and words of the answer."""


def rows() -> list[str]:
    text = (DOCS / "index.md").read_text("utf-8")
    return [line for line in text.splitlines() if line.startswith("| ")]


@pytest.mark.parametrize("question", QUESTIONS)
def test_a_question_leads_to_its_answer(question):
    """By the row of the table that asks it, in one click."""
    page, answer = QUESTIONS[question]
    asked = [row for row in rows() if question.lower() in row.lower()]
    assert len(asked) == 1, question
    assert page in LINK.findall(asked[0])
    assert answer.lower() in (DOCS / page).read_text("utf-8").lower()


def test_every_question_is_one_that_is_tried():
    for row in rows()[1:]:
        tried = [each for each in QUESTIONS if each.lower() in row.lower()]
        assert tried, row


def test_the_page_of_commands_has_them_all():
    text = (DOCS / "commands.md").read_text("utf-8")
    assert set(COMMANDS) == set(re.findall(r"`tacit ([a-z-]+)`", text))
