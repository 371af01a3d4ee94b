import { createServer } from 'node:http'
import express from 'express'
import { handle, LONGEST, listen } from './core.mjs'

const app = express()
app.use(express.raw({ type: () => true, limit: LONGEST }))
app.post('/{*path}', ({ headers, body }, response) => response.status(handle(headers, Buffer.from(body ?? ''))).end())
app.use((_request, response) => response.status(405).end())
app.use((error, _request, response, _next) => response.status(error.status ?? 400).end())
listen(createServer(app))
