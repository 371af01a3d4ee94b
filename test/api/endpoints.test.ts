// engines: embedded; process: shared
/** The endpoints are those of the matrix of authorization: none without its rows there, and no rows without theirs. */
import { test } from 'uvu'
import { endpoints } from '../../src/api/endpoints/index.ts'
import { endpointOf, rows } from '../support/authorization-matrix.ts'
import { sameNames } from '../support/same-names.ts'

const served = Object.values(endpoints).map(({ method, path }) => `${method} ${path}`)

test('every endpoint has its row in the matrix of authorization, and every row its endpoint', () => {
  sameNames(new Set(rows.map(endpointOf)), served, 'rows are those of fixtures/authorization.json')
})

test('no method and path stand for two endpoints', () => {
  sameNames(served, new Set(served))
})

test.run()
