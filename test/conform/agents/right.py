# A right agent by hand, with nothing but Python 3. `--plain`: HTTP/1.0, one request at a time.
import hashlib, hmac, json, os, re, signal, sys, threading, time, urllib.error, urllib.request
from collections import deque
from email.utils import parsedate_to_datetime
from http.server import BaseHTTPRequestHandler, HTTPServer, ThreadingHTTPServer

SECRET = os.environ["MARKETPLACE_WEBHOOK_SECRET"].encode()
PORT = int(os.environ.get("PORT", 3000))
STATE = os.environ.get("MUTANT_STATE")
PLAIN = "--plain" in sys.argv
FIVE_MINUTES_MS = 300_000
MOST_BYTES = 1024 * 1024
MOST_ATTEMPTS = 7
LONGEST_END_S = 3
ENDS = {"task.cancelled", "task.approved", "task.disputed"}

lock = threading.RLock()
tasks, marks, unfinished, lines = {}, set(), {}, {}
last_ms = serving = 0


# --- signatures, in both directions ---

def signature_of(timestamp, body):
    return hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def is_genuine(headers, body):
    timestamps = headers.get_all("X-Service-Timestamp", [])
    signatures = headers.get_all("X-Service-Signature", [])
    if len(timestamps) != 1 or len(signatures) != 1:
        return False
    if not re.fullmatch(r"[0-9]{13}", timestamps[0]) or not re.fullmatch(r"[0-9a-f]{64}", signatures[0]):
        return False
    if abs(time.time() * 1000 - int(timestamps[0])) > FIVE_MINUTES_MS:
        return False
    return hmac.compare_digest(signature_of(timestamps[0], body), signatures[0])


def signed(body):
    """No two callbacks have the same time, and so no two the same signature."""
    global last_ms
    with lock:
        last_ms = max(int(time.time() * 1000), last_ms + 1)
        timestamp = str(last_ms)
    return {
        "Content-Type": "application/json",
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature": signature_of(timestamp, body),
    }


# --- what it remembers: each change is a line of JSON at the end of a file ---

def task_named(task_id):
    return tasks.setdefault(task_id, {"submitted": False, "delivered": 0, "over": None})


def apply(change):
    if "task" in change:
        task_named(change["id"]).update(change["task"])
    marks.update(change.get("seen", []))
    if "begun" in change:
        unfinished[change["begun"]["key"]] = change["begun"]
    unfinished.pop(change.get("ended"), None)


def keep(**change):
    with lock:
        apply(change)
        if STATE:
            with open(STATE, "a") as file:
                file.write(json.dumps(change) + "\n")


def recall():
    if STATE and os.path.exists(STATE):
        with open(STATE) as file:
            for line in file:
                # The last line may have been cut off in the midst.
                if line.endswith("\n"):
                    apply(json.loads(line))
    return list(unfinished.values())


# --- callbacks: repeated with the same bytes until an answer is heard, but not for ever ---

class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


opener = urllib.request.build_opener(NoRedirects)


def post(url, headers, body):
    """Returns the status and the seconds to wait; 0 as status if no answer came."""
    try:
        with opener.open(urllib.request.Request(url, body, headers), timeout=30) as response:
            response.read()
            return response.status, 0
    except urllib.error.HTTPError as refusal:
        refusal.close()
        return refusal.code, retry_after(refusal.headers.get("Retry-After"))
    except Exception:
        return 0, 0


def retry_after(header):
    try:
        if not header:
            return 0
        seconds = int(header) if header.isdigit() else parsedate_to_datetime(header).timestamp() - time.time()
        return min(120, max(0, seconds))
    except (TypeError, ValueError):
        return 0


def callback(data, fields, wanted=lambda: True):
    body = json.dumps({**fields, "taskId": data["taskId"]}).encode()
    headers, signed_at, refused = signed(body), time.monotonic(), 0
    for attempt in range(MOST_ATTEMPTS):
        if not wanted():
            return False
        status, wait = post(data["callbackUrl"], headers, body)
        if 200 <= status < 300:
            return True
        refused += status == 401
        passing = status == 0 or status >= 500 or 300 <= status < 400 or status in (401, 408, 429)
        # 400 and 409 say that the task has moved on.
        if not passing or refused == 3:
            return False
        time.sleep(max(0.2 * 2**attempt, wait))
        if status == 401 or time.monotonic() - signed_at > 240:
            headers, signed_at = signed(body), time.monotonic()
    return False


# --- the work ---

def hear(event):
    """Told at once, also while the task's earlier events are still worked on."""
    if event["event"] in ENDS:
        keep(id=event["data"]["taskId"], task={"over": event["event"]})


def work(event, again):
    data = event["data"]
    task, name = task_named(data["taskId"]), event["event"]
    if data.get("test"):
        callback(data, {"action": "accept"})
    elif name == "task.submitted":
        submitted(task, data, again)
    elif name == "task.revision_requested":
        deliver(task, data)
    elif name == "task.message" and task["over"] != "task.cancelled":
        callback(data, {"action": "message", "content": f"You wrote: {data.get('message')}"[:5000]})


def submitted(task, data, again):
    if (task["submitted"] and not again) or task["over"]:
        return
    keep(id=data["taskId"], task={"submitted": True})
    if "malware" in data["title"].lower():
        callback(data, {"action": "reject", "reason": "I write no malware."})
        return
    accepted = callback(data, {"action": "accept"}, lambda: not task["over"])
    # Before a restart the marketplace may have taken it, and would not take it twice.
    if accepted or again:
        deliver(task, data)


def deliver(task, data):
    version = task["delivered"] + 1
    parts = [f"Version {version}", data["title"], data["description"], data.get("requirements"), data.get("revisionReason")]
    content = "\n\n".join(part for part in parts if part)
    if callback(data, {"action": "deliver", "content": content}, lambda: not task["over"]):
        keep(id=data["taskId"], task={"delivered": version})


# --- one line of work for each task: its events come one after the other ---

def queue(key, event, again):
    task_id = event["data"]["taskId"]
    with lock:
        line = lines.get(task_id)
        if line is not None:
            line.append((key, event, again))
            return
        line = lines[task_id] = deque([(key, event, again)])
    threading.Thread(target=work_off, args=(task_id, line), daemon=True).start()


def work_off(task_id, line):
    while True:
        with lock:
            if not line:
                del lines[task_id]
                return
            key, event, again = line.popleft()
        try:
            work(event, again)
        except Exception as error:
            print(repr(error), file=sys.stderr, flush=True)
        keep(ended=key)


def take(event, delivery_id):
    """A retry has the id of the first attempt, a redelivery a new one; an event is known by its task, its name and its time."""
    of_event = [f"event {event['data']['taskId']} {event['event']} {event.get('timestamp')}"]
    if delivery_id:
        of_event.append(f"delivery {delivery_id}")
    key = " ".join(of_event)
    with lock:
        if any(mark in marks for mark in of_event):
            return
        keep(seen=of_event, begun={"key": key, "event": event})
        hear(event)
        queue(key, event, False)


def event_in(body):
    try:
        event = json.loads(body)
        is_event = isinstance(event["event"], str) and isinstance(event["data"]["taskId"], str)
        return event if is_event else None
    except (ValueError, TypeError, KeyError):
        return None


# --- the endpoint ---

class Webhook(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.0" if PLAIN else "HTTP/1.1"
    disable_nagle_algorithm = True
    wbufsize = -1
    timeout = 60

    def do_POST(self):
        global serving
        with lock:
            serving += 1
        try:
            self.serve()
        finally:
            self.wfile.flush()
            with lock:
                serving -= 1

    def serve(self):
        body = self.chunks() if "chunked" in self.headers.get("Transfer-Encoding", "") else self.whole()
        if body is None:
            self.close_connection = True
            return
        if len(body) > MOST_BYTES:
            return self.answer(413)
        if not is_genuine(self.headers, body):
            return self.answer(401)
        event = event_in(body)
        if event is None:
            return self.answer(400)
        take(event, self.headers.get("X-Service-Delivery-Id"))
        self.answer(200)

    def whole(self):
        """Returns None if the connection was cut."""
        length = int(self.headers.get("Content-Length") or 0)
        kept, left = b"", length
        while left > 0:
            part = self.rfile.read(min(left, 65536))
            if not part:
                return None
            left -= len(part)
            if len(kept) <= MOST_BYTES:
                kept += part
        return kept

    def chunks(self):
        kept = b""
        while True:
            size = self.rfile.readline(100)
            if not size.strip():
                return None
            length = int(size.split(b";")[0], 16)
            part = self.rfile.read(length)
            if len(part) < length:
                return None
            self.rfile.readline(100)
            if length == 0:
                return kept
            if len(kept) <= MOST_BYTES:
                kept += part

    def refuse_method(self):
        self.answer(405)

    do_GET = do_HEAD = do_PUT = do_DELETE = refuse_method

    def answer(self, status):
        body = b"" if self.command == "HEAD" else json.dumps({"success": status == 200}).encode()
        # What a refused request still has to say is not waited for.
        self.close_connection = self.close_connection or self.command != "POST"
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        if self.close_connection:
            self.send_header("Connection", "close")
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_):
        pass


class Threads(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 128


def stop(*_):
    threading.Thread(target=end).start()


def end():
    """Ends what it has begun. What takes longer is worked on after the next start."""
    server.shutdown()
    until = time.monotonic() + LONGEST_END_S
    while (lines or serving) and time.monotonic() < until:
        time.sleep(0.02)
    os._exit(0)


signal.signal(signal.SIGTERM, stop)
server = (HTTPServer if PLAIN else Threads)(("127.0.0.1", PORT), Webhook)
for begun in recall():
    queue(begun["key"], begun["event"], True)
print("The agent listens", flush=True)
server.serve_forever(poll_interval=0.05)
threading.Event().wait()
