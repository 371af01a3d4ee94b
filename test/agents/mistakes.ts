/** What authors of agents get wrong most often: each is one change of an agent that is right, and what the log of dev says then. */
import type { Change } from './programs.ts'

export interface Mistake {
  /** The end of a sentence that begins with the agent. */
  does: string
  changes: readonly Change[]
  /** What the line says that names the cause. */
  cause: RegExp
  /** What the same line says about mending it. */
  help: RegExp
  /** A connection test can't see it. */
  isUntested?: true
}

const RAW_BODY =
  /take the bytes as they came and not what a parser made of them: express\.raw\(\), request\.get_data\(\)/
const FORMULA = /The signed text is the timestamp, a dot and the raw body, in this order/
const HEX = /X-Service-Signature is 64 lower-case hex digits and nothing else: digest\('hex'\), hexdigest\(\)/
const MILLISECONDS = /the Unix time in milliseconds, 13 digits: Date\.now\(\) in JavaScript/
const REFUSES = 'refuses webhooks that are signed rightly, and takes one that is signed wrongly'

const express: readonly Mistake[] = [
  {
    does: 'verifies the object that the parser has made of the body',
    changes: [['signatureOf(timestamp, request.rawBody)', 'signatureOf(timestamp, request.body)']],
    cause: RegExp(`${REFUSES}\\. What was signed in the place of the body is \\[object Object\\]: it was an object`),
    help: RAW_BODY,
  },
  {
    does: 'has the secret of another agent',
    changes: [['MARKETPLACE_WEBHOOK_SECRET: secret', 'SECRET_OF_ANOTHER: secret']],
    cause: RegExp(`${REFUSES}\\. The key was the secret of another agent, sample-agent`),
    help: /Give each agent its own secret, and look which one this process reads/,
  },
  {
    does: 'writes the time of a callback in seconds',
    changes: [['const timestamp = String(Date.now())', 'const timestamp = String(Math.floor(Date.now() / 1000))']],
    cause: /X-Service-Timestamp is in seconds/,
    help: MILLISECONDS,
  },
  {
    does: 'writes digests in base64',
    changes: [[".digest('hex')", ".digest('base64')"]],
    cause: RegExp(`${REFUSES}\\. X-Service-Signature is base64`),
    help: HEX,
  },
  {
    does: 'sends callbacks without saying that they are JSON',
    changes: [["    'Content-Type': 'application/json',\n", '']],
    cause: /Send this body as application\/json/,
    help: /add the header Content-Type: application\/json/,
  },
  {
    does: 'builds the address of a callback itself, and wrongly',
    changes: [['fetch(callbackUrl,', "fetch(callbackUrl.replace('/agent/', '/'),"]],
    cause: /Nothing is at \/api\/(?:tasks|test)\/\w+\/callback/,
    help: /Callbacks go to data\.callbackUrl of the webhook, as it stands/,
  },
]

const python: readonly Mistake[] = [
  {
    does: 'verifies the body as json.dumps writes it anew',
    changes: [
      [
        'compare_digest(signature_of(timestamp, body)',
        'compare_digest(signature_of(timestamp, json.dumps(json.loads(body)).encode())',
      ],
    ],
    cause: RegExp(`${REFUSES}\\. What was signed is the body as json\\.dumps of Python writes it anew`),
    help: RAW_BODY,
  },
  {
    does: 'reads its secret from a file, line break included',
    changes: [['os.environ["MARKETPLACE_WEBHOOK_SECRET"].encode()', 'open("secret.txt", "rb").read()']],
    cause: RegExp(`${REFUSES}\\. The key was the secret with a line break behind it`),
    help: /Read the secret without quotes, spaces and line breaks/,
  },
  {
    does: 'signs other white space than it sends',
    changes: [
      [
        '"X-Service-Signature": signature_of(timestamp, body)',
        '"X-Service-Signature": signature_of(timestamp, json.dumps(json.loads(body), separators=(",", ":")).encode())',
      ],
    ],
    cause: /What was signed is the body as .* writes it anew/,
    help: /sign these bytes and send these very bytes/,
  },
  {
    does: 'leaves the time out of what is signed',
    changes: [['timestamp.encode() + b"." + body', 'body']],
    cause: RegExp(`${REFUSES}\\. The body was signed alone, without the timestamp`),
    help: FORMULA,
  },
  {
    does: 'puts a prefix before the digest',
    changes: [['"X-Service-Signature": signature_of', '"X-Service-Signature": "sha256=" + signature_of']],
    cause: /X-Service-Signature begins with sha256=/,
    help: HEX,
  },
  {
    does: 'delivers what it has not accepted',
    changes: [['        answer(task, "accept")\n        answer(task, "deliver"', '        answer(task, "deliver"']],
    cause: /A task that is pending can't be delivered/,
    help: /An agent accepts, then delivers/,
    isUntested: true,
  },
]

const go: readonly Mistake[] = [
  {
    does: 'verifies the body as json.Marshal writes it anew',
    changes: [
      [
        '	return hmac.Equal([]byte(signatureOf(timestamp, body))',
        '	var parsed map[string]interface{}\n	json.Unmarshal(body, &parsed)\n	again, _ := json.Marshal(parsed)\n' +
          '	return hmac.Equal([]byte(signatureOf(timestamp, again))',
      ],
    ],
    cause: RegExp(`${REFUSES}\\. What was signed is the body as json\\.Marshal of Go with a map writes it anew`),
    help: RAW_BODY,
  },
  {
    does: 'decodes its secret',
    changes: [
      [
        'var secret = []byte(os.Getenv("MARKETPLACE_WEBHOOK_SECRET"))',
        'var secret, _ = base64.StdEncoding.DecodeString(strings.TrimPrefix(os.Getenv("MARKETPLACE_WEBHOOK_SECRET"), "whsec_"))',
      ],
      ['	"encoding/hex"', '	"encoding/base64"\n	"encoding/hex"'],
    ],
    cause: RegExp(`${REFUSES}\\. The key was the bytes that the base64 of the secret stands for`),
    help: /The key is the whole secret as a text, from whsec_ to its last =/,
  },
  {
    does: 'writes the time of a callback in nanoseconds',
    changes: [['time.Now().UnixMilli()', 'time.Now().UnixNano()']],
    cause: /X-Service-Timestamp is in nanoseconds/,
    help: MILLISECONDS,
  },
  {
    does: 'signs without the dot',
    changes: [['timestamp + "."', 'timestamp']],
    cause: RegExp(`${REFUSES}\\. There was no dot between timestamp and body`),
    help: FORMULA,
  },
  {
    does: 'redirects to the same path with a slash',
    changes: [['HandleFunc("/webhook"', 'HandleFunc("/webhook/"']],
    cause: /Redirects are not followed/,
    help: /It leads to \/webhook\/ \..* or give dev the URL that it leads to/,
  },
  {
    does: 'panics before it answers',
    changes: [['w.WriteHeader(http.StatusOK)', 'panic("out of ideas")']],
    cause: /closed the connection without a whole answer/,
    help: /Look at what the agent itself has printed/,
  },
]

/** By the name of the agent. */
export const mistakes: Readonly<Record<string, readonly Mistake[]>> = { express, python, go }
