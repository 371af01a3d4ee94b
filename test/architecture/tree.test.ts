// engines: embedded; process: shared
/** The tree in docs/architecture.md names what there is. */
import { readdirSync, readFileSync } from 'node:fs'
import { test } from 'uvu'
import * as assert from 'uvu/assert'

/** Folders of src by their paths, and its files that lie in no room. */
const rooms = readdirSync('src', { withFileTypes: true }).flatMap(entry =>
  entry.isDirectory()
    ? [
        entry.name,
        ...readdirSync(`src/${entry.name}`, { withFileTypes: true }).flatMap(one =>
          one.isDirectory() ? [one.name] : [],
        ),
      ]
    : [entry.name],
)

test('the tree of the architecture has each room, shelf and file outside of a room', () => {
  const [, tree] = readFileSync('docs/architecture.md', 'utf8').split('bin/marketplace.js   loads')
  const missing = (text: string) =>
    rooms.filter(name => !new RegExp(`(?<![\\w.-])${name}(?:/|(?<=\\.ts))(?!\\w)`).test(text))
  assert.equal(missing(tree!.split('examples/')[0]!), [])
  assert.ok(rooms.includes('doctor') && rooms.includes('index.ts'))
  assert.equal(missing(tree!.replace('doctor/', '').replaceAll('index.ts', '')), ['doctor', 'index.ts'])
})

test.run()
