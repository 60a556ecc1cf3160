/** Whether a TCP port answers. */
import type { Services } from '#src/services.ts'
import type { Connect } from './outbound-connect.ts'

/** True when a connection to the port is accepted within the time. */
export const createDial =
  (connect: Connect): Services['dial'] =>
  (host, port, timeoutMs) =>
    new Promise((resolve) => {
      const socket = connect({ host, port })
      const finish = (alive: boolean) => {
        clearTimeout(timer)
        socket.destroy()
        resolve(alive)
      }
      const timer = setTimeout(() => finish(false), timeoutMs)
      socket.on('connect', () => finish(true))
      socket.on('error', () => finish(false))
    })
