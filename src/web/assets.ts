/** The files that pages load, as they stand in the package. */
import { readFile } from 'node:fs/promises'

/** At the same relative path from src and from dist. */
const folder = new URL('../../fixtures/', import.meta.url)

export const readAsset = (name: string): Promise<Buffer> => readFile(new URL(name, folder))
