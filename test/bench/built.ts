/** Modules as they are shipped: built, with the types of their source. */
export const built = async <T>(path: string): Promise<T> =>
  (await import(new URL(`../../dist/${path}.js`, import.meta.url).href)) as T
