// engines: embedded; process: shared
/** Signs that steer a terminal, of whoever has written them: none is printed, by whatever a command prints with. */
import { test } from 'uvu'
import * as assert from 'uvu/assert'
import { loadColours } from '../../src/cli/output/colours.ts'
import { createUi, fit, giveSecretsIn, plain } from '../../src/cli/output/ui.ts'

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

test('no line, row, table or object has one, and colours and line ends stay', async () => {
  await loadColours(true)
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
  const safe = fit(text, { json: true })
  assert.equal(JSON.parse(safe), { foreign })
  for (const sign of signs) assert.not.ok(safe.includes(sign))
  assert.is(safe.split('\n').length, 3)
})

test('what is taken from a text is in sight, but for ends of lines', () => {
  assert.is(fit('a\r\nb\tc'), 'a \nb\tc')
  assert.is(plain('a\r\nb\tc\u001b[2J\u202e'), 'a  b c\\u001b[2J\\u202e')
})

test('secrets are cut short, in whatever they are printed, until they are given', () => {
  const secret = 'whsec_0123456789abcdefghijklmnopqrstuv'
  const all = (ui: ReturnType<typeof createUi>) => {
    ui.line(`it is ${secret}`)
    ui.raw(secret)
    ui.table([[secret, `postgres://a:${secret}@host/x`]])
    ui.json({ secret, authorization: `Bearer ${secret}` })
  }
  const cut = printed(false, all)
  assert.not.ok(cut.includes(secret.slice(0, 12)))
  assert.match(cut, 'it is whsec_0123…\n')
  assert.match(cut, 'postgres://a:…@host/x')
  // A narrow terminal has no room for all of it in one row.
  const rows: string[] = []
  createUi({ isTTY: true, columns: 24, write: text => rows.push(text) }, false).line(`it is ${secret}`)
  assert.not.ok(rows.join('').replaceAll('\n', '').includes(secret.slice(0, 12)), rows.join(''))
  giveSecretsIn({ secret })
  assert.match(printed(false, all), `it is ${secret}\n`)
})

test.run()
