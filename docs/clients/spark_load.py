"""Loads a DataFrame of Spark into Redis through Pipeset: each partition is a job, and tasks that Spark repeats run once.

    from spark_load import write
    counts = write(orders, "http://pipeset:8080", "XADD", "orders:{shop}", fields="id,total")

    PIPESET_KEY=... spark-submit --py-files spark_load.py program.py

It needs pyspark, and a SparkContext: Spark Connect has no RDDs. Rows are JSON objects, and templates name their columns.
Dates and timestamps are ISO 8601, timestamps in UTC with their zone; decimals are numbers with all digits. Binary columns
are base64: {payload:base64} in a template is their bytes. NaN and infinity are refused, as JSON has no number for them.

Operations that a repeat would harm (XADD, RPUSH, INCRBY, ...) have an Idempotency-Key, <application>-<stage>-<partition>:
the second attempt of a task, or its speculative twin, gets the report of the first. Nothing of such a partition runs
before the service has all of it. THE SECOND ATTEMPT HAS TO SEND THE SAME BYTES: rows in another order are refused
(422), as after a shuffle, which has no order. Sort them: dataframe.sortWithinPartitions("id"), by columns that leave no
choice. An application that is started again is another one, and its records run again.

Rows can be read only once. So each request asks ahead (Expect: 100-continue): while too many jobs run (429), the service
ends or starts (503), or the twin is at work (409), it is repeated after Retry-After, and no row is lost by it. What goes
wrong once rows are on their way fails the task, and Spark repeats it (spark.task.maxFailures). A proxy has to pass
Expect on; one that answers it by itself costs an attempt of the task for each 429.
"""
import base64
import contextlib
import datetime
import http.client
import io
import json
import math
import os
import sys
import time
import types
import urllib.parse

from pyspark import TaskContext
from pyspark.sql import types as sql

# What may run twice, unless it has options. All others run once.
REPEATABLE = {"SET", "HSET", "HDEL", "DEL", "UNLINK", "EXPIRE", "PERSIST", "SADD", "SREM", "ZADD", "ZREM", "PFADD", "GEOADD",
              "SETBIT", "SETRANGE", "SETEX", "PSETEX", "MSET"}
COUNTS = ("received", "applied", "noop", "rejected", "unknown", "unprocessed")
PATIENCE = 900  # Seconds for which a service that is busy or away is asked again.
TIMEOUT = 600  # Seconds for which a connection may stand still.


class LoadError(Exception):
    """Records did not run as asked: counts has the sums of all partitions, items the first of these records."""

    def __init__(self, counts, items):
        super().__init__(f"Not all records ran: {json.dumps(counts)}, such as {json.dumps(items)}")
        self.counts, self.items = counts, items


def write(dataframe, url, op, key, *, once=None, on_error="raise", api_key=None, **settings):
    """Returns the sums of the reports' counts.

    settings go into the query string as they are, a list as several of a name. They hold for the job of each partition:
    a rateLimit is that of one of them. once=True gives a key to any operation, once=False to none. With on_error="return"
    the counts are returned though records were rejected. api_key is PIPESET_KEY of the environment if it is not given.
    """
    if on_error not in ("raise", "return"):
        raise ValueError(f"on_error must be raise or return, not {on_error!r}")
    if "replace" in settings:
        raise ValueError("replace would remove the keys of all other partitions")
    if once is None:
        args = settings.get("args", [])
        options = any("{" not in arg for arg in ([args] if isinstance(args, str) else args))
        once = options or str(op).upper() not in REPEATABLE
    query = {name: value for name, value in {"op": op, "key": key, **settings}.items() if value is not None}
    path = "/v1/jobs?" + urllib.parse.urlencode(query, doseq=True)
    api_key = api_key or os.environ.get("PIPESET_KEY")
    headers = {"Authorization": "Bearer " + api_key} if api_key else {}
    application = dataframe.sparkSession.sparkContext.applicationId
    encode = encoder(dataframe.schema)

    def load(rows):
        body = pieces(encode(row) for row in rows)
        first = next(body, None)
        if first is None:
            return []
        once_only = {}
        if once:
            task = TaskContext.get()
            once_only = {"Idempotency-Key": f"{application}-{task.stageId()}-{task.partitionId()}",
                         "Prefer": "respond-async"}
        return [run(url, path, headers, once_only, first, body)]

    reports = dataframe.rdd.mapPartitions(load).collect()
    counts = {name: sum(report["counts"][name] for report in reports) for name in COUNTS}
    if on_error == "raise" and any(report["errors"] for report in reports):
        raise LoadError(counts, [item for report in reports for item in report["items"]][:10])
    return counts


def run(url, path, headers, once_only, first, rest):
    """Has a job run, and returns the part of its report that is summed up."""
    upload = {**headers, **once_only, "Content-Type": "application/x-ndjson"}
    status, answered, report = ask(url, "POST", path, upload, first, rest)
    if "Location" in answered and (status == 202 or "Idempotency-Replayed" in answered):
        job = answered["Location"]
        status, answered, report = ask(url, "GET", job, headers)
        while status == 200 and report["state"] in ("queued", "running"):
            time.sleep(float(answered.get("Retry-After", 1)))
            status, answered, report = ask(url, "GET", job, headers)
    if status != 200 or report["state"] != "completed":
        trouble = report.get("detail") or (report.get("ending") or {}).get("detail") or report.get("state")
        if report.get("type", "").endswith(":idempotency-key-reused"):
            trouble += ". Rows in another order? Sort them by sortWithinPartitions"
        raise RuntimeError(f"{status}: {trouble} ({answered.get('Location') or report.get('jobId')})")
    return {"counts": report["counts"], "errors": report["errors"], "items": report["items"][:10]}


def ask(url, method, path, headers, first=None, rest=()):
    """Sends a request until its answer is final, as long as no row was taken for it."""
    taken = False

    def body():
        nonlocal taken
        taken = True
        yield first
        yield from rest

    end = time.monotonic() + PATIENCE
    while True:
        in_use, pause = False, 1.0
        try:
            status, answered, report = exchange(url, method, path, headers, body if first else None)
            in_use = status == 409 and report.get("type", "").endswith(":idempotency-key-in-use")
            if not in_use and not (status in (429, 503) and "Retry-After" in answered):
                return status, answered, report
            pause = float(answered.get("Retry-After", pause))
            trouble = f"{status}: {report.get('detail')}"
        except (OSError, http.client.HTTPException) as lost:
            trouble = f"{type(lost).__name__}: {lost}"
        # The service says when the process of the twin is gone. All else ends here.
        if taken or (not in_use and time.monotonic() > end):
            raise RuntimeError(trouble)
        wait(pause, trouble)


def wait(seconds, trouble):
    print(f"Once more in {seconds} s: {trouble}", file=sys.stderr)
    time.sleep(seconds)


def exchange(url, method, path, headers, body=None):
    """One request and its answer. A body is sent when the service has asked for it, in chunks as they are made."""
    place = urllib.parse.urlsplit(url)
    kind = http.client.HTTPSConnection if place.scheme == "https" else http.client.HTTPConnection
    with contextlib.closing(kind(place.netloc, timeout=TIMEOUT)) as connection:
        connection.putrequest(method, place.path.rstrip("/") + path)
        for name, value in {**headers, "Connection": "close"}.items():
            connection.putheader(name, value)
        if body:
            connection.putheader("Transfer-Encoding", "chunked")
            connection.putheader("Expect", "100-continue")
        connection.endheaders()
        # Without a buffer: http.client passes over the 100 that is waited for here.
        answers = connection.sock.makefile("rb", 0)
        head = answers.readline()
        if body and head.split()[1:2] == [b"100"]:
            while head.strip():
                head = answers.readline()
            head = b""
            for piece in body():
                try:
                    connection.send(b"%x\r\n%b\r\n" % (len(piece), piece))
                except ConnectionError:
                    break  # The answer says why.
            else:
                connection.send(b"0\r\n\r\n")
        whole = io.BytesIO(head + answers.readall())
        answer = http.client.HTTPResponse(types.SimpleNamespace(makefile=lambda mode: whole))
        answer.begin()
        text = answer.read()
    try:
        return answer.status, answer.headers, json.loads(text)
    except ValueError:
        return answer.status, answer.headers, {"detail": repr(text[:200])}


def pieces(lines, size=1 << 16):
    piece, length = [], 0
    for line in lines:
        piece.append(line + "\n")
        length += len(line)
        if length >= size:
            yield "".join(piece).encode()
            piece, length = [], 0
    if piece:
        yield "".join(piece).encode()


def encoder(kind, name=""):
    """The function that writes values of a type as JSON."""
    if isinstance(kind, sql.StructType):
        members = [(text(field.name) + ":", encoder(field.dataType, f"{name}.{field.name}".lstrip(".")))
                   for field in kind.fields]
        write_value = lambda row: "{" + ",".join(label + encode(value) for (label, encode), value in zip(members, row)) + "}"
    elif isinstance(kind, sql.ArrayType):
        element = encoder(kind.elementType, name + "[]")
        write_value = lambda array: "[" + ",".join(map(element, array)) + "]"
    elif isinstance(kind, sql.MapType):
        name += "{}"
        key, value = encoder(kind.keyType, name), encoder(kind.valueType, name)

        def label(each):
            return key(each) if key(each).startswith('"') else text(key(each))

        # In one order, as the second attempt has to have the same bytes.
        write_value = lambda entries: "{" + ",".join(sorted(label(k) + ":" + value(v) for k, v in entries.items())) + "}"
    elif isinstance(kind, (sql.FloatType, sql.DoubleType)):
        def write_value(number):
            if not math.isfinite(number):
                raise ValueError(f"{name} is {number}, and JSON has no such number: replace it, or leave the row out")
            return repr(number)
    elif type(kind) in LEAVES:
        write_value = LEAVES[type(kind)]
    else:
        raise TypeError(f"{name} is of the type {kind.simpleString()}: cast it to one that JSON has")
    return lambda value: "null" if value is None else write_value(value)


def text(value):
    return json.dumps(value, ensure_ascii=False)


def iso(timestamp):
    return f'"{timestamp.isoformat()}"'


LEAVES = {
    sql.StringType: text, sql.BooleanType: text, sql.NullType: text,
    sql.ByteType: str, sql.ShortType: str, sql.IntegerType: str, sql.LongType: str,
    sql.DecimalType: lambda number: format(number, "f"),
    sql.BinaryType: lambda data: f'"{base64.b64encode(data).decode()}"',
    sql.DateType: iso, sql.TimestampNTZType: iso,
    sql.TimestampType: lambda timestamp: iso(timestamp.astimezone(datetime.timezone.utc)),
}
