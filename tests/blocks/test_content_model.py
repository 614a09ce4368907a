"""The model that tells content from noise: its file, and what it computes."""

import io
import zipfile
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from mmcrawl.blocks import read_tree
from mmcrawl.blocks.content import (
    GENRES,
    ContentModel,
    LineFeatures,
    Scaling,
    Trees,
    content_model,
    page_metadata,
)
from mmcrawl.blocks.layout import Measures, PageLines

FILE = files("mmcrawl.blocks.content") / "content_model.npz"
BODY = b"<title>Levers</title><h1>Levers</h1><p>A lever is a rigid bar on a pivot.<li>Home"


def page_features(model: ContentModel) -> LineFeatures:
    tree = read_tree(BODY)
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    return LineFeatures(tree, measures, lines, page_metadata(tree), model.start_tags)


def arrays_of(model: ContentModel) -> list[np.ndarray]:
    scaling, trees = model.page_scaling, model.trees
    return [
        model.genre_weights, model.genre_bias, scaling.mean, scaling.spread,
        trees.features, trees.borders, trees.leaves, np.float32(trees.bias),
    ]  # fmt: skip


def test_the_file_holds_arrays_of_numbers_and_words_only() -> None:
    with zipfile.ZipFile(io.BytesIO(FILE.read_bytes())) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())
        for name in archive.namelist():
            with archive.open(name) as file:
                values = np.lib.format.read_array(file, allow_pickle=False)
            assert values.dtype.kind in "fuU"


def test_a_file_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, class_words=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        ContentModel.load(str(path))


def test_all_weights_are_finite() -> None:
    model = content_model()
    assert all(np.isfinite(array).all() for array in arrays_of(model))
    assert model.trees.features.max() < page_features(model).matrix.shape[1]
    assert np.isfinite(list(model.class_weights.values())).all()
    assert (model.page_scaling.spread > 0).all()


def test_saving_and_loading_keeps_the_model(tmp_path: Path) -> None:
    model, path = content_model(), tmp_path / "model.npz"
    model.save(str(path))
    again = ContentModel.load(str(path))
    assert again.class_weights == model.class_weights
    for before, after in zip(arrays_of(model), arrays_of(again), strict=True):
        assert (before == after).all()
    features = page_features(model)
    genres = model.genres(features)
    assert (again.genres(features) == genres).all()
    before, after = (m.probabilities(features) for m in (model, again))
    assert (before == after).all()


def test_probabilities_are_between_0_and_1() -> None:
    model = content_model()
    features = page_features(model)
    genres = model.genres(features)
    assert genres.shape == (len(GENRES),)
    assert genres.sum() == pytest.approx(1)
    assert (genres >= 0).all()
    probabilities = model.probabilities(features)
    assert probabilities.shape == (3,)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert probabilities[1] > probabilities[2]


def test_scaling_measures_columns_and_cuts_off_what_is_far() -> None:
    values = np.array([[0, 5], [2, 5]], dtype=np.float32)
    scaling = Scaling.of(values)
    assert scaling(values).tolist() == [[-1, 0], [1, 0]]
    assert scaling(np.array([[100, 5]], dtype=np.float32)).tolist() == [[4, 0]]
    assert scaling(np.array([[-100, 4]], dtype=np.float32)).tolist() == [[-4, -1]]


def test_a_tree_adds_the_leaf_that_the_answers_number() -> None:
    trees = Trees(
        features=np.array([[0, 1], [2, 2]]),
        borders=np.array([[0.5, 0.5], [1, 3]], dtype=np.float32),
        leaves=np.array([[1, 2, 4, 8], [16, 32, 0, 64]], dtype=np.float32),
        bias=-100.0,
    )
    rows = np.array([[0, 0, 0], [1, 0, 1], [0, 1, 2], [1, 1, 4]], dtype=np.float32)
    assert trees.log_odds(rows).tolist() == [1 + 16 - 100, 2 + 16 - 100, 4 + 32 - 100, 8 + 64 - 100]


def test_a_level_that_asks_for_more_than_there_is_is_no_level() -> None:
    borders = np.array([[np.inf]], dtype=np.float32)
    trees = Trees(np.array([[0]]), borders, np.array([[3, 5]], dtype=np.float32), 0.0)
    assert trees.log_odds(np.array([[9e9]], dtype=np.float32)).tolist() == [3]
