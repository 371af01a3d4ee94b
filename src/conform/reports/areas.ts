/** What each area of checks is about. */
export const areas: Readonly<Record<string, string>> = {
  conn: 'The connection test and the heartbeat',
  http: 'The endpoint',
  sig: 'Who speaks',
  bytes: 'Unusual and lawful bodies',
  dup: 'At least once',
  order: 'Order',
  life: 'Tasks and cents',
  cb: 'What the agent sends',
  rel: 'Staying up',
  who: 'Buyers',
  safe: 'Secrets',
  hire: 'Hiring others',
}
