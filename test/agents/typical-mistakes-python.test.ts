// engines: embedded; process: own; lengths: long
import { suite } from 'uvu'
import { playMistakes } from './typical-plays.ts'

const test = suite('typical mistakes, in Python')

playMistakes(test, { file: 'agent.py', command: 'python3 agent.py' })

test.run()
