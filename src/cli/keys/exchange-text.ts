/** Shows one exchange as it went over the wire. What came from outside can't steer the terminal. */
import type { ExchangeDetails } from '../../api/exchange-records.ts'
import { nextSteps } from '../connection/next-steps.ts'
import { plain, type Ui } from '../output/ui.ts'

/** Of one body: more is in the answer of the command below it. */
const MOST_CHARACTERS = 2_000
const MOST_LINES = 30

export function exchangeText({ colour }: Ui, exchange: ExchangeDetails): string[] {
  const { direction, method, url, status, error, ms } = exchange
  const { requestHeaders, requestBody, responseHeaders, responseBody } = exchange
  const mark = direction === 'webhook' ? '→' : '←'
  const [request, isRequestWhole] = bodyLines(requestBody)
  const [response, isResponseWhole] = bodyLines(responseBody)
  return [
    '',
    colour.bold(plain(`${mark} ${method} ${url}`)),
    ...requestHeaders.map(({ name, value }) => `${colour.dim(plain(name))}: ${plain(value)}`),
    ...request,
    '',
    colour.bold(status === null ? 'No response' : `${status}`) + colour.dim(`  ${ms} ms`),
    ...(error === null ? [] : [colour.red(plain(error))]),
    ...responseHeaders.map(({ name, value }) => `${colour.dim(plain(name))}: ${plain(value)}`),
    ...response,
    ...(isRequestWhole && isResponseWhole
      ? []
      : ['', `All of it: ${colour.cyan(nextSteps.showExchange(exchange.id))}`]),
    '',
  ]
}

/** A body as it was sent, line by line, with its control characters replaced; and whether that is all of it. */
function bodyLines({ encoding, content, bytes, cut }: ExchangeDetails['requestBody']): [string[], isWhole: boolean] {
  if (bytes === 0) return [[], true]
  if (encoding === 'base64') return [['', `${bytes} bytes that are no text`], false]
  const lines = content.slice(0, MOST_CHARACTERS).split('\n').slice(0, MOST_LINES).map(plain)
  const isWhole = !cut && content.length <= MOST_CHARACTERS && content.split('\n').length <= MOST_LINES
  return [['', ...lines, ...(isWhole ? [] : [`… ${bytes} bytes`])], isWhole]
}
