"""A provider's own limits: read from any headers, counted only while they hold, judged by the rule of the guard."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ltmem_gui.domain.limits import WITHOUT_RESET_SECONDS, LimitWindow, ProviderLimits, ServerForms
from ltmem_gui.domain.providers import ProviderSettings
from ltmem_gui.llm.limits import MAX_KINDS, MAX_WAIT_SECONDS, limits_of
from ltmem_gui.llm.server_memory import Accepts, ServerMemory
from ltmem_gui.pipeline.guard import guard_provider, limits_in_words

NOW = 1_780_000_000


def headers(requests: tuple[str, str, str] | None = None, **more: str) -> dict[str, str]:
    found = {name.replace("_", "-"): value for name, value in more.items()}
    if requests:
        limit, remaining, reset = requests
        found |= {
            "x-ratelimit-limit-requests": limit,
            "x-ratelimit-remaining-requests": remaining,
            "x-ratelimit-reset-requests": reset,
        }
    return found


def read(found: dict[str, str], *, refused: bool = False) -> ProviderLimits:
    limits = limits_of(found, float(NOW), refused=refused)
    assert limits is not None
    return limits


# --- reading ---


def test_the_headers_of_openai_are_read() -> None:
    limits = read(
        headers(("60", "59", "1s"))
        | {
            "x-ratelimit-limit-tokens": "150000",
            "x-ratelimit-remaining-tokens": "149984",
            "x-ratelimit-reset-tokens": "6m0s",
        }
    )
    assert limits == ProviderLimits(
        at=NOW,
        windows=(
            LimitWindow(kind="requests", limit=60, remaining=59, resets_at=NOW + 1),
            LimitWindow(kind="tokens", limit=150_000, remaining=149_984, resets_at=NOW + 360),
        ),
    )


@pytest.mark.parametrize(
    ("text", "seconds"),
    [
        ("20ms", 1),
        ("1s", 1),
        ("1.5s", 2),
        ("6m0s", 360),
        ("1h2m3s", 3_723),
        ("1d", 86_400),
        ("30", 30),
        ("7.66", 8),
        (str(NOW + 90), 90),
        ("Thu, 28 May 2026 20:27:00 GMT", 20),
        ("2026-05-28T20:27:00Z", 20),
        ("2026-05-28T20:27:00", 20),
        ("9999999999999999999999", 86_400),
        ("400d", 86_400),
    ],
)
def test_a_reset_is_read_in_every_form_that_servers_use(text: str, seconds: int) -> None:
    assert read(headers(("10", "5", text))).windows[0].resets_at == NOW + seconds


@pytest.mark.parametrize("text", ["soon", "", "-1", "nan", "inf", "1.2.3s", "s", "1y", "1e999"])
def test_a_reset_that_is_none_is_passed_over(text: str) -> None:
    assert read(headers(("10", "5", text))).windows[0].resets_at is None


@pytest.mark.parametrize("remaining", ["", "many", "-3", "nan", "inf"])
def test_what_is_left_must_be_a_number(remaining: str) -> None:
    assert limits_of(headers(("10", remaining, "1s")), NOW, refused=False) is None


def test_a_server_cannot_fill_the_memory_with_kinds() -> None:
    found = {f"x-ratelimit-remaining-k{n}": "1" for n in range(1_000)} | {"x-ratelimit-remaining-" + "x" * 99: "1"}
    assert len(read(found).windows) == MAX_KINDS


def test_only_a_refusal_asks_to_be_left_alone() -> None:
    assert limits_of(headers(retry_after="30"), NOW, refused=False) is None
    assert read(headers(retry_after="30"), refused=True).retry_at == NOW + 30
    assert read(headers(retry_after="9999999"), refused=True).retry_at == NOW + MAX_WAIT_SECONDS
    assert limits_of({}, NOW, refused=True) is None


@given(
    st.dictionaries(st.sampled_from(["retry-after", "retry-after-ms", *headers(("", "", ""))]), st.text(max_size=30))
)
def test_no_header_breaks_the_reading(found: dict[str, str]) -> None:
    limits = limits_of(found, float(NOW), refused=True)
    if limits is not None:
        assert guard_provider(limits, min_remaining_percent=25, now=NOW).text
        assert ProviderLimits.model_validate_json(limits.model_dump_json()) == limits


# --- judging ---


def left(remaining: int, limit: int | None = 100, resets_at: int | None = NOW + 60, at: int = NOW) -> ProviderLimits:
    window = LimitWindow(kind="requests", limit=limit, remaining=remaining, resets_at=resets_at)
    return ProviderLimits(at=at, windows=(window,))


def allowed(limits: ProviderLimits | None, least: int = 25, now: int = NOW) -> bool:
    return guard_provider(limits, min_remaining_percent=least, now=now).allowed


def test_exactly_what_must_be_left_is_enough_and_absent_figures_allow() -> None:
    assert allowed(left(25))
    assert not allowed(left(24))
    assert allowed(None)
    assert allowed(ProviderLimits(at=NOW))
    assert allowed(left(5, limit=None))


def test_nothing_left_refuses_whatever_the_setting() -> None:
    assert not allowed(left(0), least=0)
    assert not allowed(left(0, limit=None), least=0)
    assert allowed(left(0, limit=0), least=0)
    assert allowed(left(1), least=0)


def test_a_limit_that_started_anew_and_a_record_of_the_future_hold_nothing_back() -> None:
    assert allowed(left(0), now=NOW + 60)
    assert not allowed(left(0), now=NOW + 59)
    assert allowed(left(0, resets_at=None), now=NOW + WITHOUT_RESET_SECONDS)
    assert not allowed(left(0, resets_at=None), now=NOW + WITHOUT_RESET_SECONDS - 1)
    assert allowed(left(0, at=NOW + 9_000, resets_at=NOW + 9_999))
    assert allowed(ProviderLimits(at=NOW + 9_000, retry_at=NOW + 9_100))


def test_a_refusal_says_figures_and_time() -> None:
    verdict = guard_provider(left(3), min_remaining_percent=25, now=NOW)
    assert verdict.text == (
        "too little of the provider's limit is left: 3 requests of 100 (3 %) left, "
        "anew at 2026-05-28 20:27:40 UTC; at least 25 % must be left"
    )
    asked = guard_provider(ProviderLimits(at=NOW, retry_at=NOW + 20), min_remaining_percent=25, now=NOW)
    assert (asked.allowed, asked.text) == (
        False,
        "the provider asked not to be called before 2026-05-28 20:27:00 UTC",
    )
    assert "no requests of 100 (0 %) left" in guard_provider(left(0), min_remaining_percent=25, now=NOW).text
    assert "enough" in guard_provider(left(80), min_remaining_percent=25, now=NOW).text
    assert limits_in_words(ProviderLimits(at=NOW, retry_at=NOW + 20), NOW) == "not before 2026-05-28 20:27:00 UTC"
    assert limits_in_words(ProviderLimits(at=NOW), NOW) == "nothing that counts"
    assert limits_in_words(left(5, limit=None, resets_at=None), NOW) == "5 requests left"


# --- remembering ---

SERVER = ProviderSettings(name="custom", base_url="http://127.0.0.1:1/v1", model="m")


def test_an_answer_without_a_wish_does_not_end_an_earlier_one() -> None:
    memory = ServerMemory()
    assert memory.limits_of(SERVER) is None
    memory.note_limits(SERVER, ProviderLimits(at=NOW, retry_at=NOW + 30))
    memory.note_limits(SERVER, left(90, at=NOW + 1))
    seen = memory.limits_of(SERVER)
    assert seen is not None
    assert (seen.retry_at, seen.windows) == (NOW + 30, left(90).windows)
    memory.note_limits(SERVER, left(90, at=NOW + 31))
    assert memory.limits_of(SERVER) == left(90, at=NOW + 31)
    assert memory.limits_of(SERVER.model_copy(update={"model": "other"})) is None


def test_the_longest_answer_has_two_names_and_may_have_none() -> None:
    first = Accepts().after("Unsupported parameter: max_completion_tokens", limited=True)
    assert first is not None
    assert first.limit_name == "max_tokens"
    second = first.after("max_tokens is not supported", limited=True)
    assert second is not None
    assert second.limit_name == ""
    assert second.after("max_tokens is not supported", limited=True) is None
    assert Accepts().after("max_completion_tokens", limited=False) is None


@pytest.mark.parametrize(
    "refusal",
    [
        "max_completion_tokens is too large: 16384. This model supports at most 4096 completion tokens",
        "unsupported_value Unsupported value: 'max_completion_tokens' does not support 16384 with this model.",
        "max_completion_tokens must be less than 4096",
        "invalid request: model, messages, max_completion_tokens",
    ],
)
def test_a_limit_that_is_refused_for_its_value_is_not_given_up(refusal: str) -> None:
    assert Accepts().after(refusal, limited=True) is None


@pytest.mark.parametrize(
    "refusal",
    [
        "Unsupported parameter: 'max_completion_tokens' is not supported with this model. Use 'max_tokens' instead.",
        "Unrecognized request argument supplied: max_completion_tokens",
        "extra_forbidden: Extra inputs are not permitted (max_completion_tokens)",
    ],
)
def test_a_limit_whose_name_is_not_known_is_called_by_the_other(refusal: str) -> None:
    found = Accepts().after(refusal, limited=True)
    assert found is not None
    assert found.limit_name == "max_tokens"


def test_that_there_is_no_limit_is_asked_anew_where_money_needs_one() -> None:
    forms = ServerForms(at=NOW, rung=1, effort=False, limit_name="")
    for must_limit, name in ((False, ""), (True, "max_completion_tokens")):
        memory = ServerMemory()
        server = SERVER.model_copy(update={"must_limit": must_limit})
        memory.recall(server, forms)
        assert memory.of(server).limit_name == name
