# An agent that is as wrong as mistakes.json says, by the first part of the path, or by MISTAKE.
import base64, hashlib, hmac, json, os, socket, time, urllib.error, urllib.request
from http.client import HTTPException
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer

def mac(key, *parts):
    return hmac.new(key, b"".join(parts), hashlib.sha256).digest()

def send(how, data, fields):
    now = time.time()
    timestamp = {"ms": str(int(now * 1000)), "s": str(int(now)), "us": str(int(now * 1_000_000))}[how["time"]]
    body = json.dumps({"taskId": data["taskId"], **fields}).encode()
    made = mac(how["secret"].encode(), how["head"].replace("{time}", timestamp).encode(), body)
    time_header, signature_header = how["headers"]
    headers = {"Content-Type": "application/json"}
    if time_header:
        headers[time_header] = timestamp
    headers[signature_header] = made.hex() if how["digest"] == "hex" else base64.b64encode(made).decode()
    if how["isWrittenAnew"]:
        body = json.dumps(json.loads(body), separators=(",", ":")).encode()
    url = data["callbackUrl"].removesuffix("callback") + how["path"]
    try:
        urllib.request.urlopen(urllib.request.Request(url, body, headers)).read()
    except (urllib.error.URLError, HTTPException, OSError):
        pass  # forged webhooks name an address at which nobody is

def works(how, data):
    for fields in how["calls"]:
        send(how, data, fields)

class Webhook(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def answer(self, status, **headers):
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        self.send_header("Content-Length", "0")
        self.end_headers()

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"]))
        with open("mistakes.json") as file:
            how = json.load(file)[os.environ.get("MISTAKE") or self.path.split("/")[1]]
        how["secret"] = os.environ.get("MARKETPLACE_WEBHOOK_SECRET", how["secret"])
        if how["hangsUp"]:
            self.close_connection = True
            return self.connection.shutdown(socket.SHUT_RDWR)
        if how["status"] != 200:
            return self.answer(how["status"], **({"Location": how["location"]} if "location" in how else {}))
        verified = str(json.loads(body)).encode() if how["isParsed"] else body
        key = base64.b64decode(how["key"]) if "key" in how else how["secret"].encode()
        timestamp = self.headers.get("X-Service-Timestamp", "")
        if mac(key, timestamp.encode() + b".", verified).hex() != self.headers.get("X-Service-Signature"):
            return self.answer(401)
        event = json.loads(body)
        is_work = event["event"] == "task.submitted"
        if is_work and how["worksFirst"]:
            works(how, event["data"])
        time.sleep(how["pauseMs"] / 1000)
        self.answer(200)
        if is_work and not how["worksFirst"]:
            works(how, event["data"])

    def log_message(self, *_):
        pass

with ThreadingHTTPServer(("127.0.0.1", int(os.environ["PORT"])), Webhook) as server:
    print("The agent listens", flush=True)
    server.serve_forever()
