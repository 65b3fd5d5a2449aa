"""Say failures and steps so that they may be stored, logged, raised and shown: any of them may echo a secret.

The one way for both phases, the command line and the window. Words that cannot be checked are withheld (fail closed).
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from ltmem_gui.domain.errors import KnownError, RedactionFailed
from ltmem_gui.domain.secrets import Redaction
from ltmem_gui.pipeline.ports import Adapters

Error = TypeVar("Error", bound=KnownError)

WITHHELD = "its words could not be checked for secrets and were withheld"
LONGEST = 20_000
"""What is read of one word of an error; more than that is no message."""
SHOWN = 4_000
TRACEBACK = 200_000


async def checked(adapters: Adapters, error: Error, known: tuple[str, ...] = ()) -> Error:
    """Return the error with every word of it passed through the choke point, the same object where nothing was found.

    `known` are the values seen in the input at hand. A copy has neither the traceback nor the cause: raise it
    `from None`, since the cause may say what was taken out.
    """
    try:
        what, remedy, where = [
            (await adapters.redact_text(text[:LONGEST], known)).text[:SHOWN] if text else ""
            for text in (error.what, error.remedy, error.where)
        ]
    except RedactionFailed:
        return _withheld(error)
    return _said(error, what, remedy, where)


async def said(adapters: Adapters, text: str) -> str:
    """Return words of a model or a server through the choke point."""
    try:
        return (await adapters.redact_text(text)).text
    except RedactionFailed:
        return WITHHELD


async def said_all(adapters: Adapters, texts: tuple[str, ...]) -> tuple[str, ...]:
    """Return several words in one go; only those that cannot be checked are withheld."""
    try:
        return tuple(clean.text for clean in await adapters.redact_texts(texts))
    except RedactionFailed:
        return tuple([await said(adapters, text) for text in texts])


def checked_by(redact: Callable[[str], Redaction], error: Error) -> Error:
    """Do what `checked` does with a redactor of this process."""
    try:
        texts = (error.what, error.remedy, error.where)
        what, remedy, where = [redact(text[:LONGEST]).text[:SHOWN] if text else "" for text in texts]
    except RedactionFailed:
        return _withheld(error)
    return _said(error, what, remedy, where)


def checked_words(redact: Callable[[str], Redaction], words: str) -> str:
    """Return words that are no error of ours, checked."""
    try:
        return redact(words).text
    except RedactionFailed:
        return WITHHELD


def _said(error: Error, what: str, remedy: str, where: str) -> Error:
    if (what, remedy, where) == (error.what, error.remedy, error.where):
        return error
    return replace(error, what=what, remedy=remedy, where=where)


def _withheld(error: Error) -> Error:
    return replace(error, what=f"{type(error).__name__}: {WITHHELD}", remedy="", where="")
