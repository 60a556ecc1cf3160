/**
 * How a client of XHTTP shares its connections: what Xray 26.7.28 does by itself (infra/conf/transport_method.go, #6376 of Xray-core). Said to all,
 * because clients from 25.10.15 to 26.6 open one for each request by themselves, which filters notice.
 */
export const XHTTP_EXTRA = {
  xmux: { maxConnections: '3', hMaxRequestTimes: '600-900', hMaxReusableSecs: '1800-3000' },
} as const
