"""Power iteration over DataFrames, for ranks that share :mod:`mmcrawl.rank.ranks`'s steps.

Edges are rows (source, target, weight). Besides those of the graph, every node has an edge to
itself of weight 0 that is marked `own`: so each node is in every result, also one that nothing
links to, and its value before the step comes along in the same pass. Of the values themselves,
only an affine part stays on the driver: rank = scale · value + shift. A step is then one join and
one sum by target; edges stay where they are, parted by source.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from pyspark.sql import Column, DataFrame, Observation
from pyspark.sql import functions as sf

from mmcrawl.rank.ranks import MOST_STEPS, TOLERANCE

_LOOK_EVERY = 5  # steps: telling the change takes one more pass over the values


@dataclass(frozen=True, slots=True)
class RankedFrame:
    """Ranks that sum to 1, on the cluster.

    Attributes:
        frame: (id, score), a row for each node; of pages (id, url, score).
        steps: How many were taken.
        change: Sum of the changes of all ranks in the last one.
        settled: Whether that is within the tolerance.
    """

    frame: DataFrame
    steps: int
    change: float
    settled: bool


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

    @property
    def rank(self) -> Column:
        """Of a row of the frame."""
        return sf.col("value") * sf.lit(self.scale) + sf.lit(self.shift)


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
    observed = Observation()
    frame = (
        values.frame.withColumn("rank", values.rank)
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


def random_surfer(edges: DataFrame, nodes: int, *, epsilon: float) -> RankedFrame:
    """Solve what :func:`mmcrawl.rank.ranks.random_surfer` solves, by the same steps.

    Args:
        edges: As :func:`edges_of` returns them; weights of each source sum to 1, or to 0.
        nodes: How many; their ids are 0 … nodes - 1.
        epsilon: ε, the share of jumps, in (0, 1).
    """

    def step(values: Values) -> Values:
        frame, observed = hop(values, edges, sf.col("rank"))
        frame = settled_frame(frame)
        total = float(observed.get["total"])
        jumps = (1 - (1 - epsilon) * total) / nodes
        return Values(frame, total, 1 - epsilon, jumps)

    values, steps, change = _converge(step, alike(edges, nodes))
    return ranked(values, steps, change)


def authorities(
    edges: DataFrame,
    reverse: DataFrame,
    nodes: int,
    *,
    hubs: bool = False,
) -> RankedFrame:
    """Return what :func:`mmcrawl.rank.hits` returns: authorities, or hubs.

    Args:
        edges: As :func:`edges_of` returns them, of weight 1.
        reverse: The same, source and target exchanged.
        nodes: How many.
        hubs: The ranks of the pages that link, instead of those linked to.
    """

    def step(values: Values) -> Values:
        linking, _ = hop(values, reverse, sf.col("rank"))
        frame, observed = hop(Values(linking), edges, sf.col("before"))
        frame = settled_frame(frame)
        total = float(observed.get["total"])
        return Values(frame, total, 1 / total)

    values, steps, change = _converge(step, alike(edges, nodes))
    if hubs:
        frame, _ = hop(values, reverse, sf.col("rank"))
        values = Values(settled_frame(frame))
    return ranked(values, steps, change)


def alike(edges: DataFrame, nodes: int) -> Values:
    """Return the ranks to begin with."""
    equal = sf.lit(1.0 / nodes).alias("value")
    frame = edges.sparkSession.range(nodes).select("id", equal, sf.lit(0.0).alias("before"))
    return Values(frame)


def ranked(values: Values, steps: int, change: float) -> RankedFrame:
    """Return values as ranks: divided by their sum."""
    score = values.rank / sf.lit(_total(values.frame, values.rank))
    frame = values.frame.select("id", score.alias("score"))
    return RankedFrame(frame, steps, change, change <= TOLERANCE)


def _converge(step: Callable[[Values], Values], values: Values) -> tuple[Values, int, float]:
    change, taken = 1.0, 0
    while change > TOLERANCE and taken < MOST_STEPS:
        values = step(values)
        taken += 1
        if taken % _LOOK_EVERY == 0 or taken == MOST_STEPS:
            change = _total(values.frame, sf.abs(values.rank - sf.col("before")))
    return values, taken, change


def _total(frame: DataFrame, column: Column) -> float:
    row = frame.agg(sf.sum(column)).first()
    return float(row[0]) if row is not None else 0.0
