// engines: embedded; process: own; lengths: long
import { suite } from 'uvu'
import { playMistakes } from './typical-plays.ts'

const test = suite('typical mistakes, in Go')

playMistakes(test, { file: 'agent.go', command: 'go run agent.go' })

test.run()
