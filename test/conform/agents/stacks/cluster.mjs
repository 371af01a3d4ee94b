// Two processes behind one port, with the files for their store.
import cluster from 'node:cluster'
import { createServer } from 'node:http'
import { endInOrder, resume, serve } from './core.mjs'

if (cluster.isPrimary) {
  const workers = [cluster.fork({ RESUMES: 'yes' }), cluster.fork()]
  process.on('SIGTERM', () => {
    for (const worker of workers) worker.process.kill('SIGTERM')
  })
  cluster.on('exit', () => Object.keys(cluster.workers).length === 0 && process.exit())
} else {
  if (process.env.RESUMES) resume()
  const server = createServer(serve)
  endInOrder(server)
  server.listen(process.env.PORT, '127.0.0.1')
}
