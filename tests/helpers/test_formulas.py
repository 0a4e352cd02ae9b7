"""Formulas come into the letters of a notebook, whoever made theirs."""

import sympy

from helpers.formulas import in_letters

D, F = sympy.symbols("D F", positive=True, integer=True)


def test_letters_of_the_same_name_become_the_notebooks_own() -> None:
    other, unknown = sympy.symbols("D U")
    formula = in_letters(other * (F + 1) + unknown, D, F)
    assert formula == D * (F + 1) + unknown
    assert formula.subs({D: 2, F: 3, unknown: 0}) == 8


def test_what_is_to_be_worked_out_is_and_numbers_stay() -> None:
    i = sympy.Symbol("i", integer=True)
    assert sympy.expand(in_letters(sympy.Sum(i, (i, 1, D)), D) - D * (D + 1) / 2) == 0
    assert in_letters(sympy.Subs(D * F, F, D), D, F).subs(D, 3) == 9
    assert in_letters(0, D) == 0
