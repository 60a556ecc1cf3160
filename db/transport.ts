/** What a node offers beside REALITY: an entry of `transports_json`. */
export interface Transport {
  type: 'ws' | 'xhttp' | 'grpc' | 'hysteria2'
  port: number
  path?: string
  /** Of gRPC, what a path is to others. */
  service_name?: string
  /** PEM of the node's own certificate; absent until the node has reported it. */
  cert?: string
}
