/** The pages that are looked at first, and what they share. */
export { default as Clock } from './clock.tsx'
export { default as Overview } from './overview.tsx'
