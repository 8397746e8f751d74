"""How much may be asked, and how fast: budgets in tokens and money, rates a minute."""

from __future__ import annotations

import asyncio
import time
from collections import deque
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from pytest_kernelbench.errors import BudgetError, UsageError

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

_MINUTE_S = 60.0
_MILLION = 1e6


@dataclass(frozen=True)
class Prices:
    """What a million tokens cost, in whatever currency."""

    tokens_in: float = 0.0
    tokens_out: float = 0.0

    def cost(self, tokens_in: int, tokens_out: int) -> float:
        """Of one answer."""
        return (tokens_in * self.tokens_in + tokens_out * self.tokens_out) / _MILLION


class Budget:
    """Holds the worst case of each request in flight, so that no limit is ever passed."""

    def __init__(
        self, tokens: int | None = None, money: float | None = None, prices: Prices | None = None
    ) -> None:
        self.tokens = tokens
        self.money = money
        self.prices = prices or Prices()
        if money is not None and not (self.prices.tokens_in or self.prices.tokens_out):
            message = (
                f"a budget of {money:g} in money holds nothing back while tokens cost nothing: "
                "give --price-in and --price-out (price_in and price_out in a study)"
            )
            raise UsageError(message)
        self.spent_tokens = 0
        self.spent_money = 0.0
        self._held_tokens = 0
        self._held_money = 0.0
        self._holders = 0
        self._changed = asyncio.Condition()

    def book(self, tokens_in: int, tokens_out: int) -> None:
        """Count what was used."""
        self.spent_tokens += tokens_in + tokens_out
        self.spent_money += self.prices.cost(tokens_in, tokens_out)

    @asynccontextmanager
    async def hold(self, tokens_in: int, tokens_out: int) -> AsyncIterator[None]:
        """Hold what a request may use at worst, waiting for requests in flight to give back theirs.

        Raises ``BudgetError`` where it does not fit though nothing is in flight.
        """
        tokens, money = tokens_in + tokens_out, self.prices.cost(tokens_in, tokens_out)
        async with self._changed:
            await self._changed.wait_for(lambda: self._fits(tokens, money) or not self._holders)
            if not self._fits(tokens, money):
                raise BudgetError(self._refusal(tokens, money))
            self._take(tokens, money, 1)
        try:
            yield
        finally:
            async with self._changed:
                self._take(-tokens, -money, -1)
                self._changed.notify_all()

    def _take(self, tokens: int, money: float, holders: int) -> None:
        self._held_tokens += tokens
        self._held_money += money
        self._holders += holders

    def _fits(self, tokens: int, money: float) -> bool:
        fits_tokens = (
            self.tokens is None or self.spent_tokens + self._held_tokens + tokens <= self.tokens
        )
        fits_money = self.money is None or self.spent_money + self._held_money + money <= self.money
        return fits_tokens and fits_money

    def _refusal(self, tokens: int, money: float) -> str:
        if self.tokens is not None and self.spent_tokens + tokens > self.tokens:
            return (
                f"the budget of {self.tokens:,} tokens does not hold another answer: "
                f"{self.spent_tokens:,} are spent and one may take {tokens:,}; "
                "raise it, or lower the token limit of an answer"
            )
        return (
            f"the budget of {self.money:.2f} does not hold another answer: {self.spent_money:.2f} "
            f"is spent and one may cost {money:.2f}; "
            "raise it, or lower the token limit of an answer"
        )


class Pace:
    """At most so many requests and tokens a minute, and none before a time an endpoint named."""

    def __init__(
        self,
        requests_per_minute: int | None = None,
        tokens_per_minute: int | None = None,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        self.requests = requests_per_minute
        self.tokens = tokens_per_minute
        self._clock = clock
        self._past: deque[tuple[float, int]] = deque()
        self._not_before = 0.0
        self._turn = asyncio.Lock()

    def pause(self, seconds: float) -> None:
        """Let nobody ask for so long: the endpoint said so."""
        self._not_before = max(self._not_before, self._clock() + seconds)

    async def wait(self, tokens: int) -> None:
        """Wait until a request of about so many tokens may start; first come, first served."""
        async with self._turn:
            while (delay := self._delay(tokens)) > 0:  # noqa: ASYNC110 - it waits for a time
                await asyncio.sleep(delay)
            self._past.append((self._clock(), tokens))

    def _delay(self, tokens: int) -> float:
        now = self._clock()
        while self._past and self._past[0][0] <= now - _MINUTE_S:
            self._past.popleft()
        if now < self._not_before:
            return self._not_before - now
        if self.requests is not None and len(self._past) >= self.requests:
            return self._past[-self.requests][0] + _MINUTE_S - now
        used = sum(count for _, count in self._past)
        if self.tokens is not None and self._past and used + tokens > self.tokens:
            return self._past[0][0] + _MINUTE_S - now
        return 0.0
