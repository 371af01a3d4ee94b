/** Agents that are there to be down: what marks them, and by which words it is known that one of them was asked. */

/** Their tag. */
export const DOWN = 'down'

/** Their webhook URL: the discard port of this machine, where nothing listens. */
export const NOWHERE = 'https://localhost:9/webhook'

/** Connection tests, webhooks and mails say this of that URL, and of no other. */
export const NOBODY_THERE = /listens at localhost port 9\b/
