/** The web role on Bun, for split deployments. */
import { runProcess } from '#src/run.ts'

await runProcess(['web'])
