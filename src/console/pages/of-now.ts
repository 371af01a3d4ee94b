/** What happens now, and the clock of a simulator. */
export { default as Clock } from './clock.tsx'
export { default as Overview } from './overview.tsx'
