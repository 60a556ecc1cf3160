/** The thread of SSH connections, which tells whether it has loaded the SSH library, and hangs or dies when it is told to. */
import { createRequire } from 'node:module'
import '#src/entry/ssh-worker.ts'
import type { Aside } from './ssh-driver.ts'

const HANG_MS = 8000

const channel = new BroadcastChannel('ssh-driver') as BroadcastChannel & { unref?(): void }
channel.onmessage = ({ data }: { data: Aside }) => {
  if (data === 'is it loaded?') {
    const { cache } = createRequire(import.meta.url)
    channel.postMessage(Object.keys(cache).some((path) => path.includes('/ssh2/')))
  }
  if (data === 'hang') for (const end = performance.now() + HANG_MS; performance.now() < end; );
  if (data === 'throw') throw new Error('a fault of its own')
  if (data === 'fill') for (const all: object[] = []; ; ) all.push({ all: all.length })
}
channel.unref?.()
