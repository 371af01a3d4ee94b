/** How the User-Agent of the program's own commands begins. A simulator does not show their polling. */

export const COMMAND_LINE = 'marketplace-cli/'

/** Writes any text as one word of a POSIX shell. */
export const shellWord = (text: string) => `'${text.replaceAll("'", "'\\''")}'`

/** The same, without quotes where a shell needs none: for lines that people read. */
export const plainShellWord = (text: string) => (/^[\w@%+=:,./-]+$/.test(text) ? text : shellWord(text))

/** The same for PowerShell, to which typographic quotes are quotes too. */
export const pwshWord = (text: string) => `'${text.replace(/['\u2018-\u201b]/g, '$&$&')}'`
