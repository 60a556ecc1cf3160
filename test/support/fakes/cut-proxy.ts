/**
 * A TCP proxy that counts what it carries and can cut, slow or silence it. Usage: cut-proxy.ts CONTROL PORT TARGET_PORT; an
 * order is a line of JSON to the socket CONTROL, the answer the number of steps since the last order that set `cutAfter`.
 */
import { connect, createServer, type Socket } from 'node:net'
import { createInterface } from 'node:readline'

export interface ProxyOrder {
  /** Breaks everything after this many pieces of data in either direction; null never. Counts from now. */
  cutAfter?: number | null
  /** Connections are ended at once. */
  broken?: boolean
  /** Connections stay, but nothing arrives any more. */
  silent?: boolean
  /** What a direction carries in a second; null as much as there is. */
  bytesPerSecond?: number | null
}

const orders: Required<ProxyOrder> = {
  cutAfter: null,
  broken: false,
  silent: false,
  bytesPerSecond: null,
}
const open = new Set<Socket>()
let steps = 0

function breakAll(): void {
  orders.broken = true
  for (const socket of open) socket.resetAndDestroy()
}

function obey(order: ProxyOrder): void {
  Object.assign(orders, order)
  if ('cutAfter' in order) steps = 0
  if (order.broken || order.cutAfter === 0) breakAll()
  if (order.silent === false) for (const socket of open) socket.resume()
}

function pass(from: Socket, to: Socket): void {
  open.add(from)
  from.setNoDelay(true)
  from.on('error', () => {})
  from.on('close', () => {
    open.delete(from)
    to.destroy()
  })
  from.on('end', () => to.end())
  from.on('data', (data) => {
    if (orders.silent) {
      from.pause()
      from.unshift(data)
      return
    }
    steps++
    const last = orders.cutAfter !== null && steps >= orders.cutAfter
    const forward = () => to.write(data, () => last && breakAll())
    if (orders.bytesPerSecond === null) return void forward()
    from.pause()
    setTimeout(
      () => {
        forward()
        from.resume()
      },
      (data.length / orders.bytesPerSecond) * 1000,
    )
  })
}

function serve(control: string, port: number, targetPort: number): void {
  createServer({ allowHalfOpen: true }, (near) => {
    if (orders.broken) return void near.resetAndDestroy()
    const far = connect({ host: '127.0.0.1', port: targetPort, allowHalfOpen: true })
    pass(near, far)
    pass(far, near)
  }).listen(port)
  createServer((connection) => {
    connection.on('error', () => {})
    createInterface({ input: connection }).on('line', (line) => {
      obey(JSON.parse(line))
      connection.write(`${steps}\n`)
    })
  }).listen(control, () => console.log('proxy is listening'))
}

const [control, port, targetPort] = process.argv.slice(2)
if (control) serve(control, Number(port), Number(targetPort))
