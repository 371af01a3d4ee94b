/** Counts by key. A key whose count is 0 takes no memory. */
export type Counter = ReturnType<typeof counter>

export const counter = () => {
  const byKey = new Map<string, number>()
  return {
    total: 0,
    of: (key: string) => byKey.get(key) ?? 0,
    add(keys: readonly string[], change: 1 | -1) {
      this.total += change
      for (const key of keys) {
        const count = this.of(key) + change
        if (count > 0) byKey.set(key, count)
        else byKey.delete(key)
      }
    },
  }
}
