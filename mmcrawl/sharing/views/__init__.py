"""Shared crawls as others see them: who works on one, what it found, its links as one table."""
