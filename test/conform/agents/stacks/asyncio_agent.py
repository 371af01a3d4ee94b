# On asyncio, with nothing but Python 3: one loop reads requests, works and calls back. Written from the guide alone, with files for a store.
import asyncio, hashlib, hmac, json, os, re, signal, sys, time, urllib.error, urllib.request
from concurrent.futures import ThreadPoolExecutor

LONGEST = 1 << 20
LONGEST_END_S = 8
SECRET = os.environ["MARKETPLACE_WEBHOOK_SECRET"].encode()
SEEN, OPEN = (os.path.join(os.environ["STATE_DIRECTORY"], name) for name in ("seen", "open"))
lines, busy = {}, set()


def signature_of(timestamp, body):
    return hmac.new(SECRET, timestamp.encode() + b"." + body, hashlib.sha256).hexdigest()


def is_genuine(headers, body):
    timestamps, signatures = headers.get("x-service-timestamp", []), headers.get("x-service-signature", [])
    if len(timestamps) != 1 or len(signatures) != 1 or not re.fullmatch("[0-9]{13}", timestamps[0]):
        return False
    if abs(time.time() * 1000 - int(timestamps[0])) > 300_000:
        return False
    return hmac.compare_digest(signature_of(timestamps[0], body).encode(), signatures[0].encode())


# --- what it remembers ---

def digest(mark):
    return hashlib.sha256(mark.encode()).hexdigest()


def is_new(mark):
    try:
        os.close(os.open(os.path.join(SEEN, digest(mark)), os.O_CREAT | os.O_EXCL | os.O_WRONLY))
        return True
    except FileExistsError:
        return False


def taken(headers, body):
    """Returns the status, and the event to work on with the file that keeps it; None if there is none."""
    if not is_genuine(headers, body):
        return 401, None
    try:
        event = json.loads(body)
        of_event = f"event {event['event']} {event['data']['taskId']} {event.get('timestamp')}"
    except (ValueError, TypeError, KeyError):
        return 400, None
    marks = [f"{name} {value}" for name in ("x-service-delivery-id", "x-service-signature") for value in headers.get(name, [])]
    if not all([is_new(mark) for mark in [*marks, of_event]]):
        return 200, None
    path = os.path.join(OPEN, digest(of_event) + ".json")
    with open(path + ".new", "wb") as file:
        file.write(body)
    os.rename(path + ".new", path)
    return 200, (path, event)


# --- the work: events of one task one after the other ---

def begin(path, event, again):
    task_id = event["data"]["taskId"]
    before = lines.get(task_id)

    async def turn():
        if before:
            await asyncio.wait([before])
        try:
            await work(event["event"], event["data"], again)
        except Exception as error:
            print(repr(error), file=sys.stderr, flush=True)
        os.remove(path)

    line = lines[task_id] = asyncio.get_running_loop().create_task(turn())
    line.add_done_callback(lambda _: lines.get(task_id) is line and lines.pop(task_id))


async def work(name, data, again):
    if data.get("test"):
        await answer(data, {"action": "accept"})
    elif name == "task.submitted":
        if "malware" in data["title"].lower():
            await answer(data, {"action": "reject", "reason": "I write no malware."})
            return
        status, text = await answer(data, {"action": "accept"})
        # Before a restart the marketplace may have taken it, and would not take it twice.
        if status == 200 or (again and "that is in_progress" in text):
            await deliver(data)
    elif name == "task.revision_requested":
        await deliver(data)
    elif name == "task.message":
        await answer(data, {"action": "message", "content": f"You wrote: {data['message']}"[:5000]})


async def deliver(data):
    parts = [data["title"], data["description"], data.get("revisionReason")]
    await answer(data, {"action": "deliver", "content": "\n".join(part for part in parts if part)})


async def answer(data, fields):
    """Sends the same bytes until an answer is heard, and returns that."""
    body = json.dumps({**fields, "taskId": data["taskId"]}).encode()
    timestamp = str(int(time.time() * 1000))
    headers = {
        "Content-Type": "application/json",
        "X-Service-Timestamp": timestamp,
        "X-Service-Signature": signature_of(timestamp, body),
    }
    seconds = 0.5
    while seconds <= 32:
        status, text, after = await asyncio.get_running_loop().run_in_executor(threads, post, data["callbackUrl"], headers, body)
        if status != 0 and status != 429 and status < 500:
            return status, text
        await asyncio.sleep(max(seconds, after))
        seconds *= 2
    raise RuntimeError(f"{fields['action']} got no answer")


class NoRedirects(urllib.request.HTTPRedirectHandler):
    def redirect_request(self, *_):
        return None


threads = ThreadPoolExecutor(32)
opener = urllib.request.build_opener(NoRedirects)


def post(url, headers, body):
    try:
        with opener.open(urllib.request.Request(url, body, headers), timeout=30) as response:
            return response.status, response.read().decode(), 0
    except urllib.error.HTTPError as refusal:
        after = refusal.headers.get("Retry-After", "")
        return refusal.code, refusal.read().decode(), int(after) if after.isdigit() else 0
    except Exception:
        return 0, "", 0


# --- HTTP, as much of it as an agent needs ---

async def serve(reader, writer):
    try:
        while True:
            head = await reader.readuntil(b"\r\n\r\n")
            busy.add(writer)
            goes_on = await exchange(head, reader, writer)
            await writer.drain()
            busy.discard(writer)
            if not goes_on or is_ending.is_set():
                break
    except (asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError, ValueError):
        pass
    finally:
        busy.discard(writer)
        writer.close()


async def exchange(head, reader, writer):
    request, *rows = head.decode("latin-1").split("\r\n")
    headers = {}
    for name, _, value in (row.partition(":") for row in rows if row):
        headers.setdefault(name.strip().lower(), []).append(value.strip())
    goes_on = headers.get("connection", [""])[0].lower() != "close"
    if not request.startswith("POST "):
        respond(writer, 405, False)
        return False
    if "expect" in headers:
        writer.write(b"HTTP/1.1 100 Continue\r\n\r\n")
    body = await body_of(reader, headers)
    status, begun = taken(headers, body) if body is not None else (413, None)
    respond(writer, status, goes_on)
    if begun:
        begin(*begun, False)
    return goes_on


async def body_of(reader, headers):
    """None if it is too long: it is read to its end all the same."""
    kept, size = [], 0

    async def read(length):
        nonlocal size
        while length > 0:
            part = await reader.read(min(length, 65536))
            if not part:
                raise ConnectionResetError
            length -= len(part)
            size += len(part)
            if size <= LONGEST:
                kept.append(part)

    if "transfer-encoding" in headers:
        while length := int((await reader.readline()).split(b";")[0], 16):
            await read(length)
            await reader.readline()
        while (await reader.readline()).strip():
            pass
    else:
        await read(int(headers.get("content-length", ["0"])[0]))
    return b"".join(kept) if size <= LONGEST else None


REASONS = {200: "OK", 400: "Bad Request", 401: "Unauthorized", 405: "Method Not Allowed", 413: "Content Too Large"}


def respond(writer, status, goes_on):
    connection = "keep-alive" if goes_on else "close"
    writer.write(f"HTTP/1.1 {status} {REASONS[status]}\r\nContent-Length: 0\r\nConnection: {connection}\r\n\r\n".encode())


async def main():
    for folder in (SEEN, OPEN):
        os.makedirs(folder, exist_ok=True)
    for name in os.listdir(OPEN):
        if name.endswith(".json"):
            with open(os.path.join(OPEN, name)) as file:
                begin(file.name, json.load(file), True)
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, is_ending.set)
    server = await asyncio.start_server(serve, "127.0.0.1", int(os.environ.get("PORT", 3000)), backlog=128)
    await is_ending.wait()
    # What has come is answered, and what has begun is done, as far as eight seconds reach.
    server.close()
    end = time.monotonic() + LONGEST_END_S
    while (busy or lines) and time.monotonic() < end:
        await asyncio.sleep(0.02)
    os._exit(0)


is_ending = asyncio.Event()
asyncio.run(main())
