"""Dual numbers: a value with its derivative, and functions of them.

A fluid model is evaluated on plain numbers and, for its linearization, on dual numbers. The functions of this module
accept both; comparisons compare values.
"""

from __future__ import annotations

import math
from typing import TypeAlias


class Dual:
    """A value with its derivative by some variable.

    Parameters
    ----------
    value : float
        The value.
    slope : float
        The derivative.
    """

    __slots__ = ("slope", "value")

    #: Arrays of numpy leave operations to this class.
    __array_ufunc__ = None

    def __init__(self, value: float, slope: float = 0.0) -> None:
        self.value = value
        self.slope = slope

    def _with(self, value: float, factor: float) -> Dual:
        """A function of this number with this value and this derivative by it."""
        return Dual(value, factor * self.slope)

    def __add__(self, other: Number) -> Dual:
        value, slope = parts(other)
        return Dual(self.value + value, self.slope + slope)

    __radd__ = __add__

    def __sub__(self, other: Number) -> Dual:
        value, slope = parts(other)
        return Dual(self.value - value, self.slope - slope)

    def __rsub__(self, other: Number) -> Dual:
        return (-self) + other

    def __mul__(self, other: Number) -> Dual:
        value, slope = parts(other)
        return Dual(self.value * value, self.slope * value + self.value * slope)

    __rmul__ = __mul__

    def __truediv__(self, other: Number) -> Dual:
        value, slope = parts(other)
        quotient = self.value / value
        return Dual(quotient, (self.slope - quotient * slope) / value)

    def __rtruediv__(self, other: Number) -> Dual:
        return Dual(*parts(other)) / self

    def __pow__(self, power: Number) -> Dual:
        exponent, slope = parts(power)
        if slope == 0.0:
            factor = exponent * self.value ** (exponent - 1.0) if exponent != 0.0 else 0.0
            return self._with(self.value**exponent, factor)
        return Dual(*parts(exp(power * log(self))))

    def __rpow__(self, base: Number) -> Dual:
        return Dual(*parts(base)) ** self

    def __neg__(self) -> Dual:
        return Dual(-self.value, -self.slope)

    def __pos__(self) -> Dual:
        return self

    def __abs__(self) -> Dual:
        return -self if self.value < 0.0 else self

    def __lt__(self, other: Number) -> bool:
        return self.value < parts(other)[0]

    def __le__(self, other: Number) -> bool:
        return self.value <= parts(other)[0]

    def __gt__(self, other: Number) -> bool:
        return self.value > parts(other)[0]

    def __ge__(self, other: Number) -> bool:
        return self.value >= parts(other)[0]

    def __eq__(self, other: object) -> bool:
        if isinstance(other, (Dual, float, int)):
            return self.value == parts(other)[0]
        return NotImplemented

    def __hash__(self) -> int:
        return hash(self.value)

    def __float__(self) -> float:
        raise TypeError("a dual number has a derivative that float() loses: use the functions of millpond.dual")

    def __repr__(self) -> str:
        return f"Dual({self.value!r}, {self.slope!r})"


#: A plain or a dual number.
Number: TypeAlias = Dual | float


def parts(number: Number) -> tuple[float, float]:
    """Value and derivative of a number."""
    return (number.value, number.slope) if isinstance(number, Dual) else (float(number), 0.0)


def exp(x: Number) -> Dual | float:
    """The exponential."""
    if not isinstance(x, Dual):
        return math.exp(x)
    value = math.exp(x.value)
    return x._with(value, value)


def log(x: Number) -> Dual | float:
    """The natural logarithm."""
    return x._with(math.log(x.value), 1.0 / x.value) if isinstance(x, Dual) else math.log(x)


def sqrt(x: Number) -> Dual | float:
    """The square root."""
    if not isinstance(x, Dual):
        return math.sqrt(x)
    value = math.sqrt(x.value)
    return x._with(value, 0.5 / value)


def sin(x: Number) -> Dual | float:
    """The sine."""
    return x._with(math.sin(x.value), math.cos(x.value)) if isinstance(x, Dual) else math.sin(x)


def cos(x: Number) -> Dual | float:
    """The cosine."""
    return x._with(math.cos(x.value), -math.sin(x.value)) if isinstance(x, Dual) else math.cos(x)


def tanh(x: Number) -> Dual | float:
    """The hyperbolic tangent."""
    if not isinstance(x, Dual):
        return math.tanh(x)
    value = math.tanh(x.value)
    return x._with(value, 1.0 - value * value)


def minimum(x: Number, y: Number) -> Dual | float:
    """The smaller number, with its derivative."""
    return y if parts(y)[0] < parts(x)[0] else x


def maximum(x: Number, y: Number) -> Dual | float:
    """The larger number, with its derivative."""
    return y if parts(y)[0] > parts(x)[0] else x
