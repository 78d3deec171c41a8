"""Loads documents with embeddings as most programs do: json, numpy and a pipeline of redis-py.

embeddings.py FILE HOST PORT, with the password in REDISCLI_AUTH. Prints how many documents it has sent.
"""
import json
import os
import sys

import numpy
import redis

BATCH = 500

path, host, port = sys.argv[1:]
client = redis.Redis(host=host, port=int(port), password=os.environ["REDISCLI_AUTH"])
pipeline = client.pipeline(transaction=False)
sent = 0
with open(path, "rb") as lines:
    for line in lines:
        document = json.loads(line)
        vector = numpy.array(document["embedding"], dtype=numpy.float32).tobytes()
        pipeline.hset("doc:%d" % document["id"], mapping={"title": document["title"], "embedding": vector})
        sent += 1
        if sent % BATCH == 0:
            pipeline.execute()
pipeline.execute()
print(sent)
