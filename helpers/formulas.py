"""Formulas in the letters of a notebook."""

import sympy


def in_letters(formula: sympy.Expr, *letters: sympy.Symbol) -> sympy.Expr:
    """Returns a formula with these letters in the place of others that have the same names.

    To sympy, a letter that is made anew is another one than the notebook's of the same name:
    `.subs` and `solve` do not find it. What is still to be worked out, such as a sum, is.

    Args:
        formula: such as `D * (F + 1)`.
        letters: of the notebook, such as `D, F`.
    """
    worked_out = sympy.sympify(formula).doit()
    own = {letter.name: letter for letter in letters}
    return worked_out.xreplace({letter: own.get(letter.name, letter) for letter in worked_out.free_symbols})
