"""The hash chain: any change, gap or cut is found; nothing else is."""

from __future__ import annotations

from dataclasses import fields, replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ltmem_gui.domain.chain import EMPTY, GENESIS, ChainEntry, ChainHead, link, verify

BODIES = st.lists(st.dictionaries(st.text(max_size=5), st.integers() | st.text(max_size=5), max_size=3), max_size=6)


def chain(bodies: list[dict[str, object]]) -> tuple[list[ChainEntry], ChainHead]:
    head, entries = EMPTY, list[ChainEntry]()
    for n, body in enumerate(bodies):
        entry = link(head, at=n, kind="receipt", plan_digest="d", operation_number=n + 1, body=body)
        entries.append(entry)
        head = ChainHead(entry.number, entry.hash)
    return entries, head


@given(bodies=BODIES)
@settings(max_examples=40)
def test_a_chain_is_whole(bodies: list[dict[str, object]]) -> None:
    entries, head = chain(bodies)
    assert verify(entries, head) is None
    assert head.number == len(bodies)


@given(data=st.data(), bodies=BODIES.filter(bool))
@settings(max_examples=80)
def test_any_changed_field_of_any_entry_is_found(data: st.DataObject, bodies: list[dict[str, object]]) -> None:
    entries, head = chain(bodies)
    index = data.draw(st.integers(0, len(entries) - 1))
    name = data.draw(st.sampled_from([field.name for field in fields(ChainEntry)]))
    value = getattr(entries[index], name)
    entries[index] = replace(entries[index], **{name: value + 1 if isinstance(value, int) else value + "x"})
    assert verify(entries, head) is not None


@given(data=st.data(), bodies=BODIES.filter(bool))
@settings(max_examples=40)
def test_a_missing_or_swapped_entry_is_found(data: st.DataObject, bodies: list[dict[str, object]]) -> None:
    entries, head = chain(bodies)
    index = data.draw(st.integers(0, len(entries) - 1))
    gone = entries[:index] + entries[index + 1 :]
    broken = verify(gone, head)
    assert broken is not None
    assert broken.number == index + 1
    if len(entries) > 1:
        assert verify([*entries[1:], entries[0]], head) is not None


def test_an_entry_added_behind_the_head_is_found() -> None:
    entries, head = chain([{"a": 1}])
    more = link(head, at=1, kind="approval", plan_digest="d", operation_number=0, body={})
    assert verify([*entries, more], head) is not None


def test_the_first_entry_follows_genesis_and_floats_are_refused() -> None:
    assert link(EMPTY, at=0, kind="approval", plan_digest="", operation_number=0, body={}).previous == GENESIS
    with pytest.raises(ValueError):
        link(EMPTY, at=0, kind="approval", plan_digest="", operation_number=0, body={"x": 0.5})


def test_the_hash_is_the_same_on_every_platform() -> None:
    entry = link(EMPTY, at=1, kind="receipt", plan_digest="d", operation_number=1, body={"b": "ü", "a": [1, None]})
    assert entry.body == '{"a":[1,null],"b":"\\u00fc"}'
    assert entry.hash == "9a28ca9c681aaed20f5d56b1bf8574afb126a05efe24faa90441a468df00ce4c"
