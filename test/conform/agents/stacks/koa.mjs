import { createServer } from 'node:http'
import Koa from 'koa'
import { bodyOf, handle, listen } from './core.mjs'

const app = new Koa()
app.silent = true
app.use(async context => {
  if (context.method !== 'POST') {
    context.status = 405
    return
  }
  const body = await bodyOf(context.req)
  context.body = ''
  context.status = body ? handle(context.headers, body) : 413
})
listen(createServer(app.callback()))
