/** A way from the lab's machine to a server of the test's own process, which is in another network namespace: a socket file. */
import { connect, createServer, type Server } from 'node:net'
import { join } from 'node:path'
import { type Lab, until } from './lab.ts'
import { runtimeBinary } from './service.ts'

/** Runs on the lab's machine: what comes to a port goes to the socket file. */
const RELAY = `
const [file, port] = process.argv.slice(1)
require('node:net').createServer((from) => {
  const to = require('node:net').connect(file)
  from.pipe(to).pipe(from)
  from.on('error', () => to.destroy())
  to.on('error', () => from.destroy())
}).listen(Number(port), '127.0.0.1', () => console.log('relaying'))`

export interface Bridge {
  /** The server's address as the lab's machine sees it. */
  url: string
  close(): void
}

/** Makes `url`, a server on loopback, known on the lab's machine at a port of its loopback. */
export async function bridge(lab: Lab, url: string, port: number): Promise<Bridge> {
  const file = join(lab.dir, `bridge-${port}.sock`)
  const { hostname, port: ownPort, pathname } = new URL(url)
  const server: Server = createServer((from) => {
    const to = connect(Number(ownPort), hostname)
    from.pipe(to).pipe(from)
    from.on('error', () => to.destroy())
    to.on('error', () => from.destroy())
  })
  await new Promise<void>((done) => server.listen(file, done))
  const relay = lab.spawn(runtimeBinary('node'), ['-e', RELAY, file, String(port)])
  await until('the bridge stands', () => relay.output().includes('relaying'))
  return {
    url: `http://127.0.0.1:${port}${pathname === '/' ? '' : pathname}`,
    close: () => server.close(),
  }
}
