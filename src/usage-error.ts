/** What was asked for can't be done as it was asked: exit code 2. */
export class UsageError extends Error {}
