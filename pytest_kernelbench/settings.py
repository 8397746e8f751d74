"""Every ``--kb-*`` option and ini value, parsed and checked once, frozen."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

DTYPES = {"fp32": "float32", "fp16": "float16", "bf16": "bfloat16"}
DEFAULT_TOLERANCE = {"fp32": 1e-4, "fp16": 1e-2, "bf16": 1e-2}


@dataclass(frozen=True)
class Settings:
    """What the user asked for. Plain values only: it is sent to other processes as it is."""

    problem_roots: tuple[Path, ...] = (Path("problems"),)
    problem_files: tuple[Path, ...] = ()
    """``--kb-problem FILE``: problems by themselves; they go before any root's."""
    archives: tuple[Path, ...] = ()
    """``--kb-solutions``: files with a solution a row."""
    cache_dir: Path = Path(".kernelbench")
    cache_limit_gb: float = 20.0
    """Built extensions above this are evicted, least recently used first."""
    levels: tuple[int, ...] = ()
    problems: tuple[str, ...] = ()
    """``"1/19"`` each; empty means all."""
    entrants: tuple[str, ...] = ()
    expected_to_fail: tuple[str, ...] = ()
    """``--kb-expect-failure``: names of folders and files, with ``*`` and ``?``."""
    thresholds: tuple[float, ...] = ()
    """``--kb-p``, in the order given; empty means 1 and no gate."""
    fail_under: float | None = None
    """``--kb-fail-under F``: the least fast_P on any level."""
    fail_under_levels: tuple[tuple[int, float], ...] = ()
    """``--kb-fail-under L:F``: the same for single levels; goes before ``fail_under``."""
    baselines: tuple[str, ...] = ("eager",)
    baseline_prepare: tuple[tuple[str, str], ...] = ()
    """``(name, "module:function")`` each; the baseline's process calls it with its model.

    Ours need not be named here.
    """
    device: str = "auto"
    size: str = "auto"
    dtype: str = "fp32"
    seeds: int = 5
    atol: float | None = None
    rtol: float | None = None
    shapes: bool = False
    strict: bool = False
    timeout_s: float = 120.0
    """For each of: import, construction, one round or one timed batch of a solution."""
    budget_s: float = 2.0
    """Timing budget a pair, per baseline: seconds of timed calls, or five times as many in all.

    25 times as many in all up to ten pairs of turns, since the interval is wide until then. Before
    six pairs it takes five budgets of either kind.
    """
    build_timeout_s: float = 900.0
    build_only: bool = False
    build_jobs: int | None = None
    correctness_only: bool = False
    tf32: bool = False
    engine: str = "local"
    ray_address: str | None = None
    """``--kb-ray-address``: ``auto`` or ``HOST:PORT``; None is a Ray of this machine's own."""
    gpu: str | None = None
    """``--kb-gpu``: the kind of GPU to judge on, by the name that Ray has for it."""
    json: Path | None = None
    resume: Path | None = None
    """``--kb-resume``: records of what need not be judged again; new ones are added to it."""
    compare: Path | None = None
    """``--kb-compare``: records of an earlier session that this one must not fall behind."""
    max_slowdown: float = 0.05
    """``--kb-max-slowdown``: how much more time a solution may take than then, as a share."""
    changed_since: str | None = None
    """``--kb-changed``: only what changed since this commit of git."""
    markdown: Path | None = None
    """``--kb-markdown``: the summary for a page on the web."""
    eval_results: Path | None = None
    """``--kb-eval-results``: KernelBench's own file of results."""
    trace: Path | None = None
    """``--kb-trace``: flashinfer-bench's."""
    csv: Path | None = None
    html: Path | None = None
    """``--kb-html``: a page with plots, scores and every pair."""
    baseline_times: Path | None = None
    """``--kb-baseline-times``: KernelBench's file of baselines measured before."""
    foreign_baseline: bool = False
    """Take them though they come from another device."""
    at_k: tuple[int, ...] = ()
    """``--kb-at-k``: the k of pass@k and fast_p@k in the summary."""
    solution_folders: tuple[str, ...] = ("solutions",)
    """Names of folders that hold nothing but solutions: nothing in them is run by pytest itself."""

    @property
    def threshold(self) -> float:
        """The largest ``--kb-p`` given, else 1."""
        return max(self.to_decide)

    @property
    def to_decide(self) -> tuple[float, ...]:
        """Speedups that each pair is timed for until they are decided."""
        return self.thresholds or (1.0,)

    @property
    def required_speedup(self) -> float | None:
        """What each pair must be shown to exceed; None where nothing is asked of single pairs."""
        gated = self.fail_under is not None or bool(self.fail_under_levels)
        return self.threshold if self.thresholds and not gated else None

    @property
    def scored_levels(self) -> tuple[int, ...]:
        """Levels asked for by name, also by a gate: they count for those who left them out."""
        return tuple(sorted({*self.levels, *(level for level, _ in self.fail_under_levels)}))

    @property
    def arithmetic(self) -> str:
        """What products may be computed in, by whose rate a roof is drawn."""
        return "tf32" if self.tf32 and self.dtype == "fp32" else self.dtype

    @property
    def tolerance(self) -> tuple[float, float]:
        """``(atol, rtol)`` for the dtype; ``atol`` is scaled to the output by the comparison."""
        default = DEFAULT_TOLERANCE[self.dtype]
        return (
            default if self.atol is None else self.atol,
            default if self.rtol is None else self.rtol,
        )
