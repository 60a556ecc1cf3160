/** Web, scheduler and bot in one process: the embedded default. */
import { runProcess } from './run.ts'

await runProcess(['web', 'scheduler', 'bot'])
