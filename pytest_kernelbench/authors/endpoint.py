"""A model behind an OpenAI-compatible endpoint: asked patiently, within a budget and at a pace."""

from __future__ import annotations

import asyncio
import os
import random
import re
import time
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

from pytest_kernelbench.authors.conversation import Message, Reply, Sampling, guessed_tokens
from pytest_kernelbench.authors.limits import Budget, Pace
from pytest_kernelbench.errors import AuthorError, BudgetError, RefusedError, UsageError

if TYPE_CHECKING:
    from types import ModuleType

_RETRIED_STATUS = frozenset({408, 409, 425, 429, 500, 502, 503, 504, 520, 522, 524, 529})
_FATAL_STATUS = frozenset({401, 403, 404})
_SCHEMES = frozenset({"http", "https"})
_LONGEST_WAIT_S = 120.0
_FIELDS = frozenset({"frequency_penalty", "presence_penalty", "seed", "stop", "reasoning_effort"})
"""Fields of a request that the client knows; others travel as they are."""


@dataclass(frozen=True)
class EndpointOptions:
    """Where a model is and how it is asked. The key itself is never kept: only where it lies."""

    base_url: str = ""
    """Empty: what OPENAI_BASE_URL says, else OpenAI."""
    key_variable: str = "OPENAI_API_KEY"
    """The environment variable that holds the key; a local server may need none."""
    stream: bool = True
    attempts: int = 6
    first_wait_s: float = 1.0
    """Before the second attempt; doubled each time, with jitter, unless the endpoint says when."""
    timeout_s: float = 600.0
    """Without a byte from the endpoint."""


@dataclass
class Endpoint:
    """An ``Author``. Use it within one event loop, and ``close`` it there."""

    options: EndpointOptions = field(default_factory=EndpointOptions)
    budget: Budget = field(default_factory=Budget)
    pace: Pace = field(default_factory=Pace)

    def __post_init__(self) -> None:
        self._openai = _openai()
        options = self.options
        key = os.environ.get(options.key_variable, "")
        base_url = _address(options.base_url or os.environ.get("OPENAI_BASE_URL", ""))
        if not key and not base_url:
            message = (
                f"the environment variable {options.key_variable} holds no key: set it, or name a "
                "server that needs none with --base-url"
            )
            raise UsageError(message)
        self._client = self._openai.AsyncOpenAI(
            api_key=key or "none",
            base_url=base_url or None,
            max_retries=0,  # retried here, where the pace and the budget are known
            timeout=options.timeout_s,
        )
        self._limit_field = "max_tokens"
        self._counts_streams = True

    async def close(self) -> None:
        """Close its connections."""
        await self._client.close()

    async def reply(self, messages: tuple[Message, ...], sampling: Sampling) -> Reply:
        """The answer; see ``Author``.

        Raises ``RefusedError`` where asking again is of no use, ``BudgetError`` at the limit.
        """
        tokens_in = sum(guessed_tokens(message.text) for message in messages)
        start = time.monotonic()
        lost = _Lost()
        attempt = 0
        request: dict[str, Any] = {}
        while True:
            attempt += 1
            try:
                async with self.budget.hold(tokens_in, sampling.max_tokens):
                    await self.pace.wait(tokens_in + sampling.max_tokens)
                    request = self._request(messages, sampling)
                    reply = await self._ask(request, tokens_in, lost)
                    self.budget.book(reply.tokens_in, reply.tokens_out)
            except self._openai.OpenAIError as error:
                await self._after(error, request, attempt, lost)
            except BudgetError as error:  # of an attempt after some that broke off
                raise BudgetError(str(error), lost.tokens_in, lost.tokens_out) from error
            else:
                return replace(
                    reply,
                    seconds=time.monotonic() - start,
                    attempts=attempt,
                    lost_in=lost.tokens_in,
                    lost_out=lost.tokens_out,
                )

    async def _after(
        self, error: Exception, request: dict[str, Any], attempt: int, lost: _Lost
    ) -> None:
        """Wait before the next attempt, or raise where there shall be none."""
        status = getattr(error, "status_code", None)
        said = _said(error)
        if status == 400 and self._adapts(said, request):  # noqa: PLR2004 - HTTP's number
            return
        if status in _FATAL_STATUS or getattr(error, "code", None) == "insufficient_quota":
            message = f"{self._client.base_url} refused ({status}): {said}"
            raise RefusedError(message, lost.tokens_in, lost.tokens_out) from error
        if status is not None and status not in _RETRIED_STATUS:
            message = f"{self._client.base_url} refused ({status}): {said}"
            raise AuthorError(message, lost.tokens_in, lost.tokens_out) from error
        if attempt >= self.options.attempts:  # above it where the last one was adapted
            tries = f"{attempt} attempt" + "s" * (attempt > 1)
            message = f"no answer from {self._client.base_url} in {tries}: {said}"
            raise AuthorError(message, lost.tokens_in, lost.tokens_out) from error
        named = _named_wait_s(error)
        if named is not None:
            self.pace.pause(min(named, _LONGEST_WAIT_S))
            return
        wait_s = min(self.options.first_wait_s * 2 ** (attempt - 1), _LONGEST_WAIT_S)
        await asyncio.sleep(wait_s * random.uniform(0.5, 1.0))  # noqa: S311 - jitter

    def _adapts(self, said: str, request: dict[str, Any]) -> bool:
        """Whether it was refused for a field that the next request names otherwise or leaves out.

        Of several on their way at once each looks at its own fields: the first has changed ours.
        """
        if "max_tokens" in request and "max_tokens" in said and "max_completion_tokens" in said:
            self._limit_field = "max_completion_tokens"
            return True
        if "stream_options" in request and "stream_options" in said:
            self._counts_streams = False
            return True
        return False

    async def _ask(self, request: dict[str, Any], tokens_in: int, lost: _Lost) -> Reply:
        completions: Any = self._client.chat.completions
        heard = _Heard()
        try:
            if self.options.stream:
                async with await completions.create(stream=True, **request) as chunks:
                    async for chunk in chunks:
                        heard.chunk(chunk)
            else:
                heard.whole(await completions.create(**request))
            heard.require_end()
        except BaseException as error:
            if heard.anything:  # what was made is paid for
                tokens_out = guessed_tokens(heard.text + heard.reasoning)
                self.budget.book(tokens_in, tokens_out)
                lost.tokens_in += tokens_in
                lost.tokens_out += tokens_out
            if isinstance(error, self._openai.OpenAIError) or not _of_the_transport(error):
                raise
            raise self._openai.APIConnectionError(
                message=f"the connection broke: {error or type(error).__name__}", request=None
            ) from error
        return heard.reply(tokens_in)

    def _request(self, messages: tuple[Message, ...], sampling: Sampling) -> dict[str, Any]:
        request: dict[str, Any] = {
            "model": sampling.model,
            "messages": [{"role": each.role, "content": each.text} for each in messages],
            self._limit_field: sampling.max_tokens,
        }
        optional = {"temperature": sampling.temperature, "top_p": sampling.top_p}
        request |= {name: value for name, value in optional.items() if value is not None}
        request |= {name: value for name, value in sampling.extra if name in _FIELDS}
        if more := {name: value for name, value in sampling.extra if name not in _FIELDS}:
            request["extra_body"] = more
        if self.options.stream and self._counts_streams:
            request["stream_options"] = {"include_usage": True}
        return request


@dataclass
class _Lost:
    """Tokens of attempts that broke off, as far as they can be guessed."""

    tokens_in: int = 0
    tokens_out: int = 0


@dataclass
class _Heard:
    """What has come of one answer so far."""

    text: str = ""
    reasoning: str = ""
    finish: str = ""
    model: str = ""
    usage: tuple[int, int] | None = None

    @property
    def anything(self) -> bool:
        return bool(self.text or self.reasoning)

    def require_end(self) -> None:
        """Without an error and without a reason to end: a server or a proxy went away."""
        if not self.finish:
            message = "the stream ended in the middle of the answer"
            raise ConnectionError(message)

    def chunk(self, chunk: Any) -> None:  # noqa: ANN401 - the client's types change with its versions
        self.model = chunk.model or self.model
        self._count(chunk.usage)
        for choice in chunk.choices[:1]:
            self.text += choice.delta.content or ""
            self.reasoning += _reasoning(choice.delta)
            self.finish = choice.finish_reason or self.finish

    def whole(self, completion: Any) -> None:  # noqa: ANN401
        self.model = completion.model or ""
        self._count(completion.usage)
        for choice in completion.choices[:1]:
            self.text = choice.message.content or ""
            self.reasoning = _reasoning(choice.message)
            self.finish = choice.finish_reason or "stop"

    def reply(self, tokens_in: int) -> Reply:
        counted = self.usage or (tokens_in, guessed_tokens(self.text + self.reasoning))
        return Reply(
            text=_paired(self.text),
            reasoning=_paired(self.reasoning),
            finish=_paired(self.finish),
            model=_paired(self.model),
            tokens_in=counted[0],
            tokens_out=counted[1],
            estimated=self.usage is None,
        )

    def _count(self, usage: Any) -> None:  # noqa: ANN401
        if usage is not None:
            self.usage = (usage.prompt_tokens or 0, usage.completion_tokens or 0)


def _address(base_url: str) -> str:
    """The same, empty or one that can be asked; raises ``UsageError`` if it is neither."""
    try:
        parts = urlsplit(base_url)
        known = parts.scheme in _SCHEMES and parts.hostname and parts.port != 0
    except ValueError:  # a port that is no number, half of an IPv6 address
        known = False
    if base_url and not known:
        message = (
            f"{base_url!r} is no server's address, as http://127.0.0.1:8000/v1 is: mend "
            "--base-url, OPENAI_BASE_URL, or the base_url of a study"
        )
        raise UsageError(message)
    return base_url


def _reasoning(part: Any) -> str:  # noqa: ANN401
    """Servers that tell a model's thoughts put them into fields that OpenAI's do not have."""
    more = part.model_extra or {}
    text = more.get("reasoning_content") or more.get("reasoning")
    return text if isinstance(text, str) else ""


def _paired(text: str) -> str:
    """Halves of UTF-16 made whole: JSON may hold them, and streams are cut between them.

    No file, no record and no later request can hold a half; one alone becomes U+FFFD.
    """
    return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")


def _named_wait_s(error: Exception) -> float | None:
    """How long the endpoint asked to wait."""
    response = getattr(error, "response", None)
    headers = getattr(response, "headers", None) or {}
    for name, unit_s in (("retry-after-ms", 1e-3), ("retry-after", 1.0)):
        if re.fullmatch(r"[0-9]+(\.[0-9]+)?", headers.get(name, "")):
            return float(headers[name]) * unit_s
    return None


def _of_the_transport(error: BaseException) -> bool:
    """Errors of the HTTP library below the client, which changed its name between versions."""
    module = type(error).__module__.partition(".")[0]
    return module.startswith(("httpx", "httpcore")) or isinstance(error, OSError)


def _said(error: Exception) -> str:
    body = getattr(error, "body", None)
    text = body.get("message") if isinstance(body, dict) else None
    return " ".join(str(text or error).split())[:500]


def _openai() -> ModuleType:
    try:
        import openai
    except ImportError as error:
        message = "asking a model needs the openai package: pip install 'pytest-kernelbench[llm]'"
        raise UsageError(message) from error
    return openai
