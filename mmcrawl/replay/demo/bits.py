"""Bits that are put together to bytes."""


class Bits:
    """Numbers of any count of bits, the highest bit first."""

    def __init__(self) -> None:
        self._text = ""

    def add(self, value: int, count: int) -> None:
        """Add a number, below zero by its complement."""
        self._text += f"{value & ((1 << count) - 1):0{count}b}"

    def add_ue(self, value: int) -> None:
        """Add a number that is not below zero as H.264 does, shorter the smaller it is."""
        self._text += f"{value + 1:0{2 * (value + 1).bit_length() - 1}b}"

    def bytes(self) -> bytes:
        """Return all, filled up with zeros."""
        text = self._text + "0" * (-len(self._text) % 8)
        return bytes(int(text[at : at + 8], 2) for at in range(0, len(text), 8))
