/** Whether this process could listen on a port. */
import { createServer } from 'node:net'

/** True when the port can be bound on all addresses now. */
export function canBind(port: number): Promise<boolean> {
  return new Promise((resolve) => {
    const server = createServer()
    server.on('error', () => resolve(false))
    server.listen(port, () => server.close(() => resolve(true)))
  })
}
