/** The long run: 2,000 crash images, 2,000 changed bytes, every operation failing in every way. Seeds: first argument. */
import { crashes, failures, flips } from '../store/crash.ts'

const seed = Number(process.argv[2] ?? Date.now() % 1_000_000)
console.log(`seed ${seed}`)
await crashes(2000, seed)
console.log('2,000 crash images: nothing lost, no half transaction, no start refused')
console.log('2,000 changed bytes:', await flips(2000, seed))
console.log('runs with a failing operation, all recovered:', await failures(seed))
