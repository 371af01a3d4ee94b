/** A command was used wrongly: exit code 2. */
export class UsageError extends Error {}
