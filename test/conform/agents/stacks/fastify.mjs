import fastify from 'fastify'
import { endInOrder, handle, LONGEST, resume } from './core.mjs'

const app = fastify({ bodyLimit: LONGEST })
app.removeAllContentTypeParsers()
app.addContentTypeParser('*', { parseAs: 'buffer' }, (_request, body, done) => done(null, body))
app.post('/*', async ({ headers, body }, reply) => reply.code(handle(headers, body ?? Buffer.alloc(0))).send())
resume()
await app.listen({ port: Number(process.env.PORT), host: '127.0.0.1' })
endInOrder(app.server)
