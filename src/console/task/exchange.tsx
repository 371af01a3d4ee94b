/** One webhook or callback of a simulator, byte for byte: what was sent and what came back, and what is wrong in it. */
import type { ComponentChildren } from 'preact'
import type { DiagnosisRecord } from '../../api/diagnosis/record.ts'
import type { CallReply } from '../../client/client.ts'
import { api } from '../api.ts'
import { type Loaded, useData } from '../data.ts'
import { type Body, Bytes, Headers } from '../parts/bytes.tsx'
import { Section } from '../parts/drawer.tsx'
import { Command, Copy, Diagnosis, Failed, Loading } from '../parts/say.tsx'
import { count } from '../parts/words.tsx'
import { Compare } from './compare.tsx'

type Details = CallReply<'getExchange'>

/** null: there is none, or it is not kept. */
export const useExchange = (id: string | null, again: unknown) =>
  useData<Details | undefined>(id ?? '', async signal => (id ? api.getExchange({ id }, { signal }) : undefined), again)

interface WrongProps {
  of: DiagnosisRecord
  exchange: Details | undefined
}

export const WhatWentWrong = ({ of, exchange }: WrongProps) => (
  <Diagnosis of={of}>
    {exchange && <Compare cause={of.cause} of={exchange} />}
    {of.commands.map(command => (
      <Command key={command}>{`npx agent-marketplace ${command}`}</Command>
    ))}
  </Diagnosis>
)

export function Exchange({ data, error, reload }: Loaded<Details | undefined>) {
  if (error) return <Failed what="The bytes could not be read." error={error} again={reload} />
  return data ? <RawExchange of={data} /> : <Loading />
}

/** What a marketplace keeps is less than what a simulator records: `note` says so, and without a body there is none any more. */
interface RawProps {
  of: Pick<Details, 'method' | 'url' | 'requestHeaders' | 'responseHeaders'> & {
    readonly requestBody: Body | null
    readonly responseBody: Body | null
  }
  note?: ComponentChildren
}

export const RawExchange = ({ of, note }: RawProps) => (
  <>
    <Section name="Request headers" beside={of.requestHeaders.length}>
      <Headers headers={of.requestHeaders} />
      {note}
    </Section>
    <Section name="Request body" beside={of.requestBody && count(of.requestBody.bytes, 'byte')}>
      {of.requestBody ? (
        <Bytes label="Request body" body={of.requestBody} />
      ) : (
        <p class="q">It was deleted, some time after the end of the delivery.</p>
      )}
    </Section>
    {of.responseBody && (
      <Section name="Response" beside={count(of.responseBody.bytes, 'byte')}>
        <Headers headers={of.responseHeaders} />
        <Bytes label="Response body" body={of.responseBody} />
      </Section>
    )}
    {of.requestBody && (
      <div class="in row">
        <Copy text={() => curlOf(of, of.requestBody!)} label="as curl">
          Copy as curl
        </Copy>
      </div>
    )}
  </>
)

const quoted = (text: string) => `'${text.replaceAll("'", "'\\''")}'`
/** curl makes these itself. */
const OWN = /^(?:host|content-length|connection|transfer-encoding|accept-encoding)$/i

function curlOf({ method, url, requestHeaders }: RawProps['of'], { encoding, content }: Body): string {
  const headers = requestHeaders
    .filter(({ name }) => !OWN.test(name))
    .map(({ name, value }) => `-H ${quoted(`${name}: ${value}`)}`)
  const body = encoding === 'text' ? ['--data-binary', quoted(content)] : ['--data-binary', '@-']
  const line = ['curl', '-i', '-X', method, quoted(url), ...headers, ...body].join(' ')
  return encoding === 'text' ? line : `printf %s ${quoted(content)} | base64 -d | ${line}`
}
