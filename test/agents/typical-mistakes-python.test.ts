// engines: embedded; process: own; lengths: long
import { playMistakes } from './typical-plays.ts'

playMistakes({ file: 'agent.py', command: 'python3 agent.py' })
