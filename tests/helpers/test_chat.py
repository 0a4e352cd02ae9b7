"""A chat reads each token once, remembers all turns by its cache, and stops between two tokens, without a display."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest
import torch
from torch import Tensor

from helpers.chat import BEGIN, END, SYSTEM, Chat, ChatBox, sampled, show_chat


class Letters:
    """A tokenizer of single characters, with the two marks before them."""

    number = {BEGIN: 0, END: 1}  # noqa: RUF012 - as a tokenizer has it

    def encode(self, text: str) -> list[int]:
        return [ord(letter) for letter in text]

    def decode(self, numbers: list[int]) -> str:
        return "".join(chr(number) for number in numbers)


class Parrot:
    """A model that answers with these texts, one a turn, and whose cache is the list of all it has read."""

    def __init__(self, *answers: str) -> None:
        self.answers, self.left, self.calls = list(answers), [], list[int]()  # type: ignore[var-annotated]

    def __call__(self, tokens: Tensor, cache: Any) -> tuple[Tensor, Any]:
        read = [*(cache or []), *tokens[0].tolist()]
        self.calls.append(tokens.size(1))
        if tokens.size(1) > 1:
            self.left = [*map(ord, self.answers.pop(0)), 1]
        logits = torch.zeros(1, tokens.size(1), 200)
        logits[0, -1, self.left.pop(0)] = 50.0
        return logits, read


def told(tokens: list[int]) -> str:
    return "".join({0: "<", 1: ">"}.get(token, chr(token)) for token in tokens)


def test_the_cache_has_every_turn_once_and_whole() -> None:
    model = Parrot("Paris.", "A tower.")
    chat = Chat(model, Letters())
    assert told(list(chat.say("Where?"))) == "Paris."
    assert told(list(chat.say("And what?"))) == "A tower."
    whole = f"<system\n{SYSTEM}>\n<user\nWhere?>\n<assistant\nParis.>\n<user\nAnd what?>\n<assistant\nA tower."
    assert told(chat.cache) == whole
    assert chat.read == len(whole) == sum(model.calls)
    chat.forget()
    model.answers.append("Yes")
    list(chat.say("New?"))
    assert told(chat.cache) == f"<system\n{SYSTEM}>\n<user\nNew?>\n<assistant\nYes"


def test_who_stops_listening_stops_the_model_and_can_go_on() -> None:
    model = Parrot("A long answer", "Well.")
    chat = Chat(model, Letters())
    answer = chat.say("Tell me")
    assert told([next(answer), next(answer)]) == "A "
    answer.close()
    assert sum(model.calls) == chat.read
    list(chat.say("Stop?"))
    assert "<assistant\nA >\n<user\nStop?>\n<assistant\nWell." in told(chat.cache)


def test_an_answer_has_an_end_and_so_has_a_conversation() -> None:
    chat = Chat(Parrot("abcdef", "ghi"), Letters())
    assert told(list(chat.say("Go", most=3))) == "abc"
    assert told(chat.unread)[-2:] == ">\n"
    chat = Chat(Parrot("abcdef"), Letters(), longest=20)
    with pytest.raises(ValueError, match=r"of 20 at most: begin a new one\.$"):
        next(chat.say("Go"))
    assert chat.read == 0


def test_the_fewest_tokens_that_have_p_together_are_drawn() -> None:
    logits = torch.tensor([0.15, 0.5, 0.05, 0.3]).log()
    torch.manual_seed(0)
    assert {sampled(logits, 1.0, 0.75) for _ in range(100)} == {1, 3}
    assert {sampled(logits, 1.0, 1.0) for _ in range(200)} == {0, 1, 2, 3}
    assert {sampled(logits, 1.0, 0.01) for _ in range(20)} == {1}
    assert {sampled(logits, 0.0, 1.0) for _ in range(20)} == {1}
    draws = [sampled(logits, 2.0, 1.0) for _ in range(4000)]
    wanted = (logits / 2).softmax(dim=-1)
    assert torch.allclose(torch.bincount(torch.tensor(draws), minlength=4) / 4000, wanted, atol=0.03)


def test_the_box_shows_an_answer_as_it_grows() -> None:
    box, seen = ChatBox(Chat(Parrot("One <b>", "Two"), Letters())), list[str]()
    box.temperature.value = 0
    box.said.observe(lambda change: seen.append(change["new"]), "value")

    async def both() -> None:
        await box.answer("1 & 1?")
        box.question.value = "  again "
        box.send.click()
        assert box.send.disabled
        assert not box.stop.disabled
        box.send.click()  # nothing: there is no question, and an answer is being written
        assert box.task is not None
        await box.task

    asyncio.run(both())
    assert box.turns == [("You", "1 & 1?"), ("SmolLM2", "One <b>"), ("You", "again"), ("SmolLM2", "Two")]
    assert [text.count("One") for text in seen[:4]] == [0, 0, 0, 1]
    assert "1 &amp; 1?" in seen[-1]
    assert "One &lt;b&gt;" in seen[-1]
    assert "tokens a second" in box.speed.value
    assert box.stop.disabled
    assert not box.send.disabled
    box.anew.click()
    assert box.turns == []


def test_stop_works_between_two_tokens() -> None:
    box = ChatBox(Chat(Parrot("a" * 100), Letters()))

    async def stopped() -> None:
        box.question.value = "Go"
        box.send.click()
        while not box.turns or len(box.turns[-1][1]) < 3:
            await asyncio.sleep(0.001)
        box.stop.click()
        assert box.task is not None
        await box.task

    asyncio.run(stopped())
    assert 3 <= len(box.turns[-1][1]) < 20


def test_a_conversation_that_is_too_long_is_a_sentence() -> None:
    box = ChatBox(Chat(Parrot(), Letters(), longest=10))
    asyncio.run(box.answer("Hello"))
    assert box.turns[-1][1].endswith("begin a new one.")
    assert show_chat(box.chat).children
