"""What the events of a run do to the Run button's state."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from ltmem_gui.domain.agent import AgentStep
from ltmem_gui.domain.events import Event, RunProgressed, RunSpent, ScanProgressed, StepReached
from ltmem_gui.ui.models.agent_steps import step_in_words
from ltmem_gui.ui.models.run_state import RunPhase, RunState


def followed(state: RunState, events: Sequence[Event]) -> RunState:
    """Return the state after events; each counts only in the phases it belongs to."""
    for event in events:
        match event:
            case ScanProgressed(done, total) if state.phase in (RunPhase.SCANNING, RunPhase.ESTIMATING):
                state = state.advanced(done, total)
            case RunProgressed(done, total) if state.phase is RunPhase.EXTRACTING:
                state = state.advanced(done, total)
            case RunSpent(used) if state.phase is RunPhase.EXTRACTING and used:
                state = replace(state, detail=str(event))
            case AgentStep(number) if state.phase is RunPhase.CONSOLIDATING:
                state = state.stepped(number, step_in_words(event))
            case StepReached(step, detail) if state.busy and state.phase is not RunPhase.CONFIRMING:
                state = replace(state, detail=f"{step}: {detail}" if detail else step)
            case _:
                pass
    return state
