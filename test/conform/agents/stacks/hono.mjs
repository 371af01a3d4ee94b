import { createServer } from 'node:http'
import { getRequestListener } from '@hono/node-server'
import { Hono } from 'hono'
import { bodyLimit } from 'hono/body-limit'
import { handle, LONGEST, listen } from './core.mjs'

const app = new Hono()
app.post('*', bodyLimit({ maxSize: LONGEST }), async context => {
  const headers = Object.fromEntries(context.req.raw.headers)
  return context.body(null, handle(headers, Buffer.from(await context.req.arrayBuffer())))
})
app.all('*', context => context.body(null, 405))
app.onError((_error, context) => context.body(null, 400))
listen(createServer(getRequestListener(app.fetch)))
