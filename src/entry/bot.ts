/** The bot role, for split deployments. */
import { runProcess } from '#src/run.ts'

await runProcess(['bot'])
