"""Plain values: what goes in comes out, and nothing else gets in."""

import json
from dataclasses import KW_ONLY
from typing import Any

import pytest
import sympy
import torch

from tutor.checking import plain
from tutor.checking.fingerprints import digest
from tutor.checking.plain import Expression, Model, NotPlain, Optimizer, Other, decode, encode, fresh
from tutor.checking.recipes import RECIPES

VALUES = [
    None,
    True,
    3,
    10**60,
    2.5,
    float("inf"),
    "été",
    [1, [2, "a"]],
    (1, (2.0, None)),
    {"a": 1, "b": [True]},
    {3, 1, 2},
    Model("LanguageModel", {"base": Model("TransformerBase", {"d_model": 8}, 2)}, 3, noise=0.5),
    Model("Classifier", {"n_classes": 3}, training=True, gradients=0.5),
    Optimizer("SGD", 0.1),
]
FULL = Model("A", {"b": 1}, 2, 0.5, tie=("c", "d"), freeze=("e",), spread=0.1, state=True, training=True, gradients=2.0)
DTYPES = [torch.bool, torch.int64, torch.uint8, torch.float32, torch.float64, torch.bfloat16, torch.complex64]


@pytest.mark.parametrize("value", VALUES, ids=repr)
def test_a_plain_value_comes_back(value: Any) -> None:
    assert decode(json.loads(json.dumps(encode(value)))) == value


@pytest.mark.parametrize("kind", RECIPES.values())
def test_python_3_10_can_read_the_types_of_a_recipe(kind: type) -> None:
    assert kind.__annotations__.get("_", KW_ONLY) is KW_ONLY  # as a text it is no type there, and `check` not imported


@pytest.mark.parametrize("dtype", DTYPES, ids=str)
@pytest.mark.parametrize("shape", [(), (0,), (3,), (2, 0, 3), (2, 3, 4)], ids=str)
def test_a_tensor_comes_back(dtype: torch.dtype, shape: tuple[int, ...]) -> None:
    tensor = (torch.randn(shape, generator=torch.Generator().manual_seed(0)) * 5).to(dtype)
    back = decode(json.loads(json.dumps(encode(tensor))))
    assert back.dtype == dtype
    assert back.shape == tensor.shape
    assert torch.equal(back, tensor)


def test_a_view_comes_back_as_it_looks() -> None:
    tensor = torch.arange(12.0).reshape(3, 4).T[1:]
    assert torch.equal(decode(encode(tensor)), tensor)


@pytest.mark.parametrize(
    ("recipe", "data"),
    [
        (Model("A"), {"model": "A", "arguments": {"dict": []}, "seed": 0, "noise": 0.0}),
        (
            FULL,
            {"model": "A", "arguments": {"dict": [["b", 1]]}, "seed": 2, "noise": 0.5, "tie": ["c", "d"],
             "freeze": ["e"], "spread": 0.1, "state": True, "training": True, "gradients": 2.0},
        ),
        (Optimizer("SGD", 0.1), {"optimizer": "SGD", "lr": 0.1}),
        (plain.Generator(3), {"generator": 3}),
        (plain.Recorded("f"), {"recorded": "f", "results": None, "stop_at": 0, "fails": False}),
        (
            plain.Recorded("f", [([1], 2)], 3),
            {"recorded": "f", "results": [{"tuple": [[1], 2]}], "stop_at": 3, "fails": False},
        ),
    ],
    ids=repr,
)  # fmt: skip
def test_a_recipe_has_one_form(recipe: Any, data: dict[str, Any]) -> None:
    assert json.dumps(encode(recipe)) == json.dumps(data)  # in this order: files of examples hold it
    assert decode(data) == recipe


@pytest.mark.parametrize(
    "damage",
    [
        {"model": 3},
        {"arguments": [1]},
        {"arguments": None},
        {"seed": "2"},
        {"seed": True},
        {"seed": -1},
        {"seed": 2**63},
        {"noise": "0.5"},
        {"noise": {"float": "nan"}},
        {"tie": "cd"},
        {"freeze": ["e", 3]},
        {"state": 1},
        {"training": "yes"},
    ],
    ids=repr,
)
def test_a_recipe_with_a_field_of_another_type_is_refused(damage: dict[str, Any]) -> None:
    with pytest.raises(NotPlain):
        decode(encode(FULL) | damage)


@pytest.mark.parametrize("data", [{"optimizer": "SGD"}, {"optimizer": "SGD", "lr": "1"}, {"generator": 1.5}], ids=repr)
def test_a_recipe_that_lacks_something_is_refused(data: dict[str, Any]) -> None:
    with pytest.raises(NotPlain):
        decode(data)


def test_what_is_not_plain_becomes_its_name() -> None:
    assert decode(encode(object())) == Other("object")
    assert decode(encode(torch.zeros(2, 2).to_sparse())).type_name.startswith("sparse")


def test_the_formula_of_a_question_comes_back() -> None:
    n, m = sympy.symbols("n m", positive=True, integer=True)
    formula = 3 * n**2 / 2 + sympy.sqrt(m) - (n * (m + 1) - 0.5) ** -2
    back = decode(json.loads(json.dumps(encode(formula))))
    assert isinstance(back, Expression)
    assert back.to_sympy() == formula


def worked_out(formula: Any, **at: int) -> Expression:
    """Returns the number of a formula that an answer gives, as it comes out of its process."""
    number = decode(json.loads(json.dumps(encode(fresh(formula, at)))))
    assert isinstance(number, Expression)
    return number


def test_the_formula_of_an_answer_comes_back_as_its_number() -> None:
    n, m = sympy.symbols("n m", positive=True, integer=True)
    formula = 3 * n**2 / 2 + sympy.sqrt(m) - sympy.exp(n) * sympy.log(m + 1) + sympy.pi
    exact = sympy.N(formula.subs({n: 3, m: 7}), 60)
    assert abs(worked_out(formula, n=3, m=7).value({}) - exact) < 1e-45
    assert encode(fresh([n / 4], {"n": 3})) == [{"expression": ("Float", "0.75")}]


def test_equal_formulas_have_one_fingerprint() -> None:
    n = sympy.Symbol("n")
    first, second = worked_out((n + 1) ** 2, n=7), worked_out(n**2 + 2 * n + 1, n=7)
    assert digest(first, {"n": 7}, "x") == digest(second, {"n": 7}, "x")
    assert digest(first, {"n": 7}, "x") != digest(worked_out(n**2, n=7), {"n": 7}, "x")
    assert digest(64, {"n": 7}, "x") == digest(first, {"n": 7}, "x")
    assert digest(64, {"n": 7}, "y") != digest(64, {"n": 7}, "x")


@pytest.mark.parametrize(
    "value",
    ["x" * 30_000, [[]] * 30_000, 10**500, torch.zeros(9_000_000), {i: i for i in range(20_001)}],
    ids=["long text", "many items", "long number", "large tensor", "large dict"],
)
def test_what_is_too_large_is_refused(value: Any) -> None:
    with pytest.raises(NotPlain):
        encode(value)


@pytest.mark.parametrize(
    "data",
    [
        {"tensor": "float32", "shape": [2], "base64": "AAAA"},
        {"tensor": "float32", "shape": [-1], "base64": ""},
        {"tensor": "float32", "shape": "22", "base64": ""},
        {"tensor": "float32", "shape": [1] * 40, "base64": "AAAAAA=="},
        {"tensor": "float32", "shape": [2**40, 2**40], "base64": ""},
        {"tensor": "quint8", "shape": [1], "base64": "AA=="},
        {"tensor": "float32", "shape": [1], "base64": "%%%"},
        {"tensor": "float32", "shape": [1]},
        {"expression": ["Lambda", ["Symbol", "x"]]},
        {"expression": ["Integer", "__import__('os')"]},
        {"expression": ["Float", "inf"]},
        {"expression": ["Float", "1" * 1000]},
        {"expression": ["Symbol", 3]},
        {"expression": ["Undefined", "FEIGNED"]},
        {"expression": []},
        {"unknown": 1},
        {"float": "1e5"},
        {"int": "1; import os"},
        3 + 4j,
    ],
    ids=repr,
)
def test_damaged_or_hostile_data_is_refused(data: Any) -> None:
    with pytest.raises(NotPlain):
        decode(data)


def test_data_nested_without_end_is_refused() -> None:
    data: list[Any] = []
    for _ in range(200):
        data = [data]
    with pytest.raises(NotPlain, match="nested"):
        decode(data)
    tree: list[Any] = ["Symbol", "x"]
    for _ in range(200):
        tree = ["Add", tree]
    with pytest.raises(NotPlain):
        decode({"expression": tree})


def test_a_name_of_a_model_is_not_imported() -> None:
    from tutor.checking.answers import InProcess, Question

    reply = InProcess(lambda model: 1).ask(Question((Model("os.system"),)))
    assert reply.outcome == "crashed"
    assert "os.system" in reply.error
    assert plain.encode(reply.value) is None


L, INDEX = sympy.Symbol("L", positive=True, integer=True), sympy.Symbol("i", integer=True)


@pytest.mark.parametrize(
    "formula",
    [
        sympy.Piecewise((0, sympy.Eq(L, 1)), (L * (L - 1) / 2, True)),
        sympy.gamma(L + 1) / (2 * sympy.gamma(L - 1)),
        sympy.factorial(L) / (2 * sympy.factorial(L - 2)),
        sympy.Sum(sympy.Max(L - 1 - INDEX, 0), (INDEX, 0, L)),
        sympy.Sum(sympy.Sum(1, (INDEX, 1, L)) - L / 2 - sympy.Rational(1, 2), (sympy.Symbol("k"), 1, L)),
        sympy.Poly(L**2 / 2 - L / 2, L),
        sympy.Subs(sympy.Symbol("F") * L, sympy.Symbol("F"), L - 1) / 2,
        sympy.cosh(L) - sympy.sinh(L) - sympy.exp(-L) + L * (L - 1) / 2,
        sympy.ff(L, 2) / 2,
        sympy.UnevaluatedExpr(L) * (L - 1) / 2,
    ],
)
def test_a_formula_may_have_any_form(formula: Any) -> None:
    assert [round(float(worked_out(formula, L=number).value({})), 12) for number in (1, 2, 5)] == [0, 1, 10]


@pytest.mark.parametrize(
    ("formula", "wanted"),
    [
        (sympy.floor(INDEX / L), 1),
        (sympy.ceiling(INDEX / L), 1),
        (sympy.Mod(INDEX, L), 0),
        (sympy.floor(3 * INDEX / (4 * L) + sympy.Rational(1, 4)), 1),
        (sympy.ceiling(INDEX / (2 * L)), 1),
        (sympy.floor(INDEX / (2 * L)), 0),
    ],
)
def test_a_whole_number_stays_one_whatever_rounding_does(formula: Any, wanted: int) -> None:
    values = {n: round(float(fresh(formula, {"L": n, "i": n}).value({})), 12) for n in range(1, 1000)}
    assert {number: value for number, value in values.items() if value != wanted} == {}


def test_symbols_without_assumptions_are_noted() -> None:
    assert worked_out(sympy.Symbol("D") * L, D=1, L=1).bare == ("D",)
    assert worked_out(2 * L, L=1).bare == ()


@pytest.mark.parametrize(
    ("formula", "sentence"),
    [
        (9 ** (9 ** (9 ** (9**L))), "too large to compute"),
        (sympy.exp(sympy.exp(sympy.exp(99 * L))), "too large to compute"),
        (1 / (10 ** (10 ** (10 * L)) + 1), "too large to compute"),
        (sympy.gamma(10 ** (40 * L)), "too large to compute"),
        (sympy.Integer(10) ** 200_000, "too large to compute"),
        (sympy.Sum(sympy.Max(INDEX, L), (INDEX, 1, L / 2)), "not over whole numbers"),
        (sympy.Piecewise((1, INDEX < 0)), "has no value"),
        (sympy.log(INDEX - L), "not a real number"),
    ],
)
def test_a_formula_without_a_number_says_why(formula: Any, sentence: str) -> None:
    with pytest.raises(NotPlain, match=sentence):
        worked_out(formula, L=3, i=1).value({})


def test_a_formula_takes_the_time_of_the_answer() -> None:
    from tutor.checking.answers import InProcess, Question

    k = sympy.Symbol("k")
    long = sympy.Sum(sympy.Max(INDEX, L) * sympy.Max(k, L), (INDEX, 1, 10**5), (k, 1, 10**5))
    answer = InProcess(lambda: long)
    assert answer.ask(Question(at={"L": 3}), 0.3).outcome == "late"
    assert answer.spent() >= 0.3


def test_equal_texts_are_other_objects_in_a_fresh_copy_as_they_are_behind_a_socket() -> None:
    town = "Leeds"
    behind_a_socket = plain.decode(json.loads(json.dumps(plain.encode([town, town]))))
    for copied in (plain.fresh([town, town]), behind_a_socket):
        assert copied == [town, town]
        assert copied[0] is not copied[1]
