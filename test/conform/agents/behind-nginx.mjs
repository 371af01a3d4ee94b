// The real nginx, and an agent behind it that comes later. It has a group of its own, as in a deployment, and ends with this process, however that does.
import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

const LATER_MS = 700
// Ports of agents are those from 20,000 to 32,000. One that the system gives may be another's before the agent listens.
const port = Number(process.env.PORT) - 12_000

const folder = mkdtempSync(join(process.env.STATE_DIRECTORY ?? tmpdir(), 'nginx-'))
process.once('exit', () => rmSync(folder, { recursive: true, force: true }))
const temporary = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map(
  name => `${name}_temp_path ${folder}/${name};`,
)
// Other users can't read the folder.
const user = process.getuid() === 0 ? 'user root;' : ''
writeFileSync(
  join(folder, 'nginx.conf'),
  `${user} daemon off; worker_processes 1; pid ${folder}/pid; error_log ${folder}/errors;
  events {}
  http {
    access_log off; ${temporary.join(' ')}
    upstream agent { server 127.0.0.1:${port}; keepalive 8; }
    server {
      listen 127.0.0.1:${process.env.PORT};
      location / { proxy_pass http://agent; proxy_http_version 1.1; proxy_set_header Connection ""; }
    }
  }\n`,
)
const nginx = spawn('sh', ['-c', `nginx -e ${folder}/errors -c ${folder}/nginx.conf & read _; kill -QUIT $!; wait`], {
  detached: true,
  stdio: ['pipe', 'ignore', 'ignore'],
})
const gone = new Promise(resolve => nginx.once('exit', resolve))
const program = new URL(process.argv[2], import.meta.url).pathname
const behind = new Promise(resolve => {
  const start = () => resolve(spawn('node', [program], { env: { ...process.env, PORT: port }, stdio: 'inherit' }))
  setTimeout(start, LATER_MS)
})

// What is asked until the end is answered by the agent.
process.once('SIGTERM', async () => {
  const child = await behind
  const ended = new Promise(resolve => child.once('exit', resolve))
  if (child.exitCode === null && child.kill('SIGTERM')) await ended
  nginx.stdin.end()
  await gone
  process.exit()
})
process.on('SIGTERM', () => {}) // It may come twice.
