// engines: embedded; process: own; lengths: short, long
import { playMistakes } from './typical-plays.ts'

playMistakes({ file: 'agent.mjs', command: 'node agent.mjs' })
