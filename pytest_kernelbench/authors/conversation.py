"""What goes to a model and what comes back: plain values that can be kept and played again."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Protocol


@dataclass(frozen=True)
class Message:
    """One turn of a conversation."""

    role: str
    """``system``, ``user`` or ``assistant``."""
    text: str


@dataclass(frozen=True)
class Sampling:
    """How a model is asked; what is None is left to the endpoint."""

    model: str
    temperature: float | None = None
    top_p: float | None = None
    max_tokens: int = 16_384
    extra: tuple[tuple[str, Any], ...] = ()
    """More of the request's fields: ``("reasoning_effort", "high")``."""

    def describe(self) -> str:
        """One line for a header."""
        values = {
            "temperature": self.temperature,
            "top_p": self.top_p,
            "max_tokens": self.max_tokens,
            **dict(self.extra),
        }
        return ", ".join(f"{name}={value}" for name, value in values.items() if value is not None)


class Costs:
    """Whatever has the tokens of an answer in these fields."""

    tokens_in: int
    tokens_out: int
    lost_in: int
    """Of attempts before it that broke off: paid for, and of no use."""
    lost_out: int

    @property
    def paid(self) -> tuple[int, int]:
        """All tokens it cost, in and out."""
        return self.tokens_in + self.lost_in, self.tokens_out + self.lost_out


@dataclass(frozen=True)
class Reply(Costs):
    """One answer, whole or cut off."""

    text: str
    reasoning: str = ""
    """What the model thought beforehand, where the endpoint tells; it is no part of the answer."""
    finish: str = ""
    """Why it ended: ``stop``, ``length``, ..."""
    model: str = ""
    """The model as the endpoint names it."""
    tokens_in: int = 0
    tokens_out: int = 0
    estimated: bool = False
    """The endpoint did not count the tokens; they are guessed from the length."""
    seconds: float = 0.0
    attempts: int = 1
    lost_in: int = 0
    lost_out: int = 0

    @property
    def cut_off(self) -> bool:
        """Whether it ended at the token limit."""
        return self.finish == "length"


class Author(Protocol):
    """Whoever answers: a model behind an endpoint, or a trajectory that is played again."""

    async def reply(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """The answer; raises ``AuthorError`` where there is none."""
        ...  # pragma: no cover


def guessed_tokens(text: str) -> int:
    """About as many tokens as a text of code has, rather more than fewer.

    By bytes: a sign of most scripts is a token or more, and three bytes.
    """
    return len(text.encode("utf-8", "surrogatepass")) // 3 + 1
