"""The composition root: builds every adapter when it is first asked for, and nothing before.

Imports stand inside the properties on purpose: `scan` must not load the redaction engine, and a command that opens no
database must not pay for peewee.
"""

from __future__ import annotations

import os
import time
import urllib.request
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Literal, TypeVar, cast
from urllib.parse import urlsplit

from ltmem_gui import assets
from ltmem_gui.domain.errors import KnownError, UsageError
from ltmem_gui.domain.providers import BUILTIN, LOCAL, is_loopback_host, provider_of
from ltmem_gui.workspace.veto import Veto

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
    from contextlib import AbstractContextManager

    from ltmem_gui.domain.agent import AgentBrief, AgentMessage, AgentReply, ToolSpec
    from ltmem_gui.domain.extraction import ExtractionInput, ExtractionReply
    from ltmem_gui.domain.jobs import Owner
    from ltmem_gui.domain.limits import ProviderLimits, ServerForms
    from ltmem_gui.domain.plan import ProviderMark
    from ltmem_gui.domain.providers import ConnectionReport, ProviderSettings
    from ltmem_gui.domain.redaction import RedactionPolicy
    from ltmem_gui.domain.secrets import Redaction
    from ltmem_gui.domain.settings import Settings
    from ltmem_gui.llm.agent_model import OpenAIAgentModel
    from ltmem_gui.llm.openai_api import OpenAIExtractor
    from ltmem_gui.llm.server_memory import ServerMemory
    from ltmem_gui.pipeline.outside_ports import OutsideActor
    from ltmem_gui.pipeline.ports import (
        AgentModel,
        ApplyLedger,
        ApplyRecovery,
        Consolidator,
        Extractor,
        ForeignMemories,
        MemoryObject,
        MemoryValidator,
        Redactor,
        RolloutPreparer,
        RolloutSource,
        SplittingExtractor,
        StagedFolder,
        StoreOpener,
        UndoSource,
        Workspace,
        WorkspaceWriter,
    )
    from ltmem_gui.pipeline.project_ports import ProjectFiles
    from ltmem_gui.pipeline.provider_ports import ProviderKeys
    from ltmem_gui.workers import RedactorChoice, Workers
    from ltmem_gui.workspace.locking import RootLocks

T = TypeVar("T")

REDACTOR_CACHE = "redactor_cache"
SCAN_INDEX = "scan_index.sqlite"
ENGINE_VARIABLE = "LTMEM_REDACTOR"


def compose(home: Path | None, *, eager_workers: bool = False, veto: Veto | None = None) -> Composition:
    """Return the adapters of one program run; `veto` is the installed guard of the process."""
    return Composition(home, eager_workers=eager_workers, veto=veto)


class Composition:
    """Every adapter of one program run; implements `ports.Adapters`."""

    def __init__(self, home: Path | None, *, eager_workers: bool = False, veto: Veto | None = None) -> None:
        self._veto = veto or Veto()
        self._home = home
        self._eager = eager_workers
        # A plan of the command line writes nothing below the data folder, not even housekeeping.
        self._keeps_index = eager_workers
        self._built: dict[str, object] = {}
        self._policy: RedactionPolicy | None = None

    def _once(self, name: str, build: Callable[[], T]) -> T:
        """Build an adapter when it is first asked for. (A cached_property does not satisfy a protocol's property.)"""
        if name not in self._built:
            self._built[name] = build()
        return cast("T", self._built[name])

    @property
    def clock(self) -> Callable[[], int]:
        """Return the wall clock, in Unix seconds."""
        return _now

    @property
    def offload(self) -> Workers:
        """Return the executors."""
        from ltmem_gui.workers import Workers

        return self._once("offload", lambda: Workers(eager=self._eager))

    @property
    def engine(self) -> Literal["full", "layer"]:
        """Return which redaction engine runs; only a checkout may choose the rules alone (its tests are faster so)."""
        wanted = os.environ.get(ENGINE_VARIABLE, "full")
        return self._once("engine", lambda: "layer" if wanted == "layer" and assets.is_checkout() else "full")

    def redactor_cache(self) -> Path | None:
        """Return the folder of compiled rules, once a confirmed effect has created the data folder."""
        cache = self._home / REDACTOR_CACHE if self._home else None
        return cache if cache is not None and cache.is_dir() else None

    def use_home(self, home: Path) -> None:
        """Tell which data folder the work is for."""
        self._home = home

    def use_settings(self, settings: Settings) -> None:
        """Tell which settings the work is under. Raises `UsageError` for redaction settings that are not accepted."""
        allowed = (settings.redaction_allowed, settings.redaction_allowed_patterns)
        wanted = (settings.redaction_off, settings.redaction_patterns, *allowed)
        if not any(wanted):
            self._policy = None
            return
        from ltmem_gui.domain.redaction.policy import policy_of

        self._policy = policy_of(settings, time.thread_time)

    @property
    def rollouts(self) -> RolloutSource:
        """Return the reader of sessions; the window keeps a scan index once a data folder was confirmed."""
        from ltmem_gui.sources.library import RolloutLibrary

        home = self._home
        if home is not None and self._keeps_index and home.is_dir():
            from ltmem_gui.sources.index import ScanIndex

            return self._once(f"rollouts {home}", lambda: RolloutLibrary(ScanIndex(home / SCAN_INDEX)))
        return self._once("rollouts", lambda: RolloutLibrary())

    @property
    def preparer(self) -> RolloutPreparer:
        """Return what reads and redacts sessions on the workers."""
        from ltmem_gui.workers import Preparer

        return self._once("preparer", lambda: Preparer(self.offload, self.redactor_choice))

    def redactor_choice(self) -> RedactorChoice:
        """Return which redactor the work at hand uses."""
        from ltmem_gui.workers import RedactorChoice

        return RedactorChoice(self.engine, str(self.redactor_cache() or ""), self._policy)

    @property
    def redactor(self) -> Redactor:
        """Return this process's redactor."""
        from ltmem_gui.workers import process_redactor

        return process_redactor(self.redactor_choice())

    async def redact_text(self, text: str, known: tuple[str, ...] = ()) -> Redaction:
        """Pass a text through the choke point on the workers; a long one goes there and back in pieces."""
        from ltmem_gui import workers
        from ltmem_gui.redactor import parcels

        choice = self.redactor_choice()
        if len(text) < parcels.LONG:
            return await self.offload.cpu(workers.redact_text, text, known, choice)
        pieces = await self.offload.thread(parcels.pack_text, text)
        parcel = await self.offload.cpu(workers.redact_parcel, pieces, known, choice)
        return await self.offload.thread(parcels.unpack, parcel)

    async def redact_texts(self, texts: tuple[str, ...], known: tuple[str, ...] = ()) -> tuple[Redaction, ...]:
        """Pass several texts through the choke point in one go."""
        from ltmem_gui import workers

        return await self.offload.cpu(workers.redact_texts, texts, known, self.redactor_choice()) if texts else ()

    async def redact_labels(self, labels: tuple[str, ...]) -> tuple[Redaction, ...]:
        """Pass labels through the rules alone, on a worker."""
        from ltmem_gui import workers

        rules = workers.RedactorChoice("layer", "", self._policy)
        return await self.offload.cpu(workers.redact_texts, labels, (), rules) if labels else ()

    def layer_redactor(self) -> Redactor:
        """Return the rules alone, without the engine."""
        from ltmem_gui.workers import RedactorChoice, process_redactor

        return process_redactor(RedactorChoice("layer", "", self._policy))

    @property
    def workspace(self) -> Workspace:
        """Return the reader of memory folders; each one that is read is guarded from then on."""
        from ltmem_gui.workspace.folder import MemoryFolder

        return self._once("workspace", lambda: MemoryFolder(protect=self._veto.protect))

    @property
    def stores(self) -> StoreOpener:
        """Return what opens the database of a data folder."""
        from ltmem_gui.store.opening import SqliteStores

        return self._once("stores", lambda: SqliteStores())

    @property
    def consolidate(self) -> Consolidator:
        """Return the built-in consolidation."""
        from ltmem_gui.llm.builtin.consolidation import consolidate_builtin

        return consolidate_builtin

    @property
    def validate(self) -> MemoryValidator:
        """Return the rules of a memory folder."""
        from ltmem_gui.domain.memory_files import validate

        return validate

    @property
    def undo(self) -> UndoSource:
        """Return what looks at the undo image."""
        from ltmem_gui.workspace.undo import UndoImages

        return UndoImages()

    @property
    def outside(self) -> OutsideActor:
        """Return what starts the person's own programs and writes copies, each with a grant of its own."""
        from ltmem_gui.workspace.outside import Outside

        return self._once("outside", lambda: Outside(self._veto.starting))

    @property
    def project_files(self) -> ProjectFiles:
        """Return what reads files of a project at a commit."""
        from ltmem_gui.workspace.project import GitProjects

        return GitProjects()

    @property
    def owner(self) -> Owner:
        """Return who this process is, for leases and locks."""
        from ltmem_gui.store.liveness import this_process

        return self._once("owner", lambda: this_process("ltmem"))

    def extractor(self, provider: str, settings: Settings) -> Extractor:
        """Return the Phase-1 side of a provider. Raises `UsageError` for an unknown or incomplete one."""
        if provider == BUILTIN:
            from ltmem_gui.llm.builtin.extraction import BuiltinExtractor

            return BuiltinExtractor(self.offload.cpu)
        if provider == LOCAL:
            from ltmem_gui.llm.local_model import LocalExtractor

            path = Path(settings.extract_model)
            return self._once(
                f"extractor {path}",
                lambda: FencedExtractor(LocalExtractor(path, on_thread=self.offload.thread), self._veto),
            )
        named = provider_of(provider, settings, settings.extract_model)
        return self._once(f"extractor {named}", lambda: self.provider_probe(named))

    def provider_probe(self, provider: ProviderSettings) -> FencedServer:
        """Return what looks at a server, or extracts with it; nothing is sent yet."""
        from ltmem_gui.llm.openai_api import OpenAIExtractor

        inner = OpenAIExtractor(provider, memory=self.server_memory, on_thread=self.offload.thread, clock=self.clock)
        return FencedServer(inner, self._veto)

    @property
    def server_memory(self) -> ServerMemory:
        """Return what was found out about servers while the program runs."""
        from ltmem_gui.llm.server_memory import ServerMemory

        return self._once("server memory", ServerMemory)

    @property
    def provider_keys(self) -> ProviderKeys:
        """Return the keys of providers."""
        from ltmem_gui.llm.keys import Keys

        return Keys()

    def local_model_problem(self, path: str) -> str:
        """Say why a model file cannot be run here, empty when it can be tried."""
        from ltmem_gui.llm.local_model import check_model_file

        try:
            check_model_file(Path(path))
        except KnownError as error:
            return str(error)
        return ""

    def agent_model(self, provider: str, settings: Settings) -> AgentModel:
        """Return the model of the consolidation agent. Raises `UsageError` for an unknown or incomplete provider."""
        if provider == LOCAL:
            raise UsageError(
                "a model file read by the program cannot consolidate", "use the built-in rules, or a model on a server"
            )
        from ltmem_gui.llm.agent_model import OpenAIAgentModel

        named = provider_of(provider, settings, settings.consolidation_model)
        inner = OpenAIAgentModel(named, memory=self.server_memory, on_thread=self.offload.thread, clock=self.clock)
        return FencedAgentModel(inner, self._veto)

    def staged_copy(
        self, files: Mapping[str, bytes], *, max_bytes: int, max_files: int
    ) -> AbstractContextManager[StagedFolder]:
        """Lay a private copy of a memory folder, which is removed afterwards."""
        from ltmem_gui.workspace.staging import staged_copy

        return staged_copy(files, max_bytes=max_bytes, max_files=max_files)

    def foreign_memories(self, root: Path) -> ForeignMemories | None:
        """Return what Codex keeps for this folder, None where it is not Codex's."""
        from ltmem_gui.sources.codex_memories import memories_beside

        return memories_beside(root, self.clock())

    def codex_home(self, home: Path) -> ForeignMemories | None:
        """Return what Codex keeps in a home that was named."""
        from ltmem_gui.sources.codex_memories import memories_of

        return memories_of(home, self.clock())

    def memory_objects(self, root: Path) -> Iterable[MemoryObject]:
        """Read everything git keeps below a memory root."""
        from ltmem_gui.workspace.objects import memory_objects

        return memory_objects(root)

    def writer(self, home: Path, ledger: ApplyLedger) -> WorkspaceWriter:
        """Return the only thing that changes a memory folder."""
        from ltmem_gui.workspace.writer import Writer

        cover = self._veto.cover
        return Writer(home, ledger=ledger, locks=self.locks, owner=self.owner, clock=self.clock, cover=cover)

    def recovery(self, home: Path) -> ApplyRecovery:
        """Return what finishes or takes back an interrupted apply."""
        from ltmem_gui.pipeline.ledger import StoreLedger
        from ltmem_gui.workspace.recovery import Recovery

        return Recovery(
            home,
            ledger=StoreLedger(self, home),
            locks=self.locks,
            owner=self.owner,
            clock=self.clock,
            cover=self._veto.cover,
        )

    @property
    def locks(self) -> RootLocks:
        """Return the locks of memory roots, shared by every data folder of this person."""
        from ltmem_gui.workspace.locking import RootLocks

        return self._once("locks", lambda: RootLocks(self.clock))

    def lay_samples(self, sessions: Path, now: int) -> None:
        """Write the demo's sample rollouts into a folder of its own."""
        from ltmem_gui.sources.samples import lay_samples

        lay_samples(assets.resources_dir() / "demo", sessions, now)

    def close(self) -> None:
        """Shut the executors down."""
        if "offload" in self._built:
            self.offload.close()


class FencedExtractor:
    """Open the way to the provider's host, and to the proxies the person set, for the time of one request."""

    def __init__(self, inner: SplittingExtractor, veto: Veto) -> None:
        self._inner = inner
        self._veto = veto

    @property
    def mark(self) -> ProviderMark:
        """Return the provider's mark."""
        return self._inner.mark

    async def extract(self, request: ExtractionInput) -> ExtractionReply:
        """Ask the provider."""
        with _way_to(self.mark.host, self._veto):
            return await self._inner.extract(request)

    async def extract_split(self, request: ExtractionInput, part_tokens: int) -> ExtractionReply:
        """Ask the provider for each part, and to merge them."""
        with _way_to(self.mark.host, self._veto):
            return await self._inner.extract_split(request, part_tokens)

    async def close(self) -> None:
        """Close the connections."""
        await self._inner.close()


class FencedServer(FencedExtractor):
    """The same for a server that can be asked what it has, and that names its limits."""

    def __init__(self, inner: OpenAIExtractor, veto: Veto) -> None:
        super().__init__(inner, veto)
        self._server = inner

    @property
    def limits(self) -> ProviderLimits | None:
        """Return what the server last said of its limits."""
        return self._server.limits

    def forms(self) -> ServerForms | None:
        """Return what the server was found to take."""
        return self._server.forms()

    def recall(self, forms: ServerForms) -> None:
        """Take over what an earlier run found out."""
        self._server.recall(forms)

    async def models(self) -> tuple[str, ...]:
        """Ask the server what it has."""
        with _way_to(self.mark.host, self._veto):
            return await self._server.models()

    async def test_connection(self) -> ConnectionReport:
        """Try the model with two made-up requests."""
        with _way_to(self.mark.host, self._veto):
            return await self._server.test_connection()


class FencedAgentModel:
    """Open the way to the model's host for the time of each step of the agent, and to nothing else."""

    def __init__(self, inner: OpenAIAgentModel, veto: Veto) -> None:
        self._inner = inner
        self._veto = veto

    @property
    def mark(self) -> ProviderMark:
        """Return the provider's mark."""
        return self._inner.mark

    @property
    def limits(self) -> ProviderLimits | None:
        """Return what the server last said of its limits."""
        return self._inner.limits

    def forms(self) -> ServerForms | None:
        """Return what the server was found to take."""
        return self._inner.forms()

    def recall(self, forms: ServerForms) -> None:
        """Take over what an earlier run found out."""
        self._inner.recall(forms)

    def opening(self, brief: AgentBrief) -> tuple[AgentMessage, ...]:
        """Return the messages a run begins with."""
        return self._inner.opening(brief)

    async def step(self, messages: Sequence[AgentMessage], tools: Sequence[ToolSpec]) -> AgentReply:
        """Ask the model."""
        with _way_to(self.mark.host, self._veto):
            return await self._inner.step(messages, tools)

    async def close(self) -> None:
        """Close the connections."""
        await self._inner.close()


@contextmanager
def _way_to(host: str, veto: Veto) -> Iterator[None]:
    """Allow connections to a host and, for one that is not this computer, to the proxies the person set."""
    near = is_loopback_host(urlsplit(f"//{host}").hostname or "")
    found = () if near else urllib.request.getproxies().values()
    proxies = [urlsplit(url).netloc for url in found if "://" in url]
    with ExitStack() as open_hosts:
        for allowed in (host, *proxies):
            open_hosts.enter_context(veto.egress(allowed))
        yield


def _now() -> int:
    return int(time.time())
