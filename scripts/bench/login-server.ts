/** The service as `src/main.ts` runs it, in a process that notes the stalls of its event loop in the file LAG_FILE. */
import { recordStalls } from './lag.ts'

recordStalls(process.env.LAG_FILE as string)
await import('#src/main.ts')
