"""What later notebooks build on is the attention of `helpers.models`, under a mask that is given."""

import pytest
import torch

from helpers import models
from helpers.heads import Attention, attend, causal_mask, merge_heads, split_heads


@pytest.fixture(autouse=True)
def seed() -> None:
    torch.manual_seed(0)


@pytest.mark.parametrize("size", [1, 2, 5])
def test_the_mask_hides_what_comes_after(size: int) -> None:
    mask = causal_mask(size, torch.device("cpu"))
    assert mask.tolist() == [[0.0 if j <= i else -torch.inf for j in range(size)] for i in range(size)]


def test_heads_are_cut_and_put_together_again() -> None:
    x = torch.arange(2 * 3 * 8.0).view(2, 3, 8)
    heads = split_heads(x, 4)
    assert heads.shape == (2, 4, 3, 2)
    assert heads[1, 2, 0].tolist() == x[1, 0, 4:6].tolist()
    assert merge_heads(heads).equal(x)


def test_attention_is_that_of_the_other_models() -> None:
    ours, theirs, x = Attention(8, 2).double(), models.Attention(8, 2).double(), torch.randn(3, 5, 8).double()
    theirs.load_state_dict(ours.state_dict())
    mask = causal_mask(5)
    torch.testing.assert_close(ours(x, mask), theirs(x, models.Context(mask=mask.double())))
    query, key, value = torch.randn(3, 2, 3, 5, 4)
    by_hand = (query @ key.mT / 2 + mask).softmax(dim=-1) @ value
    torch.testing.assert_close(attend(query, key, value, mask), by_hand)
