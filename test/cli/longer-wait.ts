/** Commands that wait a short time for an agent: on a slow machine it may answer later than that, and they are given more. */

/** What a command says with a short wait, or with a long one if the first is not what was expected. */
export async function withWait<Said>(
  short: string,
  ask: (wait: string) => Promise<Said>,
  isSo: (said: Said) => boolean,
): Promise<Said> {
  const said = await ask(short)
  return isSo(said) ? said : ask('30s')
}
