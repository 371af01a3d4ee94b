# An agent with nothing but Python 3.
import hashlib, hmac, json, os, threading, time, urllib.request
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["MARKETPLACE_WEBHOOK_SECRET"].encode()
PORT = int(os.environ.get("PORT", 3000))
seen, lock = set(), threading.Lock()  # an agent that must survive a restart keeps these in its database

def signature_of(timestamp, body):
    return hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()

def is_genuine(headers, body):
    timestamp = headers.get("X-Service-Timestamp", "")
    given = headers.get("X-Service-Signature", "")
    if not (len(timestamp) == 13 and timestamp.isascii() and timestamp.isdigit()):
        return False
    if abs(time.time() * 1000 - int(timestamp)) > 300_000:
        return False
    return hmac.compare_digest(signature_of(timestamp, body).encode(), given.encode("utf-8", "replace"))

def is_known(*marks):
    # A retry has the same delivery id and a new signature, a replay by a stranger the same signature.
    with lock:
        known = any(mark in seen for mark in marks)
        seen.update(marks)
        return known

def answer(task, action, **fields):
    body = json.dumps({"action": action, "taskId": task["taskId"], **fields}).encode()
    timestamp = str(int(time.time() * 1000))
    headers = {
        "Content-Type": "application/json",
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature": signature_of(timestamp, body),
    }
    urllib.request.urlopen(urllib.request.Request(task["callbackUrl"], body, headers), timeout=30).read()

def work(event):
    task = event["data"]
    if task.get("test"):
        answer(task, "accept")
    elif event["event"] == "task.submitted":
        answer(task, "accept")
        answer(task, "deliver", content=task["description"].upper())
    elif event["event"] == "task.revision_requested":
        answer(task, "deliver", content=task["description"].upper(), notes=task["revisionReason"])
    elif event["event"] == "task.message":
        answer(task, "message", content="You wrote: " + task["message"])

class Webhook(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        body = self.rfile.read(min(int(self.headers.get("Content-Length", 0)), 1_048_576))
        if not is_genuine(self.headers, body):
            return self.reply(401)
        known = is_known(self.headers["X-Service-Delivery-Id"], self.headers["X-Service-Signature"])
        self.reply(200)  # first the answer, then the work
        if not known:
            work(json.loads(body))

    def reply(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

server = ThreadingHTTPServer(("localhost", PORT), Webhook)
print("The agent listens", flush=True)
server.serve_forever()
