"""Sends texts as they are in media types that Schemathesis does not know."""

import schemathesis


def text(ctx, value):
    return value.encode("utf-8") if isinstance(value, str) else str(value).encode("utf-8")


for media_type in ("application/x-ndjson", "application/x-redis-resp", "text/csv", "text/tab-separated-values"):
    schemathesis.serializer(media_type)(text)
