"""The real client against a server that answers, refuses, waits and breaks off as a script says."""

from __future__ import annotations

import asyncio
import subprocess
import sys
import threading
from contextlib import suppress
from typing import Any

import pytest
from scripted_server import Answer, Error, ScriptedServer, Step, serve

from pytest_kernelbench.authors.conversation import Message, Reply, Sampling
from pytest_kernelbench.authors.endpoint import Endpoint, EndpointOptions
from pytest_kernelbench.authors.limits import Budget, Pace, Prices
from pytest_kernelbench.errors import AuthorError, BudgetError, RefusedError, UsageError

pytest.importorskip("openai")
HELLO = (Message("user", "Write a kernel."),)
TEXT = "Here it is:\n```python\nclass ModelNew: pass\n```\n" * 5


@pytest.fixture(autouse=True)
def _key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", "sk-secret")
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)


def ask(
    server: ScriptedServer,
    *,
    times: int = 1,
    budget: Budget | None = None,
    pace: Pace | None = None,
    sampling: Sampling | None = None,
    **options: Any,
) -> list[Reply | BaseException]:
    chosen = {"base_url": server.url, "first_wait_s": 0.01, "attempts": 4} | options

    async def work() -> list[Reply | BaseException]:
        endpoint = Endpoint(EndpointOptions(**chosen), budget or Budget(), pace or Pace())
        try:
            asked = (endpoint.reply(HELLO, sampling or Sampling("m")) for _ in range(times))
            return await asyncio.gather(*asked, return_exceptions=True)
        finally:
            await endpoint.close()

    return asyncio.run(work())


def one(server: ScriptedServer, **options: Any) -> Reply:
    (reply,) = ask(server, **options)
    if isinstance(reply, BaseException):
        raise reply
    return reply


@pytest.mark.parametrize("stream", [True, False])
def test_an_answer(*, stream: bool) -> None:
    with serve([Answer(TEXT, reasoning="hm", usage=(12, 34))]) as server:
        reply = one(server, stream=stream)
    assert reply.text == TEXT
    assert reply.reasoning == "hm"
    assert (reply.finish, reply.model) == ("stop", "m-0613")
    assert (reply.tokens_in, reply.tokens_out, reply.estimated) == (12, 34, False)
    assert reply.attempts == 1
    assert server.keys == ["Bearer sk-secret"]


def test_what_is_not_given_is_not_sent() -> None:
    with serve([Answer("x")]) as server:
        one(server)
        one(
            server,
            sampling=Sampling("m", 0.5, 0.9, 77, (("min_p", 0.1), ("reasoning_effort", "low"))),
        )
    first, second = server.requests
    assert {"temperature", "top_p", "seed"}.isdisjoint(first)
    assert first["max_tokens"] == 16_384
    assert second["temperature"] == 0.5
    assert second["top_p"] == 0.9
    assert second["max_tokens"] == 77
    assert second["min_p"] == 0.1
    assert second["reasoning_effort"] == "low"


@pytest.mark.parametrize("stream", [True, False])
def test_halves_of_a_pair_are_joined_or_replaced(*, stream: bool) -> None:
    cut_between = "x" * 39 + "\ud83d\ude00" + "\ud83d"  # streamed in pieces of 40
    with serve([Answer(cut_between, reasoning="\ude00", finish="stop")]) as server:
        reply = one(server, stream=stream)
    assert reply.text == "x" * 39 + "\U0001f600\ufffd"
    assert reply.reasoning == "\ufffd"


def test_without_counts_tokens_are_guessed() -> None:
    with serve([Answer(TEXT, usage=None)]) as server:
        reply = one(server)
    assert reply.estimated
    assert reply.tokens_out == pytest.approx(len(TEXT) / 3, abs=2)


def test_cut_off_at_the_token_limit() -> None:
    with serve([Answer(TEXT[:30], finish="length")]) as server:
        reply = one(server)
    assert reply.cut_off
    assert reply.attempts == 1


@pytest.mark.parametrize(
    "trouble",
    [
        Error(500),
        Error(503),
        Error(429),
        Error(408),
        Answer(TEXT, cut_after=60),
        Answer(TEXT, cut_after=0),
        Answer(TEXT, ends_without_reason=True),
    ],
    ids=str,
)
def test_trouble_is_tried_again(trouble: Step) -> None:
    with serve([trouble, trouble, Answer(TEXT)]) as server:
        reply = one(server)
    assert reply.text == TEXT
    assert reply.attempts == 3
    assert len(server.requests) == 3


def test_trouble_without_end() -> None:
    with serve([Error(500, "out of cards")]) as server, pytest.raises(AuthorError) as caught:
        one(server)
    assert "in 4 attempts: " in str(caught.value)
    assert "out of cards" in str(caught.value)
    assert "sk-secret" not in str(caught.value)
    assert len(server.requests) == 4


def test_slow_answers_time_out() -> None:
    with serve([Answer(TEXT, delay_s=5), Answer(TEXT)]) as server:
        assert one(server, timeout_s=0.3).attempts == 2


def test_nobody_listens() -> None:
    with serve([Answer("x")]) as server:
        pass
    with pytest.raises(AuthorError, match="attempts"):
        one(server)


@pytest.mark.parametrize(
    ("header", "value", "least_s"), [("Retry-After", "1", 0.9), ("retry-after-ms", "400", 0.35)]
)
def test_the_endpoint_says_when(header: str, value: str, least_s: float) -> None:
    with serve([Error(429, headers=((header, value),)), Answer(TEXT)]) as server:
        assert one(server).attempts == 2
    assert server.times[1] - server.times[0] >= least_s


def test_a_named_wait_holds_for_everybody() -> None:
    def script(_: dict[str, Any], number: int) -> Step:
        return Error(429, headers=(("retry-after-ms", "600"),)) if number == 0 else Answer(TEXT)

    async def work(server: ScriptedServer) -> None:
        endpoint = Endpoint(EndpointOptions(base_url=server.url))
        first = asyncio.ensure_future(endpoint.reply(HELLO, Sampling("m")))
        await asyncio.sleep(0.3)
        await asyncio.gather(first, endpoint.reply(HELLO, Sampling("m")))
        await endpoint.close()

    with serve(script) as server:
        asyncio.run(work(server))
    assert len(server.times) == 3
    assert min(server.times[1:]) - server.times[0] >= 0.55


ADDRESSES = ["notaurl", "127.0.0.1:8000/v1", "ftp://host/v1", "http://", "http:///v1",
             "http://host:port/v1", "http://host:70000/v1", "http://[::1/v1", " "]  # fmt: skip


@pytest.mark.parametrize("address", ADDRESSES)
def test_what_is_no_address_is_never_asked(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UsageError, match="is no server's address"):
        Endpoint(EndpointOptions(base_url=address))
    monkeypatch.setenv("OPENAI_BASE_URL", address)
    with pytest.raises(UsageError, match="mend --base-url, OPENAI_BASE_URL, or"):
        Endpoint()


@pytest.mark.parametrize("address", ["http://127.0.0.1:8000/v1", "https://host", "HTTP://[::1]:1"])
def test_what_is_an_address(address: str) -> None:
    assert Endpoint(EndpointOptions(base_url=address)).options.base_url == address


def test_where_nobody_answers() -> None:
    with serve(lambda _request, _number: Answer(TEXT)) as server:
        pass
    with pytest.raises(AuthorError, match=r"no answer from .* in 1 attempt: ") as caught:
        one(server, attempts=1)
    assert not isinstance(caught.value, RefusedError)
    with pytest.raises(AuthorError, match=r"in 2 attempts: "):
        one(server, attempts=2)


@pytest.mark.parametrize(
    "error",
    [
        Error(401, "wrong key"),
        Error(403, "not yours"),
        Error(404, "no model m"),
        Error(429, "no money left", code="insufficient_quota"),
    ],
    ids=str,
)
def test_refused_for_good(error: Error) -> None:
    with serve([error]) as server, pytest.raises(RefusedError, match=error.message):
        one(server)
    assert len(server.requests) == 1


def test_a_request_that_is_wrong_is_not_repeated() -> None:
    with serve([Error(400, "the context is too long")]) as server:
        with pytest.raises(AuthorError, match="the context is too long") as caught:
            one(server)
        assert not isinstance(caught.value, RefusedError)
    assert len(server.requests) == 1


def test_fields_that_an_endpoint_does_not_know() -> None:
    def script(request: dict[str, Any], _: int) -> Step:
        if "max_tokens" in request:
            return Error(400, "Use 'max_completion_tokens' instead of 'max_tokens'.")
        if "stream_options" in request:
            return Error(400, "stream_options: extra fields not permitted")
        return Answer(TEXT)

    with serve(script) as server:
        assert one(server).text == TEXT
    assert server.requests[-1]["max_completion_tokens"] == 16_384


@pytest.mark.parametrize("attempts", [1, 2])
def test_trouble_ends_after_a_field_was_adapted(attempts: int) -> None:
    def script(request: dict[str, Any], number: int) -> Step:
        if "max_tokens" in request:
            return Error(400, "Use 'max_completion_tokens' instead of 'max_tokens'.")
        return Error(503, "loading") if number < 4 else Answer(TEXT)

    with serve(script) as server, pytest.raises(AuthorError, match="in 2 attempts: loading"):
        one(server, attempts=attempts)
    assert len(server.requests) == 2


def test_many_at_once_are_refused_for_the_same_fields() -> None:
    together = threading.Barrier(8)

    def script(request: dict[str, Any], _: int) -> Step:
        refused = next((name for name in ("max_tokens", "stream_options") if name in request), "")
        if not refused:
            return Answer(TEXT)
        with suppress(threading.BrokenBarrierError):
            together.wait(timeout=5)
        return Error(400, f"'{refused}' is not supported, 'max_completion_tokens' would be")

    with serve(script) as server:
        found = ask(server, times=8)
    assert [each.text if isinstance(each, Reply) else each for each in found] == [TEXT] * 8
    assert len(server.requests) == 24


def test_a_refusal_of_what_was_not_sent_is_final() -> None:
    said = "max_completion_tokens is too large; max_tokens and stream_options are not supported"
    with serve([Error(400, said)]) as server, pytest.raises(AuthorError, match="too large"):
        one(server)
    assert len(server.requests) == 3


def test_no_key_and_no_server(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("OPENAI_API_KEY")
    with pytest.raises(UsageError, match="OPENAI_API_KEY holds no key"):
        Endpoint()
    with serve([Answer(TEXT)]) as server:
        assert one(server).text == TEXT


# Budget


def test_tokens_are_never_overspent() -> None:
    with serve([Answer("x", usage=(10, 90))]) as server:
        budget = Budget(tokens=1000)
        found = ask(server, times=30, budget=budget, sampling=Sampling("m", max_tokens=90))
    answered = [each for each in found if isinstance(each, Reply)]
    refused = [each for each in found if isinstance(each, BudgetError)]
    assert len(answered) + len(refused) == 30
    assert budget.spent_tokens == 100 * len(answered) <= 1000
    assert len(answered) >= 9
    assert "budget of 1,000 tokens" in str(refused[0])


def test_money_is_never_overspent() -> None:
    with serve([Answer("x", usage=(0, 1000))]) as server:
        budget = Budget(money=0.05, prices=Prices(0, 10))
        found = ask(server, times=12, budget=budget, sampling=Sampling("m", max_tokens=1000))
    assert sum(isinstance(each, Reply) for each in found) == 5
    assert budget.spent_money == pytest.approx(0.05)


def test_what_broke_off_was_made_and_is_paid() -> None:
    with serve([Answer(TEXT, cut_after=90), Answer(TEXT, usage=(5, 7))]) as server:
        budget = Budget(tokens=100_000)
        reply = one(server, budget=budget)
    assert reply.lost_out == 90 // 3 + 1
    assert reply.paid == (5 + reply.lost_in, 7 + reply.lost_out)
    assert budget.spent_tokens == sum(reply.paid)


def test_a_budget_that_ends_between_attempts_tells_what_was_lost() -> None:
    budget = Budget(tokens=150)
    sampling = Sampling("m", max_tokens=100)
    with (
        serve([Answer(TEXT, cut_after=210)]) as server,
        pytest.raises(BudgetError, match="are spent") as caught,
    ):
        one(server, budget=budget, sampling=sampling)
    assert caught.value.lost_out == 210 // 3 + 1
    assert caught.value.lost_in + caught.value.lost_out == budget.spent_tokens


# Pace


def test_requests_a_minute() -> None:
    now = 0.0

    async def work() -> None:
        nonlocal now
        pace = Pace(requests_per_minute=2, clock=lambda: now)
        await pace.wait(1)
        await pace.wait(1)
        third = asyncio.ensure_future(pace.wait(1))
        await asyncio.sleep(0)
        assert not third.done()
        third.cancel()
        now = 60.5
        await asyncio.wait_for(pace.wait(1), 1)

    asyncio.run(work())


def test_tokens_a_minute() -> None:
    now = 0.0

    async def work() -> None:
        nonlocal now
        pace = Pace(tokens_per_minute=100, clock=lambda: now)
        await pace.wait(500)  # alone, or nothing would ever be asked
        second = asyncio.ensure_future(pace.wait(1))
        await asyncio.sleep(0)
        assert not second.done()
        second.cancel()
        now = 61.0
        await asyncio.wait_for(pace.wait(100), 1)

    asyncio.run(work())


def test_without_the_extra(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "openai", None)
    with pytest.raises(UsageError, match=r"pip install 'pytest-kernelbench\[llm\]'"):
        Endpoint()


def test_the_room_loads_neither_openai_nor_torch() -> None:
    code = (
        "import sys; import pytest_kernelbench.authors.commands; "
        "sys.exit(bool({'openai', 'torch'} & set(sys.modules)))"
    )
    assert subprocess.run([sys.executable, "-c", code], timeout=60, check=False).returncode == 0
