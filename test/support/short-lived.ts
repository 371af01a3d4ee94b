/**
 * For processes that live for seconds, as those of tests do. V8 compiles WebAssembly once, not a second time to make it
 * faster, optimises JavaScript only after nine times as much work, and compiles a function when it is first called. A start
 * of `dev` and its end cost 0.78 s of CPU so, 1.00 with the first alone; ten test files 44 s instead of 49.
 */
export const SHORT_LIVED: readonly string[] = ['--liftoff-only', '--interrupt-budget=600000', '--max-lazy']
