"""The engine for data that outgrow one machine: rows stay on a Spark cluster, the driver sees counts and recodings."""

from __future__ import annotations

from typing import Any

from keepsense.engines.protocol import ENGINES, Engine, EngineEntry, SqlConnection


def _start(**options: Any) -> Engine:
    from keepsense.engines.spark.engine import SparkEngine

    return SparkEngine(**options)


def _connect(master: str | None = None) -> SqlConnection:
    from keepsense.engines.spark.session import spark_session
    from keepsense.engines.spark.sql import SparkConnection

    return SparkConnection(spark_session(master))


def _is_frame(data: Any) -> bool:
    """Whether data are a frame of Spark: by where its class lives, so that nobody who has none imports PySpark."""
    kind = type(data)
    return kind.__name__ == "DataFrame" and kind.__module__.startswith("pyspark.sql.")


ENGINES.add(
    "spark",
    EngineEntry(
        "spark",
        "on a Spark cluster, or in Spark on this machine",
        _start,
        _connect,
        _is_frame,
        options=("master", "session", "staging", "memory", "threads"),
        masters=("spark://", "k8s://", "yarn", "local["),
    ),
)
