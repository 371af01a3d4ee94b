/** The signed text as it is to be, beside what was taken for it: shown where a mistake is known by its cause. */
import type { CallReply } from '../../client/client.ts'
import { Icon } from '../parts/icons.tsx'
import { Text } from '../parts/words.tsx'

type Exchange = CallReply<'getExchange'>
type Cause = NonNullable<Exchange['diagnosis']>['cause']

interface CompareProps {
  cause: Cause
  of: Exchange
}

/** A part of a text; `no`: it is left out. */
interface Part {
  readonly text: string
  readonly mark?: 'other' | 'no'
}

/** Its beginning tells it: bytes are below. */
const BEGINNING = 60

/** By the parts of what is right: what is there instead. */
const MISTAKES: Readonly<Partial<Record<Cause, (time: string, body: Part) => readonly Part[]>>> = {
  body_alone: (_, body) => [{ text: 'timestamp and dot', mark: 'no' }, body],
  no_dot: (time, body) => [{ text: time }, { text: 'dot', mark: 'no' }, body],
  other_order: (time, body) => [{ ...body, mark: 'other' }, { text: '.' }, { text: time, mark: 'other' }],
  body_not_signed: time => [{ text: time }, { text: 'body', mark: 'no' }],
  empty_body: time => [{ text: time }, { text: '.' }, { text: 'body', mark: 'no' }],
  seconds: (time, body) => [{ text: String(Math.floor(Number(time) / 1000)), mark: 'other' }, { text: '.' }, body],
}

/** null: the cause is none that shows in the text, or the text is not there. */
export function Compare({ cause, of: { direction, requestHeaders, requestBody } }: CompareProps) {
  const time = requestHeaders.find(({ name }) => /^x-service-timestamp$/i.test(name))?.value
  const mistake = MISTAKES[cause]
  if (!mistake || time === undefined || requestBody.encoding !== 'text') return null
  const { content } = requestBody
  const body = { text: content.length > BEGINNING ? `${content.slice(0, BEGINNING)}…` : content }
  const taken = mistake(time, body)
  const missing = taken.some(({ mark }) => mark === 'no')
  const isIn = (text: string) => taken.some(part => part.text === text && !part.mark)
  return (
    // biome-ignore lint/a11y/useSemanticElements: a fieldset is for what is filled in
    <div class="diff" role="group" aria-label="The signed texts compared">
      <div>
        <span class="h">
          <Icon name="check" />
          what is to be signed
        </span>
        <span class="v">
          {[time, '.', body.text].map((text, at) =>
            isIn(text) ? <Text key={at}>{text}</Text> : <ins key={at}>{<Text>{text}</Text>}</ins>,
          )}
        </span>
      </div>
      <div>
        <span class="h">
          <Icon name="failed" />
          {direction === 'webhook' ? 'what the agent takes' : 'what the agent signed'}
          {missing && <span class="vh">, with something left out</span>}
        </span>
        <span class="v">
          {taken.map(({ text, mark }, at) =>
            mark ? (
              <del key={at}>{mark === 'no' ? `no ${text} ` : <Text>{text}</Text>}</del>
            ) : (
              <Text key={at}>{text}</Text>
            ),
          )}
        </span>
      </div>
    </div>
  )
}
