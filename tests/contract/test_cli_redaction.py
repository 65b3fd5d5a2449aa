"""`redact` and `scan-secrets` as a person calls them."""

from __future__ import annotations

import argparse
import io
import json
import os
import subprocess
import time
from collections.abc import Iterable
from pathlib import Path
from typing import Any, cast

import pytest

from ltmem_gui.cli import redaction
from ltmem_gui.cli.context import Context
from ltmem_gui.domain.errors import InputError
from ltmem_gui.domain.redaction.policy import allow_digest, policy_of
from ltmem_gui.domain.settings import Settings
from ltmem_gui.pipeline.ports import Adapters, MemoryObject
from ltmem_gui.redactor.service import SecretRedactor
from ltmem_gui.workspace.folder import MemoryFolder
from ltmem_gui.workspace.objects import memory_objects
from tests.helpers.secret_shapes import tokens

TOKEN = tokens(4)["forge-1"]


class Parts:
    """The adapters that the two commands ask for, with the rules alone."""

    def __init__(self) -> None:
        self.redactor = SecretRedactor(engine="layer")
        self.workspace = MemoryFolder()
        self.layer_calls = 0

    def layer_redactor(self) -> SecretRedactor:
        self.layer_calls += 1
        return self.redactor

    def memory_objects(self, root: Path) -> Iterable[MemoryObject]:
        return memory_objects(root)


def call(*argv: str | Path, stdin: bytes | str = b"", root: Path | None = None) -> tuple[int, bytes, str]:
    parser = argparse.ArgumentParser()
    redaction.register(parser.add_subparsers())
    source: Any = io.StringIO(stdin) if isinstance(stdin, str) else io.TextIOWrapper(io.BytesIO(stdin), "utf-8")
    raw = io.BytesIO()
    out = io.TextIOWrapper(raw, "utf-8", newline="")
    err = io.StringIO()
    context = Context(
        adapters=cast(Adapters, Parts()),
        home=None,
        memory_root=root,
        sources=(),
        settings=Settings(),
        stdin=source,
        out=out,
        err=err,
    )
    args = parser.parse_args([str(part) for part in argv])
    code = args.run(args, context)
    out.flush()
    return code, raw.getvalue(), err.getvalue()


def test_a_text_comes_out_with_its_bytes() -> None:
    before, after = b"\xef\xbb\xbfa\r\n\x00\xff ", b" \xed\xa0\x80\r\nno newline"

    code, out, err = call("redact", stdin=before + TOKEN.encode() + after)

    assert code == 0
    assert out == before + b"[REDACTED:github_token]" + after
    assert err == "redacted: github_token 1\n"


def test_a_text_without_secrets_and_a_missing_engine_are_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    assert call("redact", stdin="nothing here\n") == (0, b"nothing here\n", "redacted: nothing; no secret was found\n")
    monkeypatch.setattr(SecretRedactor, "degraded", property(lambda _: True))
    _, out, err = call("redact", "--json", stdin="nothing here\n")
    assert json.loads(out)["findings"] == []
    assert err == "layer only, as asked\n"


def test_json_gives_text_and_findings_in_code_points() -> None:
    text = f"🔑 {TOKEN}\r\nend\n"

    code, out, _ = call("redact", "--json", "--engine", "layer", stdin=text.encode())

    assert code == 0
    assert json.loads(out) == {
        "text": "🔑 [REDACTED:github_token]\r\nend\n",
        "findings": [{"start": 2, "end": 2 + len(TOKEN), "kind": "github_token", "engine": "layer"}],
    }


def test_jsonl_answers_a_line_for_a_line() -> None:
    lines = [{"id": "a", "text": f"x {TOKEN}"}, {"id": 7, "text": "clean \ud800 \u2028"}]

    _, out, _ = call("redact", "--jsonl", stdin="\n".join(map(json.dumps, lines)) + "\n\n")

    answers = [json.loads(line) for line in out.decode().split("\n") if line]
    assert answers == [
        {
            "id": "a",
            "text": "x [REDACTED:github_token]",
            "findings": [{"start": 2, "end": 2 + len(TOKEN), "kind": "github_token", "engine": "layer"}],
        },
        {"id": 7, "text": "clean \ud800 \u2028", "findings": []},
    ]


@pytest.mark.parametrize("line", ["{", "[1]", '{"id": 1}', '{"text": 5}'])
def test_a_bad_line_is_named(line: str) -> None:
    with pytest.raises(InputError) as caught:
        call("redact", "--jsonl", stdin='{"text": "ok"}\n' + line)
    assert caught.value.line == 2


def test_a_file_is_read_and_a_missing_one_named(tmp_path: Path) -> None:
    (tmp_path / "a.txt").write_bytes(b"password: Xk3!fooBarQ\n")

    assert call("redact", tmp_path / "a.txt")[1] == b"password: [REDACTED:password]\n"
    assert call("redact", stdin="plain")[1] == b"plain"
    with pytest.raises(InputError, match="No such file"):
        call("redact", tmp_path / "b.txt")


def git(root: Path, *argv: str) -> str:
    environment = {
        **{key: value for key, value in os.environ.items() if not key.startswith("GIT_")},
        "GIT_CONFIG_GLOBAL": os.devnull,
        "GIT_CONFIG_NOSYSTEM": "1",
        **{f"GIT_{who}_{what}": "x@example.org" for who in ("AUTHOR", "COMMITTER") for what in ("NAME", "EMAIL")},
    }
    done = subprocess.run(["git", "-C", root, *argv], env=environment, capture_output=True, text=True, check=True)
    return done.stdout.strip()


@pytest.fixture
def root(tmp_path: Path) -> Path:
    """A folder whose file is clean, and whose history is not."""
    root = tmp_path / "memory"
    root.mkdir()
    git(root, "init", "-q")
    (root / "MEMORY.md").write_text(f"v1\n- token {TOKEN}\n")
    git(root, "add", ".")
    git(root, "commit", "-qm", "first, password: Xk3!fooBarQ")
    (root / "MEMORY.md").write_text("v1\n- nothing\n")
    git(root, "commit", "-qam", "second")
    return root


@pytest.mark.parametrize("packed", [False, True])
def test_a_scan_finds_what_git_kept(root: Path, packed: bool) -> None:
    (root / "notes.md").write_text("a\nb\nDB_PASSWORD=tiger482\n")
    git(root, "config", "remote.origin.url", "https://u:Rk4mmQ9xx2@git.example/r.git")
    if packed:
        git(root, "gc", "-q", "--aggressive", "--prune=now")
    before = sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*"))

    code, out, _ = call("scan-secrets", "--json", root=root)

    answer = json.loads(out)
    found = {(f["of"], f["kind"]) for f in answer["findings"]}
    assert code == 1
    assert ("file", "password") in found
    assert ("git blob", "github_token") in found
    assert ("git commit", "password") in found
    assert ("git file", "url_password") in found
    assert next(f["line"] for f in answer["findings"] if f["where"] == "notes.md") == 3
    assert sum(answer["by_kind"].values()) == len(answer["findings"])
    assert not any(value in out.decode() for value in (TOKEN, "tiger482", "Rk4mmQ9xx2", "Xk3!fooBarQ"))
    assert sorted((path, path.stat().st_mtime_ns) for path in root.rglob("*")) == before


def test_an_object_nobody_points_to_is_scanned_too(root: Path, tmp_path: Path) -> None:
    (tmp_path / "loose").write_text("aws " + tokens(4)["cloud-1"])
    blob = git(root, "hash-object", "-w", str(tmp_path / "loose"))

    _, out, _ = call("scan-secrets", "--json", root=root)

    assert [f["kind"] for f in json.loads(out)["findings"] if f["where"] == blob] == ["aws_key"]


def test_a_secret_in_a_file_name_is_found_and_not_shown(root: Path) -> None:
    (root / f"{TOKEN}.md").write_text("nothing\n")

    _, out, _ = call("scan-secrets", root=root)

    assert "file name [REDACTED:github_token].md:1  github_token" in out.decode()
    assert TOKEN not in out.decode()


def test_a_scan_in_words(root: Path, tmp_path: Path) -> None:
    code, out, _ = call("scan-secrets", root=root)
    assert code == 1
    assert "github_token" in out.decode()
    assert TOKEN not in out.decode()

    (tmp_path / "clean").mkdir()
    assert call("scan-secrets", root=tmp_path / "clean")[:2] == (
        0,
        b"no secret was found in the files and in git's objects\n",
    )
    with pytest.raises(InputError, match="does not exist"):
        call("scan-secrets", root=tmp_path / "none")


def test_objects_that_lie_elsewhere_are_refused(root: Path, tmp_path: Path) -> None:
    (root / ".git/objects/info").mkdir(exist_ok=True)
    (root / ".git/objects/info/alternates").write_text("/elsewhere\n")
    with pytest.raises(InputError, match="borrows"):
        list(memory_objects(root))

    linked = tmp_path / "linked"
    linked.mkdir()
    (linked / ".git").write_text("gitdir: /elsewhere\n")
    with pytest.raises(InputError, match="elsewhere"):
        list(memory_objects(linked))


def test_a_damaged_repository_is_an_error_not_a_clean_scan(root: Path) -> None:
    for path in (root / ".git/objects").glob("??/*"):
        path.chmod(0o600)
        path.write_bytes(b"damaged")
    with pytest.raises(InputError):
        list(memory_objects(root))


def test_an_allowed_value_stays_by_its_salted_digest() -> None:
    value = "ghp_Zk3vR8sW1qLm5TxC9bNa2Yd6HfJ0PuE4oKsQ"
    digest = allow_digest(b"pepper", value)
    settings = Settings(redaction_salt="pepper", redaction_allowed=(digest,))
    redactor = SecretRedactor("layer", policy=policy_of(settings, time.thread_time))
    assert redactor.redact(f"token: {value}").text == f"token: {value}"
    assert value not in SecretRedactor("layer").redact(f"token: {value}").text
