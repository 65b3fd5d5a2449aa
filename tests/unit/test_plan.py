"""A plan is bound by its digest; a grant is good once, for its plan, for a while."""

from __future__ import annotations

import copy
import json
import pickle

import pytest

from ltmem_gui.domain.consent import APPROVAL_SECONDS, ApplyGrant, Approval, Selection, mint
from ltmem_gui.domain.effects import EnsureLayout, ResetBaseline, WriteFile
from ltmem_gui.domain.errors import GrantExpired, GrantReused, InputError, WrongDigest
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileMark, Plan, PlanState, ProviderMark, WorkspaceMark, load_plan
from ltmem_gui.domain.settings import Settings


def a_plan(**changes: object) -> Plan:
    values: dict[str, object] = {
        "kind": "apply",
        "operation": "consolidate",
        "id": "p1",
        "created_at": 1_700_000_000,
        "state": PlanState.APPLYABLE,
        "home": "/h",
        "memory_root": "/m",
        "provider": ProviderMark(name="builtin", label="Built-in"),
        "settings": Settings(),
        "effects": (EnsureLayout(path="/m"), ResetBaseline(path="/m", previous=None)),
    }
    return Plan.model_validate(values | changes).sealed()


def an_approval(plan: Plan, selection: Selection, at: int = 100) -> Approval:
    return Approval(
        plan_digest=plan.digest,
        selection_digest=selection.digest,
        fingerprint="",
        approver="me",
        surface="window",
        at=at,
        expires_at=at + APPROVAL_SECONDS,
    )


def test_a_plan_survives_its_json_form() -> None:
    plan = a_plan()
    assert load_plan(json.dumps(plan.model_dump(mode="json")), where="p.json") == plan


def test_json_with_other_key_order_is_the_same_plan() -> None:
    plan = a_plan()
    turned = dict(reversed(list(plan.model_dump(mode="json").items())))
    assert load_plan(json.dumps(turned, indent=4), where="p.json").digest == plan.digest


@pytest.mark.parametrize(("key", "value"), [("home", "/other"), ("created_at", 1), ("digest", ""), ("effects", [])])
def test_an_altered_plan_is_refused(key: str, value: object) -> None:
    altered = a_plan().model_dump(mode="json") | {key: value}
    with pytest.raises(WrongDigest):
        load_plan(json.dumps(altered), where="p.json")


@pytest.mark.parametrize("text", ["", "[]", "{", '{"kind": "apply"}', "null"])
def test_what_is_no_plan_says_so_and_names_the_file(text: str) -> None:
    with pytest.raises(InputError, match="not a plan") as caught:
        load_plan(text, where="p.json")
    assert caught.value.where == "p.json"


def test_unknown_fields_are_refused() -> None:
    altered = a_plan().model_dump(mode="json") | {"surprise": 1}
    with pytest.raises(InputError, match="surprise"):
        load_plan(json.dumps(altered), where="p.json")


def test_plans_cannot_be_changed() -> None:
    with pytest.raises(ValueError, match="frozen"):
        a_plan().home = "/other"  # pyright: ignore[reportAttributeAccessIssue]


def test_blocking_findings_and_effects_by_class() -> None:
    hard = Finding(id="1", rule="secret", severity=Severity.BLOCKING, path="MEMORY.md", text="x")
    soft = Finding(id="2", rule="size", severity=Severity.INFO, path="MEMORY.md", text="y")
    plan = a_plan(findings=(hard, soft))
    assert plan.blocking == (hard,)
    assert plan.effects_of(ResetBaseline) == (plan.effects[1],)
    assert plan.effects_of(WriteFile) == ()


def test_the_fingerprint_follows_content_and_mode() -> None:
    def mark(sha: str, mode: int) -> str:
        files = {"MEMORY.md": FileMark(sha256=sha, mode=mode)}
        return WorkspaceMark(root="/m", exists=True, baseline=None, files=files).fingerprint()

    assert mark("a", 0o644) == mark("a", 0o644)
    assert len({mark("a", 0o644), mark("b", 0o644), mark("a", 0o755)}) == 3


def test_a_grant_is_good_once() -> None:
    plan, selection = a_plan(), Selection(plan_digest="x")
    grant = mint(plan, selection, an_approval(plan, selection), lambda: 100)
    grant.consume()
    with pytest.raises(GrantReused):
        grant.consume()


def test_a_grant_expires_after_fifteen_minutes() -> None:
    plan, selection = a_plan(), Selection(plan_digest="x")
    last = mint(plan, selection, an_approval(plan, selection), lambda: 100 + 900)
    last.consume()
    late = mint(plan, selection, an_approval(plan, selection), lambda: 100 + 901)
    with pytest.raises(GrantExpired):
        late.consume()


def test_a_grant_cannot_be_made_or_copied() -> None:
    plan, selection = a_plan(), Selection(plan_digest="x")
    approval = an_approval(plan, selection)
    with pytest.raises(TypeError, match="minted"):
        ApplyGrant(plan, selection, approval, lambda: 100, mint=object())
    grant = mint(plan, selection, approval, lambda: 100)
    for attempt in (copy.copy, copy.deepcopy, pickle.dumps):
        with pytest.raises(TypeError, match="copied"):
            attempt(grant)


def test_the_selection_has_a_digest_of_its_own() -> None:
    one = Selection(plan_digest="x", accepted={"MEMORY.md": ("a",)})
    other = Selection(plan_digest="x", accepted={"MEMORY.md": ("b",)})
    assert one.digest == Selection(plan_digest="x", accepted={"MEMORY.md": ("a",)}).digest
    assert one.digest != other.digest
