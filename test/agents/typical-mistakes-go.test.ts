// engines: embedded; process: own; lengths: long
import { playMistakes } from './typical-plays.ts'

playMistakes({ file: 'agent.go', command: 'go run agent.go' })
