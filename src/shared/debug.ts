/** Debug lines: what a running marketplace tells somebody who looks for a fault, by topic. */

/** `http`: each request. `sql`: each unit of the database. `webhooks`: each attempt. */
export const debugTopics = ['http', 'sql', 'webhooks'] as const
export type DebugTopic = (typeof debugTopics)[number]

/** Takes one line. Never throws; no line holds a body, a secret, a signature, a key or a password. */
export type Debug = (line: Readonly<Record<string, unknown>>) => void

/** What is not here is not watched at all. */
export type DebugSinks = Readonly<Partial<Record<DebugTopic, Debug>>>
