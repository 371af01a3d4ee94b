/** How the User-Agent of the program's own commands begins. A simulator does not show their polling. */
export const COMMAND_LINE = 'marketplace-cli/'
