/** One of several web processes (src/web-processes.ts), which learns from its first process what it is to do. */
import { runPart } from '#src/run.ts'
import type { Part } from '#src/web-processes.ts'

process.once('message', (part: Part) => void runPart(part))
