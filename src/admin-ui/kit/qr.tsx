/** QR codes, dark on white in every theme; the service draws them. */
import { api, ok } from '#src/admin-ui/api.ts'
import { useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { Button } from './button.tsx'
import { Note } from './page.tsx'
import { Skeleton } from './state.tsx'
import './qr.css'

interface Code {
  text: string
  /** What the code leads to. */
  label: string
}

function Drawing({ text, label }: Code) {
  const t = common()
  const { data, error, reload } = useQuery(`qr ${text}`, () => ok(api.qr.$post({ json: { text } })))
  if (data) {
    return (
      <svg
        class="qr-code"
        viewBox={`0 0 ${data.size} ${data.size}`}
        role="img"
        aria-label={label}
        shape-rendering="crispEdges"
      >
        <rect width={data.size} height={data.size} fill="#fff" />
        <path fill="#14171f" d={data.path} />
      </svg>
    )
  }
  if (!error) return <Skeleton lines={4} tall />
  return (
    <Note tone="bad">
      <div class="stack">
        <p>{t.qrFailed}</p>
        <div class="row">
          <Button small icon="refresh" onClick={reload}>
            {t.retry}
          </Button>
        </div>
      </div>
    </Note>
  )
}

/** Stands beside the text itself, which can be copied where no code is to be had. */
export const QrCode = (p: Code) => (
  // By its key: the code of another text must not stand here while that of this one is on its way.
  <Drawing key={p.text} {...p} />
)
