import { createServer } from 'node:http'
import { listen, serve } from './core.mjs'

listen(createServer(serve))
