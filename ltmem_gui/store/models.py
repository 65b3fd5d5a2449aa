"""The tables as peewee sees them. The models are bound to no database: each query is run on the one at hand."""

from __future__ import annotations

from peewee import CompositeKey, IntegerField, Model, TextField


class Stage1Output(Model):
    """`stage1_outputs`: one extracted memory row per thread."""

    thread_id = TextField(primary_key=True)
    source_updated_at = IntegerField()
    raw_memory = TextField()
    rollout_summary = TextField()
    rollout_slug = TextField(null=True)
    generated_at = IntegerField()
    usage_count = IntegerField(null=True)
    last_usage = IntegerField(null=True)
    selected_for_phase2 = IntegerField(default=0)
    selected_for_phase2_source_updated_at = IntegerField(null=True)
    cwd = TextField(default="")
    rollout_path = TextField(default="")
    git_branch = TextField(null=True)
    memory_mode = TextField(default="enabled")
    edited_at = IntegerField(null=True)

    class Meta:
        table_name = "stage1_outputs"


class Job(Model):
    """`jobs`: one row per thread (Phase 1), and the one global row (Phase 2)."""

    kind = TextField()
    job_key = TextField()
    status = TextField()
    worker_id = TextField(null=True)
    ownership_token = TextField(null=True)
    started_at = IntegerField(null=True)
    finished_at = IntegerField(null=True)
    lease_until = IntegerField(null=True)
    retry_at = IntegerField(null=True)
    retry_remaining = IntegerField()
    last_error = TextField(null=True)
    input_watermark = IntegerField(null=True)
    last_success_watermark = IntegerField(null=True)
    agent = TextField(default="")
    cwd = TextField(default="")
    rollout_path = TextField(default="")
    git_branch = TextField(null=True)
    title = TextField(default="")
    last_outcome = TextField(default="")
    error_group = TextField(default="")
    crash_count = IntegerField(default=0)
    attempt = IntegerField(default=0)

    class Meta:
        table_name = "jobs"
        primary_key = CompositeKey("kind", "job_key")


class AttemptRow(Model):
    """`attempts`: every try at a job."""

    kind = TextField()
    job_key = TextField()
    number = IntegerField()
    owner = TextField()
    started_at = IntegerField()
    ended_at = IntegerField(null=True)
    outcome = TextField(default="")
    tokens_in = IntegerField(null=True)
    tokens_out = IntegerField(null=True)
    error_group = TextField(default="")
    error = TextField(default="")
    tokens_cached = IntegerField(null=True)
    tokens_reasoning = IntegerField(null=True)
    provider = TextField(default="")
    model = TextField(default="")
    cost = TextField(null=True)
    currency = TextField(default="")

    class Meta:
        table_name = "attempts"
        primary_key = CompositeKey("kind", "job_key", "number")


class Operation(Model):
    """`operations`: the hash-chained log of approvals and receipts."""

    number = IntegerField(primary_key=True)
    at = IntegerField()
    type = TextField()
    plan_digest = TextField()
    operation_number = IntegerField()
    body = TextField()
    previous = TextField()
    hash = TextField()

    class Meta:
        table_name = "operations"


class InboxRow(Model):
    """`inbox`: lines that wait for a person."""

    id = IntegerField(primary_key=True)
    thread_id = TextField()
    key = TextField()
    text = TextField()
    line = IntegerField(null=True)
    kind = TextField()
    score = IntegerField()
    created_at = IntegerField()

    class Meta:
        table_name = "inbox"


class RefusedRow(Model):
    """`refused_hunks`: rejected changes; `old`, `new`, `thread_ids` are JSON arrays."""

    key = TextField(primary_key=True)
    path = TextField()
    old = TextField()
    new = TextField()
    note = TextField()
    thread_ids = TextField()
    refused_at = IntegerField()

    class Meta:
        table_name = "refused_hunks"


class Exclusion(Model):
    """`exclusions`: threads that are left out of consolidation until lifted."""

    thread_id = TextField(primary_key=True)
    reason = TextField()
    excluded_at = IntegerField()

    class Meta:
        table_name = "exclusions"


class UsageCredit(Model):
    """`usage_ledger`: each citation that was credited, once ever."""

    thread_id = TextField()
    record = TextField()
    cited_id = TextField()
    credited_at = IntegerField()

    class Meta:
        table_name = "usage_ledger"
        primary_key = CompositeKey("thread_id", "record", "cited_id")


class VerdictRow(Model):
    """`verdicts`: what raters said of citations; append-only."""

    id = IntegerField(primary_key=True)
    at = IntegerField()
    rater = TextField()
    frame = TextField()
    item = TextField()
    verdict = TextField()
    note = TextField()
    binding = TextField()
    thread_ids = TextField()

    class Meta:
        table_name = "verdicts"


class EvidenceRow(Model):
    """`evidence`: what cited places said when they were cited, by memory folder and citation."""

    id = IntegerField(primary_key=True)
    root = TextField()
    file = TextField()
    note = TextField()
    path = TextField()
    first_line = IntegerField()
    last_line = IntegerField()
    quote = TextField()
    sha256 = TextField()
    before = TextField()
    after = TextField()
    copies = IntegerField()
    baseline = TextField(null=True)
    at = IntegerField()
    origin = TextField()
    thread_ids = TextField()

    class Meta:
        table_name = "evidence"
