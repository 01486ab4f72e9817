"""Names of variables say what the value is, and docstrings of public functions describe every parameter."""

from __future__ import annotations

import ast

import pytest

from benchmarks.names import SOURCE, VAGUE, share_of_vague, trees, undescribed

MOST_VAGUE = 0.5
"""Per cent of the stores of each package; the aim was 2. A name says what its value is: `guard`, `kernel`, `suffix`."""


@pytest.mark.parametrize("package", sorted(path.name for path in SOURCE.iterdir() if (path / "__init__.py").exists()))
def test_hardly_any_name_is_vague(package: str) -> None:
    share = share_of_vague(trees(SOURCE / package))
    assert share <= MOST_VAGUE, f"{share:.1f} % of the stores of {package} are to one of {VAGUE}"


def test_every_parameter_of_a_public_function_is_described() -> None:
    names = [name for tree in trees(SOURCE) for name in undescribed(tree)]
    assert names == []


def test_vague_names_and_undescribed_parameters_are_found() -> None:
    vague = "found = [each for each in b]\nc = 1\nd.found = 2\n"
    assert round(share_of_vague(iter([ast.parse(vague)]))) == 67
    described = 'def f(a, b, c):\n    """Return `a` of b and c."""\n'
    assert undescribed(ast.parse(described)) == []
    assert undescribed(ast.parse(described.replace(" and c", ""))) == ["f"]
    assert undescribed(ast.parse(described.replace("def f", "def _f").replace(" and c", ""))) == []


COMMAND = """
@click.command()
@click.option("-o", "--output", help="The file to write.")
@click.option("--on/--off", "is_on", help="Whether it is on.")
@click.argument("target")
def command(output, is_on, target):
    '''Print TARGET.'''
"""


def test_the_help_of_an_option_describes_its_parameter() -> None:
    assert undescribed(ast.parse(COMMAND)) == []
    assert undescribed(ast.parse(COMMAND.replace(', help="The file to write."', ""))) == ["command"]
    assert undescribed(ast.parse(COMMAND.replace("TARGET", "it"))) == ["command"]
