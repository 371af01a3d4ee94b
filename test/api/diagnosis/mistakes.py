"""Prints signed callbacks as a Python agent sends them when it gets one thing wrong: code as people write it, run as it stands.
Input: the common values, as JSON. Output: one JSON object a line. mistakes.json holds the result; see write-mistakes.ts."""
import base64, datetime, hashlib, hmac, json, sys, types

given = json.load(sys.stdin)
RIGHT = "signature = hmac.new(secret.encode(), ts.encode() + b'.' + body, hashlib.sha256).hexdigest()"
MISTAKES = [
    (None, RIGHT),
    ("previous_secret", "secret = previous\n" + RIGHT),
    ("other_agents_secret", "secret = other\n" + RIGHT),
    ("no_prefix", "secret = secret.removeprefix('whsec_')\n" + RIGHT),
    ("decoded_secret", "key = base64.b64decode(secret.split('_')[1])\nsignature = hmac.new(key, ts.encode() + b'.' + body, hashlib.sha256).hexdigest()"),
    ("secret_whitespace", "secret = secret + '\\n'  # open('secret.txt').read()\n" + RIGHT),
    ("quoted_secret", "secret = '\"' + secret + '\"'  # a line of .env, split at =\n" + RIGHT),
    ("cut_secret", "secret = ('SECRET=' + secret).split('=')[1]\n" + RIGHT),
    ("no_secret", "secret = str(None)  # os.environ.get\n" + RIGHT),
    ("parsed_body", "signed = json.dumps(task)\nbody = json.dumps(task, separators=(',', ':'))\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode(), hashlib.sha256).hexdigest()"),
    ("parsed_body", "signed = json.dumps(task, separators=(',', ':'))\nbody = json.dumps(task)\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode(), hashlib.sha256).hexdigest()"),
    ("parsed_body", "signed = json.dumps(task, ensure_ascii=False)\nbody = json.dumps(task)\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode(), hashlib.sha256).hexdigest()"),
    ("parsed_body", "signed = json.dumps(task, sort_keys=True)\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode(), hashlib.sha256).hexdigest()"),
    ("parsed_body", "signed = json.dumps(task, indent=4)\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode(), hashlib.sha256).hexdigest()"),
    ("stringified_body", "signature = hmac.new(secret.encode(), f'{ts}.{body}'.encode(), hashlib.sha256).hexdigest()  # body is bytes"),
    ("stringified_body", "signature = hmac.new(secret.encode(), f'{ts}.{task}'.encode(), hashlib.sha256).hexdigest()"),
    ("body_not_signed", "signature = hmac.new(secret.encode(), f'{ts}.'.encode(), hashlib.sha256).hexdigest()"),
    ("line_break", "signature = hmac.new(secret.encode(), ts.encode() + b'.' + body + b'\\n', hashlib.sha256).hexdigest()"),
    ("encoding", "signature = hmac.new(secret.encode(), f'{ts}.{body.decode()}'.encode('utf-16-le'), hashlib.sha256).hexdigest()\nts, sent = ts, body\nsignature = hmac.new(secret.encode(), ts.encode() + b'.' + body.decode().encode('utf-16-le'), hashlib.sha256).hexdigest()"),
    ("encoding", "task = {'action': 'message', 'content': 'naïve'}\nsigned = json.dumps(task, ensure_ascii=False)\nbody = signed.encode()\nsignature = hmac.new(secret.encode(), f'{ts}.{signed}'.encode('latin-1'), hashlib.sha256).hexdigest()"),
    ("bom", "signature = hmac.new(secret.encode(), ts.encode() + b'.' + body.decode().encode('utf-8-sig'), hashlib.sha256).hexdigest()"),
    ("seconds", "ts = str(int(time.time()))\n" + RIGHT),
    ("seconds", "ts = str(time.time())\n" + RIGHT),
    ("other_unit", "ts = str(time.time() * 1000)\n" + RIGHT),
    ("other_unit", "ts = str(time.time_ns())\n" + RIGHT),
    ("iso_timestamp", "ts = now.isoformat()\n" + RIGHT),
    ("other_timestamp_signed", "signature = hmac.new(secret.encode(), f'{now.isoformat()}.'.encode() + body, hashlib.sha256).hexdigest()"),
    ("other_timestamp_signed", "signature = hmac.new(secret.encode(), f'{int(time.time())}.'.encode() + body, hashlib.sha256).hexdigest()"),
    ("clock_read_twice", "signature = hmac.new(secret.encode(), f'{int(time.time() * 1000) + 3}.'.encode() + body, hashlib.sha256).hexdigest()"),
    ("stale", "ts = str(int(time.time() * 1000) - 432_000)\n" + RIGHT),
    ("future", "ts = str(int(time.time() * 1000) + 7_200_000)  # local time taken for UTC\n" + RIGHT),
    ("no_dot", "signature = hmac.new(secret.encode(), ts.encode() + body, hashlib.sha256).hexdigest()"),
    ("other_separator", "signature = hmac.new(secret.encode(), b':'.join([ts.encode(), body]), hashlib.sha256).hexdigest()"),
    ("body_alone", "signature = hmac.new(secret.encode(), body, hashlib.sha256).hexdigest()"),
    ("other_order", "signature = hmac.new(secret.encode(), body + b'.' + ts.encode(), hashlib.sha256).hexdigest()"),
    ("base64_digest", "signature = base64.b64encode(hmac.new(secret.encode(), ts.encode() + b'.' + body, hashlib.sha256).digest()).decode()"),
    ("upper_case_digest", RIGHT + "\nsignature = signature.upper()"),
    ("prefixed_digest", RIGHT + "\nsignature = 'sha256=' + signature"),
    ("prefixed_digest", RIGHT + "\nsignature = 'sha256=sha256=' + signature"),
    ("prefixed_digest", RIGHT + "\nsignature = f't={ts},v1={signature}'"),
    ("other_hash", "signature = hmac.new(secret.encode(), ts.encode() + b'.' + body, hashlib.sha1).hexdigest()"),
    ("other_hash", "signature = hmac.new(secret.encode(), ts.encode() + b'.' + body, hashlib.sha512).hexdigest()"),
    ("plain_hash", "signature = hashlib.sha256(secret.encode() + ts.encode() + b'.' + body).hexdigest()"),
    ("swapped_hmac", "signature = hmac.new(ts.encode() + b'.' + body, secret.encode(), hashlib.sha256).hexdigest()"),
    ("misspelt_header", RIGHT + "\nheaders = {'X-Timestamp': ts, 'X-Signature': signature}"),
    ("missing_header", RIGHT + "\nheaders = {'X-Service-Signature': signature}"),
    ("secret_sent", "signature = secret"),
    ("standard_webhooks", "key = base64.b64decode(secret[6:])\nid, ts = 'msg_1', str(int(time.time()))\nmac = hmac.new(key, f'{id}.{ts}.'.encode() + body, hashlib.sha256).digest()\nheaders = {'webhook-id': id, 'webhook-timestamp': ts, 'webhook-signature': 'v1,' + base64.b64encode(mac).decode()}"),
]


class Clock(types.SimpleNamespace):
    def time(self):
        return given["now"] / 1000

    def time_ns(self):
        return given["now"] * 1_000_000


for cause, code in MISTAKES:
    task = dict(given["task"])
    scope = {
        **{name: given[name] for name in ("secret", "previous", "other")},
        **{"hashlib": hashlib, "hmac": hmac, "json": json, "base64": base64, "time": Clock()},
        "now": datetime.datetime.fromtimestamp(given["now"] / 1000, datetime.timezone.utc),
        "ts": str(given["now"]),
        "task": task,
        "body": json.dumps(task).encode(),
    }
    exec(code, scope)
    body = scope["body"] if isinstance(scope["body"], bytes) else scope["body"].encode()
    headers = scope.get("headers") or {"X-Service-Timestamp": scope["ts"], "X-Service-Signature": scope["signature"]}
    print(json.dumps({"language": "Python", "cause": cause, "code": code, "headers": list(headers.items()), "body": base64.b64encode(body).decode()}))
