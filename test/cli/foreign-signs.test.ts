// engines: embedded; process: shared
/** Signs that steer a terminal, of whoever has written them: none is printed, by whatever a command prints with. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { createUi, plainJson, plainLines } from '../../src/cli/output/ui.ts'

const signs = ['\u0000', '\u0007', '\r', '\u001b', '\u009b', '\u0085', '\u2028', '\u202a', '\u202e', '\u2066', '\u2069']
const foreign = `a${signs.join('b')}c\u001b[2Jd\u001b]0;title\u0007e`

function printed(inColour: boolean, print: (ui: ReturnType<typeof createUi>) => void): string {
  let all = ''
  const sink = {
    write(text: string) {
      all += text
    },
  }
  print(createUi(sink, inColour))
  return all
}

test('no line, row, table or object has one, and colours and line ends stay', () => {
  for (const inColour of [false, true]) {
    const all = printed(inColour, ui => {
      ui.line(foreign)
      ui.raw(`${ui.colour.red('red')}\n${foreign}\n\tx`)
      ui.table([[foreign, 'y']])
      ui.json({ [foreign]: foreign })
    })
    for (const sign of signs) assert.not.ok(all.replaceAll('\u001b[31mred\u001b[39m', 'red').includes(sign))
    assert.is(all.includes('\u001b[31mred\u001b[39m\n'), inColour)
    assert.ok(all.includes('\n\tx\n'))
  }
})

test('JSON means the same, and its layout stays', () => {
  const text = JSON.stringify({ foreign }, null, 2)
  assert.equal(JSON.parse(plainJson(text)), { foreign })
  for (const sign of signs) assert.not.ok(plainJson(text).includes(sign))
  assert.is(plainJson(text).split('\n').length, 3)
  assert.is(plainLines('a\r\nb\tc'), 'a \nb\tc')
})

test.run()
