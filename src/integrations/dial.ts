/** Whether a TCP port answers. */
import { connect } from 'node:net'

/** True when a connection to the port is accepted within the time. */
export function dial(address: string, port: number, timeoutMs: number): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect({ host: address, port })
    const finish = (alive: boolean) => {
      clearTimeout(timer)
      socket.destroy()
      resolve(alive)
    }
    const timer = setTimeout(() => finish(false), timeoutMs)
    socket.on('connect', () => finish(true))
    socket.on('error', () => finish(false))
  })
}
