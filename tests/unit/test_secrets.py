"""Findings as numbers: they behave as the tuple of findings they stand for."""

from __future__ import annotations

from array import array

import pytest

from ltmem_gui.domain.secrets import PackedFindings, Redaction, SecretFinding

FIRST, SECOND = SecretFinding(0, 3, "token", "layer"), SecretFinding(5, 9, "jwt", "kingfisher")


def packed() -> PackedFindings:
    return PackedFindings(array("Q", [0, 3, 5, 9]), array("H", [0, 1]), [("token", "layer"), ("jwt", "kingfisher")])


def test_packed_findings_are_a_sequence() -> None:
    findings = packed()
    assert len(findings) == 2
    assert list(findings) == [FIRST, SECOND]
    assert findings[0] == FIRST
    assert findings[-1] == SECOND
    assert findings[1:] == (SECOND,)
    assert SECOND in findings
    assert not PackedFindings(array("Q"), array("H"), ())
    with pytest.raises(IndexError):
        findings[2]


def test_packed_findings_equal_those_they_stand_for() -> None:
    assert packed() == (FIRST, SECOND)
    assert packed() == packed()
    assert packed() != (FIRST,)
    assert packed() != (SECOND, FIRST)
    assert packed() != [FIRST, SECOND]
    assert hash(packed()) == hash((FIRST, SECOND))
    assert repr(packed()) == repr((FIRST, SECOND))
    assert Redaction("x", packed()) == Redaction("x", (FIRST, SECOND))
