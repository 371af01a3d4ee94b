/** How the page looks: by day, by night and on paper. */
export const style = `
:root { color-scheme: light dark; --line: #d0d4da; --soft: #f4f5f7; --ink: #1c1f24; --faint: #565c66; --red: #a3160f; --amber: #7a5300; --green: #1d6b2b; --paper: #fff }
@media (prefers-color-scheme: dark) { :root { --line: #3b4048; --soft: #23272e; --ink: #e6e8eb; --faint: #a6adb8; --red: #ff9a92; --amber: #f2c063; --green: #86d795; --paper: #16191d } }
* { box-sizing: border-box }
body { margin: 0 auto; max-width: 60rem; padding: 1.5rem; font: 16px/1.5 system-ui, sans-serif; color: var(--ink); background: var(--paper) }
h1 { margin: 0; font-size: 1.5rem } h2 { margin: 2rem 0 .5rem; font-size: 1.15rem }
header p { margin: .15rem 0; color: var(--faint) } .totals { font-size: 1.15rem; font-weight: 600; color: var(--ink) }
table { margin-top: 1.5rem; border-collapse: collapse; font-variant-numeric: tabular-nums } caption { text-align: left; color: var(--faint) }
th, td { padding: .2rem .8rem .2rem 0; text-align: right; border-bottom: 1px solid var(--line) } th[scope=row], th:first-child { text-align: left }
main > details { border: 1px solid var(--line); border-radius: 6px; margin: .4rem 0; padding: .4rem .8rem }
summary { cursor: pointer } .level { color: var(--faint); font-size: .85em }
blockquote { margin: .6rem 0; padding-left: .8rem; border-left: 3px solid var(--line); color: var(--faint) } cite { font-style: normal; font-size: .85em }
code, pre, time { font-family: ui-monospace, monospace; font-size: .88em } pre { overflow-x: auto; padding: .6rem; background: var(--soft); white-space: pre-wrap; overflow-wrap: anywhere }
.timeline { padding-left: 0; list-style: none; font-size: .92em } .timeline li { padding: .1rem .5rem; border-left: 3px solid transparent; overflow-wrap: anywhere } .timeline .evidence { border-left-color: var(--red) } time { color: var(--faint) }
.fail { color: var(--red) } .warn, .inconclusive { color: var(--amber) } h2.pass { color: var(--green) }
@media print { details:not([open]) > *:not(summary) { display: none } }
`
