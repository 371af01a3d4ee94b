/** A request that ends when the test says so. */
export const held = { begun() {}, until: Promise.resolve('') }

/** For the next request that asks `held`: when it has begun, and what lets it end. */
export function hold() {
  let release = (_text: string) => {}
  held.until = new Promise(resolve => {
    release = resolve
  })
  const begun = new Promise<void>(resolve => {
    held.begun = resolve
  })
  return { begun, release: (text: string) => release(text) }
}
