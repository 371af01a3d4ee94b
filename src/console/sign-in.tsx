/** Signing in: one click in a simulator, an email and a password elsewhere. */
import { Brand } from './shell.tsx'

export function SignIn() {
  return (
    <div class="gate">
      <main id="main">
        <Brand />
        <h1>Sign in</h1>
      </main>
    </div>
  )
}
