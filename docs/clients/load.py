"""Loads records into Redis through Pipeset: streamed, and once only, whatever happens to the connection.

    PIPESET_URL=http://localhost:8080 PIPESET_KEY=... python3 load.py 1000000 user:

Needs requests (pip install requests). It ends with 0 if all records ran, and else with 1: failed.ndjson then has the
others, which can be posted again as they are.
"""
import itertools
import json
import os
import sys
import time
import uuid

import requests

URL = os.environ.get("PIPESET_URL", "http://localhost:8080")
COUNT = int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000
PREFIX = sys.argv[2] if len(sys.argv) > 2 else "user:"

session = requests.Session()
if "PIPESET_KEY" in os.environ:
    session.headers["Authorization"] = "Bearer " + os.environ["PIPESET_KEY"]


def body():
    """The records, a thousand lines at a time: requests sends each piece as it comes, and keeps none."""
    records = ({"op": "HSET", "key": f"{PREFIX}{i}", "fields": {"name": f"User {i}"}} for i in range(COUNT))
    while piece := list(itertools.islice(records, 1000)):
        yield "".join(json.dumps(record) + "\n" for record in piece).encode()


def call(method, url, make_body=None, headers=None):
    """Sends a request again for as long as another attempt may have a better answer."""
    for attempt in range(20):
        pause = min(0.2 * 2**attempt, 30)
        try:
            answer = session.request(method, URL + url, data=make_body and make_body(), headers=headers, timeout=60)
            in_use = answer.status_code == 409 and answer.json()["type"].endswith(":idempotency-key-in-use")
            if answer.status_code not in (429, 503) and not in_use:
                return answer
            if "Idempotency-Replayed" in answer.headers:
                return answer
            pause = max(pause, float(answer.headers.get("Retry-After", 0)))
            trouble = answer.json()["detail"]
        except requests.RequestException as lost:
            trouble = lost
        print(f"Once more in {pause} s: {trouble}", file=sys.stderr)
        time.sleep(pause)
    sys.exit("Gave up")


def upload():
    """With the same key the records run once, however often they are sent.

    202: all of them were accepted. interrupted: those of an earlier attempt were, and the process that had them has died.
    """
    answer = call("POST", "/v1/jobs", body, {"Content-Type": "application/x-ndjson", "Prefer": "respond-async",
                                            "Idempotency-Key": str(uuid.uuid4())})
    accepted = (answer.status_code == 202 or "Idempotency-Replayed" in answer.headers
                or answer.json()["type"].endswith(":interrupted"))
    if not accepted or "Location" not in answer.headers:
        sys.exit(answer.json()["detail"])
    return answer.headers["Location"]


def follow(job):
    """Waits for the end of the job, and has it go on if its process has died."""
    while True:
        answer = call("GET", job)
        if answer.status_code != 200:
            sys.exit(answer.json()["detail"])
        report = answer.json()
        if report["state"] == "interrupted":
            resumed = call("POST", job + "/resume")
            if resumed.status_code != 202:
                sys.exit(resumed.json()["detail"])
        elif report["state"] not in ("queued", "running"):
            return report
        time.sleep(float(answer.headers.get("Retry-After", 0)))


job = upload()
report = follow(job)
print(report["state"], json.dumps(report["counts"]))
if report["errors"]:
    with session.get(f"{URL}{job}/items", stream=True, timeout=60) as items, open("failed.ndjson", "wb") as file:
        items.raise_for_status()
        for piece in items.iter_content(1 << 16):
            file.write(piece)
    sys.exit(f"{URL}{job}: what did not run is in failed.ndjson")
