"""A chat with a language model in a notebook: text that appears token by token, over several turns by one cache.

chat = Chat(model, tokenizer)
for token in chat.say("What's the capital of France?"):
    print(tokenizer.decode([token]), end="")
show_chat(chat)  # the same with a text box, two sliders and a stop button
"""

import asyncio
import time
import warnings
from collections.abc import Callable, Generator
from html import escape
from typing import Any, Protocol

import torch
from ipywidgets import HTML, Button, FloatSlider, HBox, Layout, Text, VBox
from torch import Tensor

SYSTEM = "You are a helpful AI assistant named SmolLM, trained by Hugging Face"
BEGIN, END = "<|im_start|>", "<|im_end|>"  # around each turn, as SmolLM2 was trained
LONGEST = 2048  # tokens that SmolLM2 has been trained to read
Cache = Any  # what the model gives, it gets back

LOOK = "max-height: 24em; overflow-y: auto; line-height: 1.5"
BUBBLE = "margin: 0.4em 0; padding: 0.3em 0.7em; border-left: 3px solid {colour}; white-space: pre-wrap"


class Tokens(Protocol):
    """A tokenizer: text to numbers and back, and the numbers of the marks BEGIN and END."""

    number: dict[str, int]

    def encode(self, text: str) -> list[int]: ...
    def decode(self, numbers: list[int]) -> str: ...


def sampled(logits: Tensor, temperature: float = 0.7, top_p: float = 0.9) -> int:
    """Returns a token drawn from logits `(V,)`: the most probable one where the temperature is 0.

    Drawn are the fewest tokens that have `top_p` together (Holtzman et al. 2020, section 3.1), after the division by
    the temperature.
    """
    if temperature == 0:
        return int(logits.argmax())
    chances, tokens = (logits / temperature).softmax(dim=-1).sort(descending=True)
    before = chances.cumsum(dim=0) - chances
    inside = chances * (before < top_p)
    inside[0] = chances[0]  # one is left in any case
    return int(tokens[torch.multinomial(inside, 1)])


class Chat:
    """A conversation with a model whose cache keeps all that was said.

    The model takes tokens `(1, n)` and a cache, or None, and returns logits `(1, n, V)` and the cache of all.
    """

    def __init__(
        self,
        model: Callable[[Tensor, Cache], tuple[Tensor, Cache]],
        tokenizer: Tokens,
        draw: Callable[[Tensor, float, float], int] = sampled,
        longest: int = LONGEST,
    ) -> None:
        self.model, self.tokenizer, self.draw, self.longest = model, tokenizer, draw, longest
        self.forget()

    def forget(self) -> None:
        """Begins anew: nothing was said."""
        self.cache: Cache = None
        self.read = 0  # tokens in the cache
        self.unread = self._turn("system", SYSTEM)  # tokens that the model gets before the next turn

    def say(
        self, text: str, temperature: float = 0.7, top_p: float = 0.9, most: int = 200
    ) -> Generator[int, None, None]:
        """Yields the tokens of an answer, each as soon as it is drawn, at most so many.

        Whoever stops listening stops the model; the next turn goes on after what was written until then.

        Raises:
            ValueError: the conversation would become longer than the model was trained to read.
        """
        end = self.tokenizer.number[END]
        new = [*self.unread, *self._turn("user", text), self.tokenizer.number[BEGIN]]
        new += self.tokenizer.encode("assistant\n")
        if self.read + len(new) + 1 > self.longest:
            raise ValueError(f"This conversation has {self.read} tokens, of {self.longest} at most: begin a new one.")
        closing = [end, *self.tokenizer.encode("\n")]
        logits = self._next(new)
        self.unread = closing
        for _ in range(min(most, self.longest - self.read)):
            token = self.draw(logits, temperature, top_p)
            if token == end:
                return
            self.unread = [token, *closing]  # until it is read
            yield token
            logits = self._next([token])
            self.unread = closing

    @torch.no_grad()
    def _next(self, tokens: list[int]) -> Tensor:
        """Reads tokens, and returns the logits `(V,)` after the last one."""
        logits, self.cache = self.model(torch.tensor([tokens]), self.cache)
        self.read += len(tokens)
        return logits[0, -1]

    def _turn(self, role: str, text: str) -> list[int]:
        number, encode = self.tokenizer.number, self.tokenizer.encode
        return [number[BEGIN], *encode(f"{role}\n{text}"), number[END], *encode("\n")]


class ChatBox:
    """What `show_chat` shows; its widgets can be used without a display."""

    def __init__(self, chat: Chat, most: int = 200) -> None:
        self.chat, self.most = chat, most
        self.turns: list[tuple[str, str]] = []  # who, and what
        self.task: asyncio.Task[None] | None = None
        self.stopped = False
        self.said, self.speed = HTML(), HTML()
        self.question = Text(
            placeholder="Ask, and press Enter",
            layout=Layout(width="99%"),
            description="You",
            style={"description_width": "initial"},
        )
        self.send, self.stop, self.anew = (Button(description=name) for name in ("Send", "Stop", "New chat"))
        self.temperature = FloatSlider(
            0.7, min=0, max=2, step=0.1, description="temperature", style={"description_width": "initial"}
        )
        self.top_p = FloatSlider(
            0.9, min=0.05, max=1, step=0.05, description="nucleus", style={"description_width": "initial"}
        )
        self.stop.disabled = True
        self.send.on_click(self._sent)
        with (
            warnings.catch_warnings()
        ):  # what is advised in its place sends whenever the box is left, not by Enter alone
            warnings.simplefilter("ignore", DeprecationWarning)
            self.question.on_submit(self._sent)
        self.stop.on_click(self._stop)
        self.anew.on_click(self._begin)
        self.widget = VBox(
            [
                self.said,
                self.question,
                HBox([self.send, self.stop, self.anew, self.speed]),
                HBox([self.temperature, self.top_p], layout=Layout(flex_flow="row wrap")),
            ]
        )

    async def answer(self, text: str) -> None:
        """Shows a question, and an answer that grows token by token; between two tokens the buttons are heard."""
        self.turns += [("You", text), ("SmolLM2", "")]
        self._busy(busy=True)
        self._show()
        await asyncio.sleep(0)
        tokens: list[int] = []
        start, begun = time.perf_counter(), 0.0
        try:
            for token in self.chat.say(text, self.temperature.value, self.top_p.value, self.most):
                tokens.append(token)
                begun = begun or time.perf_counter() - start
                self.turns[-1] = ("SmolLM2", self.chat.tokenizer.decode(tokens))
                self._show()
                rate = len(tokens) / (time.perf_counter() - start)
                self.speed.value = f"first word after {begun:.1f} s; {rate:.1f} tokens a second"
                await asyncio.sleep(0.005)  # lets what is shown go out, and a press on Stop come in
                if self.stopped:
                    break
        except ValueError as error:
            self.turns[-1] = ("SmolLM2", str(error))
            self._show()
        finally:
            self._busy(busy=False)

    def _sent(self, _: object) -> None:
        text, self.question.value = self.question.value.strip(), ""
        if text and self.send.disabled is False:
            self._busy(busy=True)
            self.task = asyncio.get_event_loop().create_task(self.answer(text))

    def _stop(self, _: object) -> None:
        self.stopped = True

    def _begin(self, _: object) -> None:
        self.chat.forget()
        self.turns.clear()
        self.speed.value = ""
        self._show()

    def _busy(self, *, busy: bool) -> None:
        self.stopped = False
        self.send.disabled = self.anew.disabled = busy
        self.stop.disabled = not busy

    def _show(self) -> None:
        colours = {"You": "#0072b2", "SmolLM2": "#d55e00"}
        turns = "".join(
            f'<div style="{BUBBLE.format(colour=colours[who])}"><b>{who}</b>\n{escape(text.strip())}</div>'
            for who, text in self.turns
        )
        self.said.value = f'<div role="log" aria-live="polite" style="{LOOK}">{turns}</div>'


def show_chat(chat: Chat, most: int = 200) -> VBox:
    """Returns a text box, sliders for temperature and nucleus, and buttons; an answer has at most so many tokens."""
    return ChatBox(chat, most).widget
