// engines: embedded; process: own; lengths: short, long
import { suite } from 'uvu'
import { playMistakes } from './typical-plays.ts'

const test = suite('typical mistakes, in Node')

playMistakes(test, { file: 'agent.mjs', command: 'node agent.mjs' })

test.run()
