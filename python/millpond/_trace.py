"""Traces: the rate of a link over time."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

from millpond import _core
from millpond._arguments import whole, worded
from millpond._tables import array

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


class Trace:
    """The rate of a link over time, as recorded or generated.

    A link follows a saved trace with ``scenario.set("links.L1.rate.trace.file", "my.csv")``.
    """

    __slots__ = ("_core",)

    def __init__(self, core: _core.Trace) -> None:
        self._core = core

    @classmethod
    def load(cls, path: str | os.PathLike[str]) -> Trace:
        """The trace of a file of Mahimahi delivery opportunities or of lines ``time_s,mbps``.

        Raises
        ------
        Error
            The file cannot be read or is no trace.
        """
        return cls(_core.Trace.load(path))

    @classmethod
    def generate(
        cls,
        preset: str,
        *,
        duration: str = "60s",
        seed: int = 1,
        mean: str | None = None,
        peak: str | None = None,
        step: str | None = None,
    ) -> Trace:
        """A random trace like those of a kind of link.

        Parameters
        ----------
        preset : str
            One of `presets`.
        duration : str
            Length with its unit.
        seed : int
            Seed of the random numbers.
        mean, peak : str, optional
            Mean and highest quantile of the rate, such as ``"20Mbps"``. Default: those of the preset.
        step : str, optional
            Time between samples. Default: that of the preset.

        Raises
        ------
        Error
            The preset is unknown, or the values do not fit.
        """
        duration, step = worded("duration", duration, "60s"), worded("step", step, "100ms")
        mean, peak = worded("mean", mean, "20Mbps"), worded("peak", peak, "50Mbps")
        return cls(_core.Trace.generate(preset, duration, whole("seed", seed, 0), mean, peak, step))

    @staticmethod
    def presets() -> dict[str, str]:
        """The name of each preset and its kind of link."""
        return dict(_core.presets())

    @property
    def time_s(self) -> NDArray[np.float64]:
        """Times at which the rates begin, in seconds, shape (n,)."""
        return array(self._core.times_s())

    @property
    def rate_bps(self) -> NDArray[np.float64]:
        """Rates, in bit/s, shape (n,)."""
        return array(self._core.rates_bps())

    @property
    def duration_s(self) -> float:
        """Length, in seconds."""
        return self._core.duration_s

    @property
    def mean_bps(self) -> float:
        """Mean rate, in bit/s."""
        return self._core.mean_bps

    def save(self, path: str | os.PathLike[str]) -> None:
        """Writes lines ``time_s,mbps``, which scenarios read. An existing file is replaced."""
        self._core.save(path)

    def __reduce__(self) -> tuple[object, ...]:
        return (_restored, self._core.parts())

    def __repr__(self) -> str:
        return f"<Trace: {self.duration_s:g} s, mean {self.mean_bps / 1e6:.3g} Mbit/s>"


def _restored(steps: list[tuple[int, int]], length: int, sampling: int, is_mahimahi: bool) -> Trace:
    """The trace of a pickle."""
    return Trace(_core.Trace.restore(steps, length, sampling, is_mahimahi))
