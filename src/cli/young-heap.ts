/** The space of V8 for young objects, which doubles twice while a large program is loaded, up to three times 16 MB, and never shrinks. */
import { setFlagsFromString } from 'node:v8'

/** Call it before the rest is loaded. A version that does not know a flag ignores it. */
export const keepYoungSmall = (): void => setFlagsFromString('--semi-space-growth-factor=1')

/** From now on it grows with what there is to do. */
export const letYoungGrow = (): void => setFlagsFromString('--semi-space-growth-factor=2')
