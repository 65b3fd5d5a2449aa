"""The digest must not depend on order, platform or Python version."""

from __future__ import annotations

import json

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from ltmem_gui.domain.canonical import canonical_json, content_hash, digest

values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
    max_leaves=12,
)


def test_known_form_and_digest() -> None:
    value = {"b": ["é", None, True], "a": {"z": 1, "y": 2}}
    assert canonical_json(value) == '{"a":{"y":2,"z":1},"b":["\\u00e9",null,true]}'
    assert digest(value) == "948b566137e8fdda74e29dd3ab115a7649e452bc6e26069a15f56cfacd472684"


@given(st.dictionaries(st.text(), values, min_size=2, max_size=5))
def test_order_of_keys_does_not_matter(value: dict[str, object]) -> None:
    turned = dict(reversed(list(value.items())))
    assert digest(value) == digest(turned)


@given(st.dictionaries(st.text(), values, max_size=4))
@example({"10": 1, "9": {"é": [[["deep", {"b": [], "a": {}}]]], "": ()}})
@example({"numbers": {10: "ten", 9: "nine"}})
def test_it_is_what_the_encoder_writes_at_once(value: dict[str, object]) -> None:
    at_once = json.dumps(value, ensure_ascii=True, sort_keys=True, separators=(",", ":"))
    assert canonical_json(value) == at_once


@pytest.mark.parametrize("value", [1.5, [1, 2.0], {"a": {"b": 0.1}}, (1.0,), float("nan")])
def test_floats_are_refused(value: object) -> None:
    with pytest.raises(ValueError, match="floats"):
        canonical_json(value)


def test_content_hash() -> None:
    assert content_hash(b"") == "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
