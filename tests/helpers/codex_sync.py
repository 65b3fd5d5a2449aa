"""What Codex does with its memory folder at the start of a consolidation, written from the reference alone (§4.2–4.10).

Nothing of the program is used here: this is the other side, against which the program's folders are held.
"""

from __future__ import annotations

import hashlib
import shutil
import sqlite3
import subprocess
import uuid
from contextlib import closing
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

BASE62 = "0123456789abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ"
RUST_WHITE_SPACE = "".join(map(chr, (*range(9, 14), 32, 0x85, 0xA0, 0x1680, *range(0x2000, 0x200B)))) + (
    "\u2028\u2029\u202f\u205f\u3000"
)
SELECT = """
    SELECT thread_id, source_updated_at FROM stage1_outputs
    WHERE (length(trim(raw_memory)) > 0 OR length(trim(rollout_summary)) > 0)
      AND COALESCE(last_usage, source_updated_at) >= ?
    ORDER BY COALESCE(usage_count, 0) DESC, COALESCE(last_usage, source_updated_at) DESC, source_updated_at DESC,
      thread_id DESC
"""


def selection(
    home: Path, now: int, *, memories: str, state: str, limit: int = 256, unused_days: int = 30
) -> list[dict[str, Any]]:
    """Return the selected rows, joined with their threads, in ascending thread-id order."""
    with closing(sqlite3.connect(home / memories)) as rows, closing(sqlite3.connect(home / state)) as threads:
        rows.row_factory = threads.row_factory = sqlite3.Row
        kept: list[dict[str, Any]] = []
        for ranked in rows.execute(SELECT, (now - unused_days * 86_400,)).fetchall():
            thread = threads.execute("SELECT * FROM threads WHERE id = ?", (ranked["thread_id"],)).fetchone()
            if thread is None or thread["memory_mode"] != "enabled" or len(kept) == limit:
                continue
            query = "SELECT * FROM stage1_outputs WHERE thread_id = ? AND source_updated_at = ?"
            kept.append(dict(thread) | dict(rows.execute(query, tuple(ranked)).fetchone()))
    return sorted(kept, key=lambda row: row["thread_id"])


def sync(root: Path, rows: list[dict[str, Any]], now: int) -> None:
    """Bring the inputs of a memory folder up to date, as Codex does before it looks for changes."""
    (root / "phase2_workspace_diff.md").unlink(missing_ok=True)
    summaries = root / "rollout_summaries"
    summaries.mkdir(parents=True, exist_ok=True)
    stems = [stem(row) for row in rows]
    for entry in summaries.iterdir():
        if entry.name.endswith(".md") and entry.name[:-3] not in stems:
            entry.unlink()
    blocks: list[str] = []
    for row, name in zip(rows, stems, strict=True):
        at = datetime.fromtimestamp(row["source_updated_at"], UTC).strftime("%Y-%m-%dT%H:%M:%S+00:00")
        head = [f"thread_id: {row['thread_id']}", f"updated_at: {at}", f"rollout_path: {row['rollout_path']}"]
        head.append(f"cwd: {row['cwd']}")
        if row["git_branch"] is not None:
            head.append(f"git_branch: {row['git_branch']}")
        (summaries / f"{name}.md").write_bytes("\n".join([*head, "", row["rollout_summary"], ""]).encode())
        block = [f"## Thread `{row['thread_id']}`", f"updated_at: {at}", f"cwd: {row['cwd']}"]
        block += [f"rollout_path: {row['rollout_path']}", f"rollout_summary_file: {name}.md", ""]
        blocks.append("\n".join([*block, row["raw_memory"].strip(RUST_WHITE_SPACE), "", ""]))
    title = "Merged stage-1 raw memories (stable ascending thread-id order):"
    text = "\n".join(["# Raw Memories", "", title, "", "".join(blocks)]) if rows else None
    (root / "raw_memories.md").write_bytes((text or "# Raw Memories\n\nNo raw memories yet.\n").encode())
    prune_resources(root, now)


def stem(row: dict[str, Any]) -> str:
    """Return `<ts>-<hash>[-<slug>]`."""
    seconds, seed = row["source_updated_at"], 0
    try:
        identity = uuid.UUID(row["thread_id"])
        seed = identity.fields[5] & 0xFFFFFFFF
        if identity.version == 7:
            seconds = int(identity.hex[:12], 16) // 1000
    except ValueError:
        for byte in row["thread_id"].encode():
            seed = (seed * 31 + byte) % 2**32
    seed %= 62**4
    code = "".join(BASE62[seed // 62**power % 62] for power in (3, 2, 1, 0))
    slug = (row["rollout_slug"] or "").strip(RUST_WHITE_SPACE)[:60]
    slug = "".join(c.lower() if c.isascii() and c.isalnum() else "_" for c in slug).rstrip("_")
    return "-".join(filter(None, [datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%dT%H-%M-%S"), code, slug]))


def prune_resources(root: Path, now: int) -> None:
    """Delete extension resources of seven days and more, where the extension has instructions."""
    for extension in (root / "extensions").glob("*/"):
        if not (extension / "instructions.md").is_file():
            continue
        for resource in extension.glob("resources/*.md"):
            try:
                made = datetime.strptime(resource.name[:19], "%Y-%m-%dT%H-%M-%S").replace(tzinfo=UTC)
            except ValueError:
                continue
            if made <= datetime.fromtimestamp(now, UTC) - timedelta(days=7):
                resource.unlink()


def status(root: Path) -> list[str]:
    """Return `A|M|D path` of the folder against its git baseline: by blob and mode, whatever the index says."""
    listed = git(root, "ls-tree", "-r", "-z", "HEAD").split("\0")
    entries = (line.split("\t", 1) for line in listed if line)
    baseline = {path: (meta.split(" ")[2], meta.split(" ")[0]) for meta, path in entries}
    disk: dict[str, tuple[str, str]] = {}
    for path in root.rglob("*"):
        name = path.relative_to(root)
        if ".git" in name.parts or path.is_dir():
            continue
        data = str(path.readlink()).encode() if path.is_symlink() else path.read_bytes()
        blob = hashlib.sha1(b"blob %d\0" % len(data) + data, usedforsecurity=False).hexdigest()
        mode = "120000" if path.is_symlink() else "100755" if path.stat().st_mode & 0o111 else "100644"
        disk[name.as_posix()] = (blob, mode)
    names = sorted(baseline.keys() | disk.keys())
    return [
        f"{'A' if name not in baseline else 'D' if name not in disk else 'M'} {name}"
        for name in names
        if baseline.get(name) != disk.get(name)
    ]


def validates(root: Path) -> bool:
    """Tell whether Codex finds the artifacts sound: no symlink, `MEMORY.md` a file, `v1` on line 1 of the summary."""
    entries = list(root.rglob("*"))
    memory, summary = root / "MEMORY.md", root / "memory_summary.md"
    sound = not root.is_symlink() and not any(path.is_symlink() for path in entries) and memory.is_file()
    return sound and summary.read_text(encoding="utf-8").split("\n", 1)[0] == "v1"


def keeps_baseline(root: Path) -> bool:
    """Tell whether Codex keeps the git folder: HEAD's tree is readable, its one commit has no parent."""
    return (root / ".git").is_dir() and git(root, "rev-list", "--parents", "HEAD").count(" ") == 0


def reset_baseline(root: Path) -> None:
    """Make the folder as it is the baseline: history goes, no ignore rules, one commit of Codex without a parent."""
    if (root / ".git").exists():
        shutil.rmtree(root / ".git")
    git(root, "init", "--quiet")
    git(root, "add", "--all", "--force")
    who = ("-c", "user.name=Codex", "-c", "user.email=noreply@openai.com", "-c", "commit.gpgsign=false")
    git(root, *who, "commit", "--quiet", "--allow-empty", "--no-verify", "-m", "Initialize Codex git baseline")
    git(root, "read-tree", "--reset", "HEAD")


def git(root: Path, *arguments: str) -> str:
    """Run git on the folder; the person's own settings do not count."""
    command = ["git", "-C", str(root), "-c", f"safe.directory={root}", *arguments]
    return subprocess.run(command, capture_output=True, text=True, check=True).stdout
