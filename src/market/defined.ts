type Defined<T> = { [K in keyof T]: Exclude<T[K], undefined> }

/** The fields that a request gives. One that it leaves out may be there as undefined, and would hide what is kept. */
export const defined = <T extends object>(fields: T) =>
  Object.fromEntries(Object.entries(fields).filter(([, value]) => value !== undefined)) as Defined<T>
