"""Sets strings as most programs do: a pipeline of redis-py, without a transaction.

sets.py COUNT HOST PORT, with the password in REDISCLI_AUTH. Prints how many commands it has sent.
"""
import os
import sys

import redis

BATCH = 10_000

count, host, port = sys.argv[1:]
client = redis.Redis(host=host, port=int(port), password=os.environ["REDISCLI_AUTH"])
pipeline = client.pipeline(transaction=False)
sent = 0
for number in range(int(count)):
    digits = "%05d" % number
    pipeline.set("keyA" + digits, "value-" + digits)
    sent += 1
    if sent % BATCH == 0:
        pipeline.execute()
pipeline.execute()
print(sent)
