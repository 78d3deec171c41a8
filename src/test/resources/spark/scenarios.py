"""Loads by docs/clients/spark_load.py, for SparkClientTests: scenarios.py URL LOSSY_URL FOLDER. Prints a line of JSON for each."""
import json
import os
import pathlib
import sys
import time

import spark_load
from pyspark import TaskContext, cloudpickle
from pyspark.sql import SparkSession

URL, LOSSY_URL, FOLDER = sys.argv[1], sys.argv[2], pathlib.Path(sys.argv[3])
# Two cores may be busy: four tasks at once all the same, and three attempts of each.
spark = (SparkSession.builder.master("local[4,3]").config("spark.ui.enabled", "false")
         .config("spark.driver.bindAddress", "127.0.0.1").config("spark.driver.host", "127.0.0.1")
         .config("spark.sql.session.timeZone", "America/New_York").getOrCreate())


def load(name, dataframe, *arguments, url=URL, **settings):
    try:
        outcome = {"counts": spark_load.write(dataframe, url, *arguments, **settings)}
    except Exception as error:
        outcome = {"error": str(error), "type": type(error).__name__, "counts": getattr(error, "counts", None)}
    print(json.dumps({"name": name, **outcome}), flush=True)


def numbers(count, parts=4):
    """Rows whose partition is in them, in their order."""
    each = count // parts
    return spark.range(0, count, 1, parts).selectExpr("id", f"id div {each} as part", "concat('User ', id, ' é') as name")


# As it is: workers import it, as with --py-files.
load("set", numbers(8000), "SET", "set:{id}", value="{name}")
load("hset", numbers(8000), "HSET", "hash:{id}", fields="id,name")
load("empty", numbers(8000).where("id = 17"), "SET", "one:{id}", value="{name}")
load("lossy", numbers(40000), "XADD", "lossy:{part}", url=LOSSY_URL, fields="id")
load("types", spark.sql("""
    select 'a' as id, named_struct('b', true, 'n', 9007199254740993L, 'none', cast(null as string)) as nested,
    array(1, 2, null) as list, map('z', 1.5D, 'a', 2D) as map, map(2, 'x') as numbered, date'2026-02-03' as day,
    timestamp'2026-02-03 04:05:06.789' as moment, timestamp_ntz'2026-02-03 04:05:06' as wall,
    12345678901234567890.123456789BD as decimal, 0.000000000BD as zero, X'00FF10' as bytes, 1e300D as large"""),
     "SET", "types:{id}", value="{*}")
load("binary", spark.sql("select 1 as id, X'4100C3A9' as bytes, timestamp'2100-01-01 00:00:00' as until"),
     "SET", "binary:{id}", value="{bytes:base64}", expireAt="{until}")
load("raise", numbers(1000), "HSET", "refused:{id}", fields="name")
load("return", numbers(1000), "HSET", "refused:{id}", fields="name", on_error="return")
load("nan", spark.sql("select 1 as id, array(named_struct('x', double('NaN'))) as list"), "SET", "nan:{id}", value="{*}")
load("interval", spark.sql("select 1 as id, interval 1 day as age"), "SET", "interval:{id}", value="{*}")
load("wrongKey", numbers(4), "SET", "wrong:{id}", value="{name}", api_key="not-the-key")
load("replace", numbers(4), "SET", "wrong:{id}", value="{name}", replace="wrong:*")

# From here on with faults, which travel to the workers with it.
cloudpickle.register_pickle_by_value(spark_load)
run, pieces, wait = spark_load.run, spark_load.pieces, spark_load.wait


def failing_after_its_report(*arguments):
    report = run(*arguments)
    if TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("The first attempt has its report, and is lost")
    return report


def breaking_off(lines):
    body = pieces(lines)
    yield next(body)
    if TaskContext.get().attemptNumber() == 0:
        raise RuntimeError("The first attempt is lost in the middle of its upload")
    yield from body


def turned_round(lines):
    return pieces(reversed(list(lines)) if TaskContext.get().attemptNumber() > 0 else lines)


def gate():
    return FOLDER / f"gate-{TaskContext.get().stageId()}"


def held_until_another_waits(lines):
    """An upload that goes on when another task was answered that it has to wait, which fails no task."""
    assert TaskContext.get().attemptNumber() == 0
    body = pieces(lines)
    yield next(body)
    while not gate().exists():
        time.sleep(0.01)
    yield from body


def told(seconds, trouble):
    (FOLDER / f"wait-{TaskContext.get().stageId()}-{os.getpid()}-{time.monotonic_ns()}").write_text(trouble)
    gate().touch()
    time.sleep(seconds)


class Twins:
    """Two tasks that take each other for attempts of one."""

    @staticmethod
    def get():
        return Twins()

    def stageId(self):
        return TaskContext.get().stageId()

    def partitionId(self):
        return 0


def waits(name):
    for file in FOLDER.glob("wait-*"):
        print(json.dumps({"name": name, "trouble": file.read_text()}), flush=True)
        file.unlink()


for op, settings in (("XADD", {"fields": "id"}), ("RPUSH", {"args": "{id}"}), ("SET", {"value": "{name}"})):
    spark_load.run = failing_after_its_report
    load(f"retried {op}", numbers(16000), op, "retried:" + op + (":{id}" if op == "SET" else ":{part}"), **settings)
    spark_load.run, spark_load.pieces = run, breaking_off
    load(f"broken {op}", numbers(16000), op, "broken:" + op + (":{id}" if op == "SET" else ":{part}"), **settings)
    spark_load.pieces = pieces

spark_load.run, spark_load.pieces = failing_after_its_report, turned_round
load("turned", numbers(400, 1), "XADD", "turned:{part}", fields="id")
spark_load.run = run

spark_load.pieces, spark_load.wait = held_until_another_waits, told
load("busy", numbers(16000), "XADD", "busy:{part}", fields="id")
waits("busy wait")
spark_load.TaskContext = Twins
load("twins", numbers(8000, 2).selectExpr("id % 4000 as id", "'User' as name"), "XADD", "twins:{name}", fields="id")
waits("twins wait")
spark.stop()
