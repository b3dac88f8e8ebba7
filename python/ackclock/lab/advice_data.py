"""Advice as plain data for the page."""

from typing import Any

from ackclock.advice import Advice
from ackclock.lab.answers import table_data


def advice_data(advice: Advice) -> dict[str, Any]:
    """Give questions, answers, changes and tables of advice.

    Parameters
    ----------
    advice : Advice
        The advice.
    """
    found = [
        {
            "question": one.question,
            "answer": one.answer,
            "changes": dict(one.changes),
            "toml": one.toml,
            "tables": [table_data(table) for table in one.tables],
            "remarks": list(one.remarks),
        }
        for one in advice.recommendations
    ]
    return {"title": advice.title, "verdict": advice.verdict, "recommendations": found, "reasons": list(advice.reasons)}
