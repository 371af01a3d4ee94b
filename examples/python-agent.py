# An agent with nothing but Python 3.
import hashlib, hmac, json, os, signal, sys, threading, time, urllib.error, urllib.request
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

SECRET = os.environ["MARKETPLACE_WEBHOOK_SECRET"].encode()
PORT = int(os.environ.get("PORT", 3000))
LONGEST = 1_048_576
JOURNAL = os.path.join(os.environ.get("STATE_DIRECTORY", "."), "agent.journal")  # one process at a time may have it
seen, unfinished, lock = {}, {}, threading.Lock()

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

# What came and what is done, a change a line: it is on the disk before the 200, and outlives an end of the process.
def keep(**change):
    with open(JOURNAL, "a") as file:
        file.write("\n" + json.dumps(change))
        file.flush()
        os.fsync(file.fileno())
    apply(**change)

def apply(marks=(), body=None, done=None):
    seen.update(dict.fromkeys(marks))
    if body:
        unfinished[marks[0]] = body
    unfinished.pop(done, None)

def recall():
    # At the start the journal is read, and written anew with what counts of it. A line that was cut off was never answered.
    for line in open(JOURNAL).read().split("\n") if os.path.exists(JOURNAL) else []:
        if line.endswith("}"):
            apply(**json.loads(line))
    kept = [{"marks": list(seen)[-20_000:]}, *({"marks": [mark], "body": body} for mark, body in unfinished.items())]
    with open(JOURNAL + ".new", "w") as file:
        file.write("\n".join(map(json.dumps, kept)))
        file.flush()
        os.fsync(file.fileno())
    os.replace(JOURNAL + ".new", JOURNAL)

def is_new(body, marks):
    # A retry has the same delivery id and a new signature, a replay by a stranger the same signature.
    with lock:
        known = any(mark in seen for mark in marks)
        keep(marks=marks, **({} if known else {"body": body.decode()}))
        return not known

def answer(task, action, **fields):
    body = json.dumps({"action": action, "taskId": task["taskId"], **fields}).encode()
    timestamp = str(int(time.time() * 1000))
    headers = {
        "Content-Type": "application/json",
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature": signature_of(timestamp, body),
    }
    request = urllib.request.Request(task["callbackUrl"], body, headers)
    # Where the marketplace has not answered, the same bytes are sent again: what has counted already is done once.
    for pause in (0.5, 1, 2, 4, 8, 16, 32):
        try:
            return urllib.request.urlopen(request, timeout=30).read()
        except urllib.error.HTTPError as answer:
            refusal = f"{action} was refused with {answer.code}: {answer.read().decode()}"
            if action == "accept" and "that is in_progress" in refusal:
                return  # before a restart, so the work is still to be done
            if answer.code != 429 and answer.code < 500:
                raise RuntimeError(refusal)
            after = answer.headers.get("Retry-After", "")
            pause = max(pause, int(after) if after.isdigit() else 0)
        except (OSError, HTTPException):
            pass
        time.sleep(pause)
    raise RuntimeError(f"{action} got no answer")

def work(event):
    task = event["data"]
    if task.get("test"):
        answer(task, "accept")
    elif event["event"] == "task.submitted":
        answer(task, "accept")
        answer(task, "deliver", content=task["description"].upper())
    elif event["event"] == "task.revision_requested":
        answer(task, "deliver", content=f"{task['description']}\n\n{task['revisionReason']}".upper())
    elif event["event"] == "task.message":
        answer(task, "message", content=f"You wrote: {task['message']}"[:5000])

def begin(mark):
    try:
        work(json.loads(unfinished[mark]))
    except Exception as error:
        print(repr(error), file=sys.stderr)
    # What was refused is done too. Only what an end of the process has cut off is begun again.
    with lock:
        keep(done=mark)

class Webhook(BaseHTTPRequestHandler):
    timeout = 30

    def do_POST(self):
        body = self.body()
        if not is_genuine(self.headers, body):
            return self.reply(401)
        marks = [mark for mark in (self.headers["X-Service-Delivery-Id"], self.headers["X-Service-Signature"]) if mark]
        fresh = is_new(body, marks)
        self.reply(200)  # first the answer, then the work
        if fresh:
            begin(marks[0])

    def body(self):
        if self.headers.get("Transfer-Encoding", "").lower() != "chunked":
            return self.rfile.read(max(0, min(int(self.headers.get("Content-Length", 0)), LONGEST)))
        body, size = b"", None
        while size != 0:  # each chunk comes after its size, the last is empty
            size = int(self.rfile.readline(100).split(b";")[0], 16)
            if not 0 <= size <= LONGEST - len(body):
                return b""
            body += self.rfile.read(size + 2)[:size]
        return body

    def reply(self, status):
        self.send_response(status)
        self.send_header("Content-Length", "0")
        self.end_headers()

class Server(ThreadingHTTPServer):
    daemon_threads = False  # what has begun is done before it ends

signal.signal(signal.SIGTERM, lambda *_: sys.exit())
recall()
for mark in list(unfinished):
    threading.Thread(target=begin, args=(mark,)).start()
with Server(("localhost", PORT), Webhook) as server:
    print("The agent listens", flush=True)
    server.serve_forever()
