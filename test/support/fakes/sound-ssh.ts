/** An SSH server that answers each call with 100 bytes, in a process of its own: beside a hostile one it would wait for that. */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { generateManagementKey } from '#src/integrations/nodes/management-key.ts'
import { startPiecesServer } from './hostile-ssh.ts'

/** Starts one; `close` ends it. */
export async function startSoundServer() {
  const child = spawn(process.execPath, [import.meta.filename], {
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [port] = await Promise.race([
    once(createInterface({ input: child.stdout }), 'line'),
    once(child, 'exit'),
  ])
  return { port: Number(port), close: () => child.kill('SIGKILL') }
}

if (import.meta.main) {
  const { privateKey } = await generateManagementKey()
  const { port } = await startPiecesServer(privateKey, { pieceBytes: 100, answerBytes: 100 })
  console.log(port)
}
