"""The frame of the command line: one place for errors and exit codes, global options anywhere, effects in words."""

from __future__ import annotations

import io
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from ltmem_gui.cli import main as cli
from ltmem_gui.cli.context import Context
from ltmem_gui.cli.gui import WindowOptions
from ltmem_gui.cli.render import describe_effect, describe_plan, describe_receipt, grouped
from ltmem_gui.domain import effects
from ltmem_gui.domain.consent import Receipt, ReceiptFile
from ltmem_gui.domain.errors import Cancelled, InputError, LockBusy
from ltmem_gui.domain.findings import Finding, Severity
from ltmem_gui.domain.plan import FileChange, Hunk, Plan, PlanState, ProviderMark, Skip
from ltmem_gui.domain.rollouts import SourceSpec
from ltmem_gui.domain.settings import Settings
from ltmem_gui.redactor.service import SecretRedactor
from tests.helpers.secret_shapes import tokens

KEY = tokens(1)["forge-1"]


class NoAdapters:
    """Adapters that nobody asks for anything; tells whether they were closed."""

    closed = False
    settings: Settings | None = None

    def use_settings(self, settings: Settings) -> None:
        self.settings = settings

    def layer_redactor(self) -> SecretRedactor:
        return SecretRedactor(engine="layer")

    def close(self) -> None:
        self.closed = True


def call(*argv: str, window: Callable[[WindowOptions], int] | None = None) -> tuple[int, str, str]:
    """Run the command line on streams of its own."""
    out, err = io.StringIO(), io.StringIO()
    adapters: Any = NoAdapters()
    surfaces = cli.Surfaces(compose=lambda home: adapters, launch_window=window or (lambda options: 0))
    code = cli.run(argv, surfaces, io.StringIO(), out, err)
    assert adapters.closed
    return code, out.getvalue(), err.getvalue()


def raising(error: BaseException) -> Callable[[WindowOptions], int]:
    def launch(options: WindowOptions) -> int:
        raise error

    return launch


def test_the_window_is_the_default_and_gets_what_was_named(tmp_path: Path) -> None:
    seen: list[WindowOptions] = []

    def launch(options: WindowOptions) -> int:
        seen.append(options)
        return 7

    argv = ("--source", f"codex={tmp_path}", "gui", "--home", f"{tmp_path}/x/../h", "--set", "max_unused_days=9")
    assert call(*argv, window=launch)[0] == 7
    (options,) = seen
    assert options.home == tmp_path / "h"
    assert options.sources == (SourceSpec("codex", str(tmp_path)),)
    assert options.settings.max_unused_days == 9
    assert call(window=launch)[0] == 7


@pytest.mark.parametrize(
    ("error", "code", "said"),
    [
        (InputError("no such folder", "name another", "/x"), 1, "/x: no such folder — name another"),
        (LockBusy("held by another run"), 4, "held by another run"),
        (InputError("hidden \u202e text"), 1, "⟨U+202E⟩"),
        (Cancelled(), 130, ""),
        (KeyboardInterrupt(), 130, ""),
        (ZeroDivisionError("a bug"), 1, "please report"),
        (InputError(f"git says: {KEY}"), 1, "git says: [REDACTED:github_token]"),
        (ZeroDivisionError(f"with {KEY}"), 1, "with [REDACTED:github_token]"),
    ],
)
def test_errors_end_in_words_and_codes(error: BaseException, code: int, said: str) -> None:
    found, _, err = call(window=raising(error))
    assert found == code
    assert said in err
    assert KEY not in err
    assert ("Traceback" in err) == isinstance(error, ZeroDivisionError)


@pytest.mark.parametrize("text", ["codex", "vim=/x", "codex="])
def test_a_source_is_agent_and_folder(text: str) -> None:
    code, _, err = call("--source", text, "gui")
    assert (code, "AGENT=DIR" in err) == (2, True)


def test_folders_that_are_needed_are_asked_for() -> None:
    context = Context(
        adapters=None,  # type: ignore[arg-type]
        home=None,
        memory_root=None,
        sources=(),
        settings=Settings(),
        stdin=io.StringIO(),
        out=io.StringIO(),
        err=io.StringIO(),
    )
    for need in (context.need_home, context.need_memory_root):
        with pytest.raises(Exception, match="was named"):
            need()
    context.warn("careful")
    assert context.err.getvalue() == "careful\n"  # type: ignore[attr-defined]


JOB = effects.PlannedJob(thread_id="t", agent="codex", path="/r", size=1, mtime_ns=1, source_updated_at=1)
ALL = (
    effects.SendToModel(provider="p", host="api.example", model="m", requests=2, tokens=10, redactions={"token": 3}),
    effects.SendToModel(provider="p", host="127.0.0.1:1", model="", requests=1, tokens=1, loopback=True),
    effects.StartAgent(provider="p", model="m", constraints=effects.AgentConstraints(cwd="/m")),
    effects.CreateDataFolder(path="/h"),
    effects.EnsureLayout(path="/m", creates=("rollout_summaries",)),
    effects.WriteFile(path="a", change="added", size_before=0, size_after=9, lines_added=2, lines_removed=1),
    effects.DeleteFile(path="b", reason="stale"),
    effects.ClaimJobs(jobs=(JOB,), concurrency=8, lease_seconds=3600),
    effects.StoreOutputs(count=4),
    effects.UpdateJobs(scope="stage1", count=4),
    effects.UpdateJobs(scope="global", count=4, watermark=77),
    effects.PruneOutputs(thread_ids=("t",), reason="unused"),
    effects.ResetBaseline(path="/m", previous="0123456789abcdef"),
    effects.StoreVerdicts(rater="me", frame="all"),
)
WORDS = (
    "10 tokens of redacted text to api.example; price unknown",
    "127.0.0.1:1 (this computer)",
    "1 consolidation agent (m) in a staged copy",
    "1 new data folder (queue, extracted memories, receipts)\n        /h\n",
    "1 new folder for the memory\n        rollout_summaries",
    "a   added   +2 −1   0 B → 9 B",
    "1 b (0 B)\n        stale",
    "1 extractions, 8 at a time",
    "4 extracted memories at most",
    "4 job records\n        record outcome",
    "watermark 1970-01-01 00:01 UTC",
    "1 extracted memories removed: unused",
    "1 new baseline commit without history (replaces 01234567)",
    "verdicts of me are appended",
)


@pytest.mark.parametrize(("effect", "words"), list(zip(ALL, WORDS, strict=True)))
def test_every_effect_is_said_in_words(effect: effects.Effect, words: str) -> None:
    assert words in describe_effect(effect)


def test_many_details_are_cut_unless_all_are_asked_for() -> None:
    pruned = effects.PruneOutputs(thread_ids=tuple(f"t{number}" for number in range(14)), reason="unused")
    assert describe_effect(pruned).endswith("t11\n        … and 2 more")
    assert describe_effect(pruned, all_of_it=True).endswith("t13")


def test_a_plan_and_a_receipt_in_words() -> None:
    context = Context(
        adapters=None,  # type: ignore[arg-type]
        home=None,
        memory_root=None,
        sources=(),
        settings=Settings(),
        stdin=io.StringIO(),
        out=io.StringIO(),
        err=io.StringIO(),
    )
    finding = Finding(id="f1", rule="size", severity=Severity.WARNING, path="MEMORY.md", line=3, text="long")
    hunk = Hunk(id="h1", old_start=0, old=("old\n",), new_start=0, new=("new \u200b\n",))
    plan = Plan(
        kind="apply",
        operation="consolidate",
        id="p",
        created_at=1,
        state=PlanState.APPLYABLE,
        home="/h",
        memory_root="/m",
        provider=ProviderMark(name="builtin", label="Built-in"),
        settings=Settings(),
        effects=tuple(ALL[5] for _ in range(14)),
        changes=(FileChange(path="MEMORY.md", change="modified", hunks=(hunk,)),),
        findings=(finding,),
        skipped=(Skip(id="t1", reasons=("left out",)),),
        drift=("M MEMORY.md",),
        notes=("a note",),
    ).sealed()
    describe_plan(context, plan)
    describe_plan(context, plan, details=True)
    file = ReceiptFile(path="MEMORY.md", old_sha256="a", new_sha256=None)
    receipt = Receipt(
        operation_number=3,
        operation="consolidate",
        kind="apply",
        plan_digest=plan.digest,
        selection_digest="s",
        approver="me",
        surface="demo",
        started_at=1,
        finished_at=2,
        files=(file,),
        counts={"written": 1},
        baseline_commit="c0ffee",
        watermark_before=1,
        watermark_after=2,
    )
    describe_receipt(context, receipt)
    said = context.out.getvalue()  # type: ignore[attr-defined]
    for words in (
        "Nothing leaves this computer.",
        "… and 2 more",
        "warning: MEMORY.md:3: long [f1]",
        "t1: left out",
        "on disk, not in the baseline: M MEMORY.md",
        "@@ MEMORY.md:h1 from line 1 to line 1 @@",
        "+new ⟨U+200B⟩",
        "deleted  MEMORY.md",
        "watermark 1 → 2",
        plan.digest,
    ):
        assert words in said
    assert next(group for group, _ in grouped(ALL)) == "leaves this computer"


def test_every_command_is_registered(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call("--help")
    said = capsys.readouterr().out
    for command in (
        "gui",
        "demo",
        "scan",
        "rollout",
        "preview",
        "plan",
        "show",
        "apply",
        "cite",
        "check",
        "redact",
        "scan-secrets",
        "recover",
        "log",
        "jobs",
        "inbox",
        "metrics",
        "explain",
        "refused",
    ):
        assert f"\n    {command} " in said or f"\n    {command}\n" in said, command
    assert "--memory-root DIR" in said
