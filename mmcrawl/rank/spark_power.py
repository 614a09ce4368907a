"""Power iteration over DataFrames, for ranks that share :mod:`mmcrawl.rank.ranks`'s steps.

Edges are rows (source, target, weight). Besides those of the graph, every node has an edge to
itself of weight 0 that is marked `own`: so each node is in every result, also one that nothing
links to, and its value before the step comes along in the same pass. Of the values themselves,
only an affine part stays on the driver: rank = scale · value + shift. A step is then one join and
one sum by target; edges stay where they are, parted by source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from mmcrawl.rank.graph import Numbers
from mmcrawl.rank.ranks import MOST_STEPS, TOLERANCE, Ranking

__all__ = ["Values", "authorities", "edges_of", "random_surfer", "settled_frame"]

Progress = Callable[[int, float], None]

_LOOK_EVERY = 5  # steps: telling the change takes one more pass over the values


@dataclass(frozen=True, slots=True)
class Values:
    """A value for each node: the rows (id, value, before) of a DataFrame, scaled and shifted.

    Attributes:
        frame: The rows; `before` is the unscaled value of the step before.
        total: Sum of the unscaled values.
        scale, shift: The value of a node is scale · value + shift.
    """

    frame: DataFrame
    total: float = 1.0
    scale: float = 1.0
    shift: float = 0.0


def settled_frame(frame: DataFrame) -> DataFrame:
    """Return a frame that is computed and kept, without what it came from.

    On a cluster whose machines may be lost, set ``spark.checkpoint.dir``: then it is kept there.
    """
    spark = frame.sparkSession
    if spark.conf.get("spark.checkpoint.dir", None):
        return frame.checkpoint(eager=True)
    return frame.localCheckpoint(eager=True)


def edges_of(nodes: DataFrame, edges: DataFrame, partitions: int) -> DataFrame:
    """Return edges with those of the nodes to themselves, parted by source, kept in memory.

    Args:
        nodes: Of all nodes: id.
        edges: source, target, weight.
        partitions: Into which they are parted.
    """
    own = nodes.select(
        sf.col("id").alias("source"),
        sf.col("id").alias("target"),
        sf.lit(0.0).alias("weight"),
        sf.lit(1.0).alias("own"),
    )
    all_edges = edges.select("source", "target", "weight", sf.lit(0.0).alias("own")).unionAll(own)
    return all_edges.repartition(partitions, "source").sortWithinPartitions("source").persist()


def hop(values: Values, edges: DataFrame, kept: Column) -> tuple[DataFrame, Observation]:
    """Pass values on along edges; `kept` is what becomes of each node's own row as `before`."""
    value = sf.col("value") * sf.lit(values.scale) + sf.lit(values.shift)
    observed = Observation()
    frame = (
        values.frame.withColumn("rank", value)
        .join(edges, sf.col("id") == sf.col("source"))
        .groupBy("target")
        .agg(
            sf.sum(sf.col("rank") * sf.col("weight")).alias("value"),
            sf.sum(kept * sf.col("own")).alias("before"),
        )
        .withColumnRenamed("target", "id")
        .observe(observed, sf.sum("value").alias("total"))
    )
    return frame, observed


def random_surfer(
    edges: DataFrame, nodes: int, *, epsilon: float, progress: Progress | None = None
) -> Ranking:
    """Solve what :func:`mmcrawl.rank.ranks.random_surfer` solves, by the same steps.

    Args:
        edges: As :func:`edges_of` returns them; weights of each source sum to 1, or to 0.
        nodes: How many; their ids are 0 … nodes - 1.
        epsilon: ε, the share of jumps, in (0, 1).
        progress: Told of the steps whose change is looked at.
    """

    def step(values: Values) -> Values:
        frame, observed = hop(values, edges, sf.col("rank"))
        frame = settled_frame(frame)
        total = float(observed.get["total"])
        jumps = (1 - (1 - epsilon) * total) / nodes
        return Values(frame, total, 1 - epsilon, jumps)

    return _converge(step, _alike(edges, nodes), nodes, progress)[0]


def authorities(
    edges: DataFrame, reverse: DataFrame, nodes: int, progress: Progress | None = None
) -> tuple[Ranking, Ranking]:
    """Return what :func:`mmcrawl.rank.hits` returns: authorities and hubs.

    Args:
        edges: As :func:`edges_of` returns them, of weight 1.
        reverse: The same, source and target exchanged.
        nodes: How many.
        progress: Told of the steps whose change is looked at.
    """

    def step(values: Values) -> Values:
        hubs, _ = hop(values, reverse, sf.col("rank"))
        frame, observed = hop(Values(hubs), edges, sf.col("before"))
        frame = settled_frame(frame)
        total = float(observed.get["total"])
        return Values(frame, total, 1 / total)

    ranking, settled = _converge(step, _alike(edges, nodes), nodes, progress)
    hubs, _ = hop(settled, reverse, sf.col("rank"))
    linking = _collected(Values(hubs), nodes)
    return ranking, replace(ranking, scores=linking / linking.sum())


def _converge(
    step: Callable[[Values], Values], values: Values, nodes: int, progress: Progress | None
) -> tuple[Ranking, Values]:
    change, taken = 1.0, 0
    while change > TOLERANCE and taken < MOST_STEPS:
        values = step(values)
        taken += 1
        if taken % _LOOK_EVERY == 0 or taken == MOST_STEPS:
            rank = sf.col("value") * sf.lit(values.scale) + sf.lit(values.shift)
            row = values.frame.agg(sf.sum(sf.abs(rank - sf.col("before")))).first()
            change = float(row[0]) if row is not None else 0.0
            if progress is not None:
                progress(taken, change)
    scores = _collected(values, nodes)
    return Ranking(scores / scores.sum(), taken, change, change <= TOLERANCE), values


def _alike(edges: DataFrame, nodes: int) -> Values:
    equal = sf.lit(1.0 / nodes).alias("value")
    frame = edges.sparkSession.range(nodes).select("id", equal, sf.lit(0.0).alias("before"))
    return Values(frame)


def _collected(values: Values, nodes: int) -> Numbers:
    rank = sf.col("value") * sf.lit(values.scale) + sf.lit(values.shift)
    table = values.frame.select("id", rank.alias("rank")).toArrow()
    scores = np.zeros(nodes)
    scores[table["id"].to_numpy()] = table["rank"].to_numpy()
    return scores
