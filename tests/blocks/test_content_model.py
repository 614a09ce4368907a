"""The model that tells content from noise: its file, and what it computes."""

from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from mmcrawl.blocks.content import ContentModel, content_model

FILE = files("mmcrawl.blocks.content") / "content_model.npz"


def test_a_file_holds_numbers_and_words_and_no_pickled_objects(tmp_path: Path) -> None:
    with FILE.open("rb") as file, np.load(file, allow_pickle=False) as arrays:
        assert all(arrays[name].dtype.kind in "fuU" for name in arrays)
        numbers = [arrays[name] for name in arrays if arrays[name].dtype.kind == "f"]
    assert all(np.isfinite(values[values < np.inf]).all() for values in numbers)
    path = tmp_path / "model.npz"
    np.savez(path, class_words=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        ContentModel.load(str(path))


def test_saving_and_loading_keeps_the_model(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    content_model().save(str(path))
    with FILE.open("rb") as file, np.load(file) as before, np.load(path) as after:
        assert {*before} == {*after}
        assert all((before[name] == after[name]).all() for name in before)
