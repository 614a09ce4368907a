"""Ranks and blocks on Spark, for archives that do not fit one machine.

:mod:`mmcrawl.rank.spark_job` is what runs on a cluster. It reads an export
(`scrapy archive export-parquet`) from any place Hadoop can read, and writes Parquet; rows stay on
the cluster throughout, and only counts, sums and changes reach the driver. Modules here import
pyspark, except :mod:`mmcrawl.rank.spark.session`, which tells whether it is there.
"""
