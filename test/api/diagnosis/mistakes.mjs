// The same in JavaScript; see mistakes.py.
// biome-ignore-all lint/suspicious/noTemplateCurlyInString: the code of the mistakes is quoted
import crypto, { createHash, createHmac } from 'node:crypto'

const chunks = []
for await (const chunk of process.stdin) chunks.push(chunk)
const given = JSON.parse(Buffer.concat(chunks).toString())

const RIGHT = "signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('hex')"
const mistakes = [
  [null, RIGHT],
  ['previous_secret', `secret = previous\n${RIGHT}`],
  ['other_agents_secret', `secret = other\n${RIGHT}`],
  ['no_prefix', `secret = secret.slice('whsec_'.length)\n${RIGHT}`],
  ['decoded_secret', `secret = Buffer.from(secret.slice(6), 'base64')\n${RIGHT}`],
  ['decoded_secret', `secret = Buffer.from(secret, 'base64')\n${RIGHT}`],
  ['secret_whitespace', `secret = secret + '\\n' // readFileSync('secret.txt', 'utf8')\n${RIGHT}`],
  ['quoted_secret', `secret = "'" + secret + "'" // docker --env-file keeps quotes\n${RIGHT}`],
  ['cut_secret', `secret = ('SECRET=' + secret).split('=')[1]\n${RIGHT}`],
  ['encoded_secret', `secret = encodeURIComponent(secret)\n${RIGHT}`],
  ['encoded_secret', `secret = btoa(secret) // as Kubernetes stores it\n${RIGHT}`],
  ['no_secret', `secret = \`\${process.env.NO_SUCH_VARIABLE}\`\n${RIGHT}`],
  [
    'parsed_body',
    `body = JSON.stringify(task, null, 2)\nsignature = createHmac('sha256', secret).update(\`\${ts}.\${JSON.stringify(JSON.parse(body))}\`).digest('hex')`,
  ],
  [
    'parsed_body',
    `signature = createHmac('sha256', secret).update(\`\${ts}.\${JSON.stringify(task, null, 2)}\`).digest('hex')`,
  ],
  [
    'parsed_body',
    `const sorted = Object.fromEntries(Object.entries(task).sort())\nsignature = createHmac('sha256', secret).update(\`\${ts}.\${JSON.stringify(sorted)}\`).digest('hex')`,
  ],
  ['stringified_body', "signature = createHmac('sha256', secret).update(`${ts}.${task}`).digest('hex')"],
  [
    'stringified_body',
    "signature = createHmac('sha256', secret).update(`${ts}.${JSON.stringify(body)}`).digest('hex')",
  ],
  [
    'stringified_body',
    "signature = createHmac('sha256', secret).update(`${ts}.${JSON.stringify(Buffer.from(body))}`).digest('hex')",
  ],
  ['body_not_signed', "signature = createHmac('sha256', secret).update(`${ts}.${undefined}`).digest('hex')"],
  ['body_not_signed', "signature = createHmac('sha256', secret).update(`${ts}.${JSON.stringify({})}`).digest('hex')"],
  ['line_break', "signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('hex')\nbody += '\\n'"],
  [
    'line_ends',
    "body = JSON.stringify(task, null, 2)\nsignature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('hex')\nbody = body.replaceAll('\\n', '\\r\\n')",
  ],
  ['bom', "signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('hex')\nbody = '\\ufeff' + body"],
  ['encoding', "signature = createHmac('sha256', secret).update(`${ts}.${body}`, 'latin1').digest('hex')"],
  [
    'encoding',
    "signature = createHmac('sha256', secret).update(`${ts}.${Buffer.from(body).toString('binary')}`).digest('hex')",
  ],
  ['seconds', `ts = String(Math.floor(Date.now() / 1000))\n${RIGHT}`],
  ['iso_timestamp', `ts = new Date(Date.now()).toISOString()\n${RIGHT}`],
  ['malformed_timestamp', `ts = String(new Date(Number.NaN))\n${RIGHT}`],
  [
    'other_timestamp_signed',
    "signature = createHmac('sha256', secret).update(`${new Date(Date.now()).toISOString()}.${body}`).digest('hex')",
  ],
  [
    'other_timestamp_signed',
    "signature = createHmac('sha256', secret).update(`${Math.floor(Date.now() / 1000)}.${body}`).digest('hex')",
  ],
  ['clock_read_twice', "signature = createHmac('sha256', secret).update(`${Date.now() - 1}.${body}`).digest('hex')"],
  ['stale', `ts = String(Date.now() - 301_000)\n${RIGHT}`],
  ['future', `ts = String(Date.now() + 301_000)\n${RIGHT}`],
  ['no_dot', "signature = createHmac('sha256', secret).update(ts + body).digest('hex')"],
  ['other_separator', "signature = createHmac('sha256', secret).update([ts, body].join('|')).digest('hex')"],
  ['body_alone', "signature = createHmac('sha256', secret).update(body).digest('hex')"],
  ['other_order', "signature = createHmac('sha256', secret).update(`${body}.${ts}`).digest('hex')"],
  ['base64_digest', "signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('base64')"],
  ['base64_digest', "signature = createHmac('sha256', secret).update(`${ts}.${body}`).digest('base64url')"],
  ['base64_digest', `${RIGHT}\nsignature = btoa(signature)`],
  ['upper_case_digest', `${RIGHT}\nsignature = signature.toUpperCase()`],
  ['prefixed_digest', `${RIGHT}\nsignature = 'sha256=' + signature`],
  ['prefixed_digest', `${RIGHT}\nsignature = 'v1,' + signature`],
  ['other_hash', "signature = createHmac('sha1', secret).update(`${ts}.${body}`).digest('hex')"],
  ['other_hash', "signature = createHmac('sha512', secret).update(`${ts}.${body}`).digest('base64')"],
  ['plain_hash', "signature = createHash('sha256').update(secret + ts + '.' + body).digest('hex')"],
  ['plain_hash', "signature = createHash('sha256').update(`${ts}.${body}${secret}`).digest('hex')"],
  ['plain_hash', "signature = createHash('sha256').update(`${ts}.${body}`).digest('hex')"],
  ['swapped_hmac', "signature = createHmac('sha256', `${ts}.${body}`).update(secret).digest('hex')"],
  ['misspelt_header', `${RIGHT}\nheaders = { 'X-Service-Timestamp': ts, 'X-Service-Signatur': signature }`],
  [
    'misspelt_header',
    `${RIGHT}\nheaders = { 'X-Service-Timestamp': ts, 'X-Hub-Signature-256': 'sha256=' + signature }`,
  ],
  ['missing_header', `${RIGHT}\nheaders = { 'X-Service-Timestamp': ts }`],
  ['secret_sent', 'signature = secret'],
  // Two at once.
  [
    'decoded_secret',
    "signature = createHmac('sha256', Buffer.from(secret.slice(6), 'base64')).update(body).digest('hex')",
  ],
  [
    'no_prefix',
    `secret = secret.slice(6)\nsignature = createHmac('sha256', secret).update(\`\${ts}.\${JSON.stringify(task, null, 2)}\`).digest('base64')`,
  ],
]

const Clock = class extends Date {
  static now = () => given.now
}

for (const [cause, code] of mistakes) {
  const { secret, previous, other, task } = given
  const run = new Function(
    ...[
      'secret',
      'previous',
      'other',
      'task',
      'ts',
      'body',
      'signature',
      'headers',
      'Date',
      'createHmac',
      'createHash',
      'crypto',
    ],
    `${code}\nreturn { ts, body, signature, headers }`,
  )
  const body = JSON.stringify(task)
  const made = run(
    secret,
    previous,
    other,
    task,
    String(given.now),
    body,
    '',
    null,
    Clock,
    createHmac,
    createHash,
    crypto,
  )
  const headers = made.headers ?? { 'X-Service-Timestamp': made.ts, 'X-Service-Signature': made.signature }
  const sent = Buffer.from(made.body).toString('base64')
  console.log(JSON.stringify({ language: 'JavaScript', cause, code, headers: Object.entries(headers), body: sent }))
}
