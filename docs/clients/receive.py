#!/usr/bin/env python3
"""Receives the callbacks of jobs, and verifies their signatures.

    PIPESET_CALLBACK_SECRET=whsec_... python3 receive.py 8081

Needs Python 3.9 or later, and nothing else. It prints the state and the counts of each job that has ended.
"""
import base64, hashlib, hmac, json, os, sys, time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = base64.b64decode(os.environ["PIPESET_CALLBACK_SECRET"].removeprefix("whsec_"))


def is_signed(headers, body):
    """Whether the secret signed the body within the last five minutes, so that nobody can send an old one again."""
    sent = headers.get("webhook-timestamp", "")
    if not sent.isdigit() or abs(time.time() - int(sent)) > 300:
        return False
    signed = f"{headers.get('webhook-id')}.{sent}.".encode() + body
    expected = "v1," + base64.b64encode(hmac.new(SECRET, signed, hashlib.sha256).digest()).decode()
    return any(hmac.compare_digest(expected, value) for value in headers.get("webhook-signature", "").split(" "))


class Receiver(BaseHTTPRequestHandler):
    def do_POST(self):
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        signed = is_signed(self.headers, body)
        if signed:
            # The same report may come twice, with the same webhook-id.
            job = json.loads(body)
            print(self.headers["webhook-id"], job["state"], json.dumps(job["counts"]), flush=True)
        self.send_response(204 if signed else 401)
        self.end_headers()


ThreadingHTTPServer(("127.0.0.1", int(sys.argv[1])), Receiver).serve_forever()
