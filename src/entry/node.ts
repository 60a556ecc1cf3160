/** The web role on Node, for split deployments. */
import { runProcess } from '#src/run.ts'

await runProcess(['web'])
