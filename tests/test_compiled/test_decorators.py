"""Helper functions of kernels have no machine code of their own."""

import numba
import pytest

from compiled import inlined, kernel, part
from compiled.decorators import _Instructions


@inlined
def one_more(n: int) -> int:
    if n < 0:
        raise ValueError("expected no negative number")
    return n + 1


@part
def twice(n: int) -> int:
    return 2 * one_more(n)


@kernel
def both(n: int) -> int:
    return twice(n) + one_more(n)


def test_kernels_contain_their_helper_functions():
    assert both(3) == 12
    with pytest.raises(ValueError, match="expected no negative number"):
        both(-1)


@pytest.mark.parametrize("helper", [one_more, twice])
def test_helper_functions_have_no_machine_code_and_python_cannot_call_them(helper):
    with pytest.raises(TypeError):
        helper(3)
    (result,) = helper.overloads.values()
    assert isinstance(result.library, _Instructions)
    engine = numba.core.registry.cpu_target.target_context.codegen()._engine
    assert not engine.is_symbol_defined(result.fndesc.mangled_name)
    both(3)
    (kernels_result,) = both.overloads.values()
    assert engine.is_symbol_defined(kernels_result.fndesc.mangled_name)
