/** QR codes, dark on white in every theme; the encoder is loaded when one is shown. */
import { useEffect, useState } from 'preact/hooks'
import { Skeleton } from './state.tsx'
import './qr.css'

interface Drawn {
  size: number
  path: string
}

/** `label` says what the code leads to. */
export function QrCode({ text, label }: { text: string; label: string }) {
  const [drawn, setDrawn] = useState<Drawn | null>(null)
  useEffect(() => {
    let stale = false
    void import('#src/lib/qr-code.ts').then(({ QUIET_ZONE, qrModules, qrPath }) => {
      if (stale) return
      const modules = qrModules(text)
      setDrawn({ size: modules.length + 2 * QUIET_ZONE, path: qrPath(modules) })
    })
    return () => {
      stale = true
    }
  }, [text])
  if (!drawn) return <Skeleton lines={4} tall />
  return (
    <svg
      class="qr-code"
      viewBox={`0 0 ${drawn.size} ${drawn.size}`}
      role="img"
      aria-label={label}
      shape-rendering="crispEdges"
    >
      <rect width={drawn.size} height={drawn.size} fill="#fff" />
      <path fill="#14171f" d={drawn.path} />
    </svg>
  )
}
