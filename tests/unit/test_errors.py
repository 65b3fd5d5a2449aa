"""Known errors name what, where and what to do; their exit codes are an interface."""

from __future__ import annotations

import pytest

from ltmem_gui.domain import errors
from ltmem_gui.domain.cancel import CancelToken


def test_message_names_place_cause_and_remedy() -> None:
    error = errors.InputError("not JSON", "look at the line", "a.jsonl", 7)
    assert str(error) == "a.jsonl:7: not JSON — look at the line"


def test_message_without_line_or_remedy() -> None:
    assert str(errors.InputError("gone", where="a.jsonl")) == "a.jsonl: gone"
    assert str(errors.InputError("gone")) == "gone"


@pytest.mark.parametrize(
    ("kind", "code"),
    [
        (errors.InputError, 1),
        (errors.RedactionFailed, 1),
        (errors.UsageError, 2),
        (errors.NothingToDo, 3),
        (errors.StalePlan, 4),
        (errors.WrongDigest, 4),
        (errors.AlreadyApplied, 4),
        (errors.GrantMissing, 4),
        (errors.GrantReused, 4),
        (errors.GrantExpired, 4),
        (errors.WorkspaceMoved, 4),
        (errors.LockBusy, 4),
        (errors.LeaseLost, 4),
        (errors.BlockedByFindings, 4),
        (errors.Undecided, 4),
    ],
)
def test_exit_codes(kind: type[errors.KnownError], code: int) -> None:
    assert kind("x").exit_code == code


def test_provider_error_carries_group_and_retry() -> None:
    error = errors.ProviderError("slow down", "wait", "host", group="rate_limit", retry_after=30)
    assert (error.group, error.retry_after) == ("rate_limit", 30)
    assert len({error, error}) == 1


def test_cancel_token_raises_once_asked() -> None:
    token = CancelToken()
    token.check()
    assert not token.cancelled
    token.cancel()
    assert token.cancelled
    with pytest.raises(errors.Cancelled):
        token.check()
