/** Cuts short what looks like a key or a secret in lines that a program prints of itself. */

// Secrets are never logged on purpose, but a client may put its key into a path, and an error may repeat its input.
const SECRET = /\b(svc_|whsec_)([\w+/-]{4})[\w+/=-]{8,}/g
const BEARER = /\b(bearer +)[\w.~+/=-]{8,}/gi

export const withoutSecrets = (line: string) => line.replace(SECRET, '$1$2…').replace(BEARER, '$1…')
