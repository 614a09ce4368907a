"""The model that tells content from noise: its file, and what it computes."""

from __future__ import annotations

import io
import zipfile
from dataclasses import fields
from importlib.resources import files
from pathlib import Path

import numpy as np
import pytest

from mmcrawl.blocks.content.line_features import CROSSED, PAGE_COLUMNS, LineFeatures
from mmcrawl.blocks.content.metadata import page_metadata
from mmcrawl.blocks.content.model import (
    GENRES,
    ContentModel,
    Network,
    Scaling,
    content_model,
    network_input,
)
from mmcrawl.blocks.layout.lines import PageLines
from mmcrawl.blocks.layout.measures import Measures
from mmcrawl.blocks.tree import read_tree

FILE = files("mmcrawl.blocks.content") / "content_model.npz"
BODY = b"<title>Levers</title><h1>Levers</h1><p>A lever is a rigid bar on a pivot.<li>Home"


def page_features(model: ContentModel) -> LineFeatures:
    tree = read_tree(BODY)
    measures = Measures(tree)
    lines = PageLines.of(tree, measures)
    return LineFeatures(tree, measures, lines, page_metadata(tree), model.class_weights)


def arrays_of(model: ContentModel) -> list[np.ndarray]:
    scalings = (model.page_scaling, model.scaling)
    found = [model.genre_weights, model.genre_bias]
    found += [getattr(part, field.name) for part in scalings for field in fields(part)]
    for network in model.networks:
        found += [getattr(network, field.name) for field in fields(network)]
    return found


def test_the_file_holds_arrays_of_numbers_and_words_only() -> None:
    with zipfile.ZipFile(io.BytesIO(FILE.read_bytes())) as archive:
        assert all(name.endswith(".npy") for name in archive.namelist())
        for name in archive.namelist():
            with archive.open(name) as file:
                values = np.lib.format.read_array(file, allow_pickle=False)
            assert values.dtype.kind in "fU"


def test_a_file_with_pickled_objects_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "model.npz"
    np.savez(path, class_words=np.array([object()], dtype=object))
    with pytest.raises(ValueError, match="pickle"):
        ContentModel.load(str(path))


def test_all_weights_are_finite() -> None:
    model = content_model()
    assert all(np.isfinite(array).all() for array in arrays_of(model))
    assert np.isfinite(list(model.class_weights.values())).all()
    assert (model.scaling.spread > 0).all()
    assert (model.page_scaling.spread > 0).all()


def test_it_is_read_once() -> None:
    assert content_model() is content_model()


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
    before, after = (m.probabilities(features, genres) for m in (model, again))
    assert (before == after).all()


def test_probabilities_are_between_0_and_1() -> None:
    model = content_model()
    features = page_features(model)
    genres = model.genres(features)
    assert genres.shape == (len(GENRES),)
    assert genres.sum() == pytest.approx(1)
    assert (genres >= 0).all()
    probabilities = model.probabilities(features, genres)
    assert probabilities.shape == (3,)
    assert ((probabilities > 0) & (probabilities < 1)).all()
    assert probabilities[1] > probabilities[2]


def test_scaling_measures_columns_and_cuts_off_what_is_far() -> None:
    values = np.array([[0, 5], [2, 5]], dtype=np.float32)
    scaling = Scaling.of(values)
    assert scaling(values).tolist() == [[-1, 0], [1, 0]]
    assert scaling(np.array([[100, 5]], dtype=np.float32)).tolist() == [[4, 0]]
    assert scaling(np.array([[-100, 4]], dtype=np.float32)).tolist() == [[-4, -1]]


def test_networks_read_features_genres_and_their_products() -> None:
    width = max(max(CROSSED) + 1, PAGE_COLUMNS)
    matrix = np.arange(2 * width, dtype=np.float32).reshape(2, width)
    genres = np.array([0.25, 0.75], dtype=np.float32)
    found = network_input(matrix, genres)
    assert found.shape == (2, width + 2 + 2 * len(CROSSED))
    assert (found[:, :width] == matrix).all()
    assert found[1, width : width + 2].tolist() == [0.25, 0.75]
    first = matrix[1, CROSSED[0]]
    assert found[1, width + 2 : width + 4].tolist() == [0.25 * first, 0.75 * first]


def test_the_mean_of_the_networks_counts() -> None:
    features = page_features(content_model())
    width = features.matrix.shape[1] + len(GENRES) * (1 + len(CROSSED))

    def network(out_bias: float) -> Network:
        hidden = np.zeros((width, 1), dtype=np.float32)
        one = np.ones(1, dtype=np.float32)
        return Network(hidden, -one, 100 * one, out_bias * one)  # the unit is never above 0

    scaling = Scaling(np.zeros(width, np.float32), np.ones(width, np.float32))
    model = ContentModel(
        {}, content_model().page_scaling, np.zeros((PAGE_COLUMNS, 7), np.float32),
        np.zeros(7, np.float32), scaling, (network(0.0), network(np.log(3.0))),
    )  # fmt: skip
    genres = model.genres(features)
    assert genres == pytest.approx([1 / 7] * 7)
    assert model.probabilities(features, genres) == pytest.approx([0.625] * 3)
