/** The scheduler role: node sync, cleanup, and the local core. */
import { runProcess } from '#src/run.ts'

await runProcess(['scheduler'])
