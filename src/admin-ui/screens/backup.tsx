/** A backup to take away, and one to put in place. */
import { useId, useState } from 'preact/hooks'
import type { Answer, api } from '#src/admin-ui/api.ts'
import { percent } from '#src/admin-ui/format.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Card, Facts, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { messageOf } from '#src/admin-ui/kit/toast.tsx'
import { common } from '#src/admin-ui/texts.ts'
import { uploadFile } from '#src/admin-ui/upload.ts'
import { accountTexts } from './accounts-texts.ts'
import './backup.css'

type Outcome = Answer<(typeof api)['backup']['restore']['$post']>

function Restored({ outcome }: { outcome: Outcome }) {
  const t = accountTexts().backup
  const { restart_needed, dropped, kept, safety_copies } = outcome
  return (
    <div class="stack">
      <Note tone="ok">{t.done}</Note>
      <Facts
        list={[
          [t.env, outcome.restored_env ? common().yes : common().no],
          restart_needed.length > 0 && [t.restart, restart_needed.join(', ')],
          dropped.length > 0 && [t.dropped, dropped.join(', ')],
          kept.length > 0 && [t.kept, kept.join(', ')],
          [t.copies, <span class="mono break">{safety_copies.join(' ')}</span>],
          outcome.reviews > 0 && [t.reviews, outcome.reviews],
          [t.bot, outcome.restarted_bot ? common().yes : common().no],
        ]}
      />
      <Note>{t.logIn}</Note>
      <div class="row end">
        <Button kind="primary" onClick={() => location.reload()}>
          {t.logInAction}
        </Button>
      </div>
    </div>
  )
}

function Progress({ share }: { share: number }) {
  const t = accountTexts().backup
  const text = share < 1 ? t.uploading(percent(share)) : t.checking
  return (
    <div class="stack" role="status">
      <progress class="upload" value={share} max={1} aria-label={text} />
      <p class="muted">{text}</p>
    </div>
  )
}

function Restore() {
  const t = accountTexts().backup
  const id = useId()
  const [file, setFile] = useState<File | null>(null)
  const [share, setShare] = useState<number | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const restore = async () => {
    if (!file) return
    const asked = { title: t.confirmTitle(file.name), text: t.confirmText, action: t.action }
    if (!(await confirm({ ...asked, danger: true, type: t.word }))) return
    setFault(null)
    setShare(0)
    try {
      setOutcome(await uploadFile<Outcome>('/admin/api/backup/restore', file, setShare))
    } catch (error) {
      setFault(messageOf(error))
    } finally {
      setShare(null)
    }
  }
  if (outcome) return <Restored outcome={outcome} />
  return (
    <div class="stack">
      <div class="fld">
        <label for={id}>{t.file}</label>
        <input
          id={id}
          type="file"
          accept=".gz,.tgz,application/gzip"
          disabled={share !== null}
          onChange={(event) => {
            setFault(null)
            setFile(event.currentTarget.files?.[0] ?? null)
          }}
        />
      </div>
      {fault !== null && <Note tone="bad">{fault}</Note>}
      {share !== null && <Progress share={share} />}
      <div class="row end">
        <Button
          kind="danger"
          icon="upload"
          busy={share !== null}
          disabled={!file}
          onClick={restore}
        >
          {t.action}
        </Button>
      </div>
    </div>
  )
}

export function Backup() {
  const t = accountTexts().backup
  return (
    <>
      <PageHeader title={t.title} sub={t.sub} />
      <Card title={t.download} sub={t.downloadSub}>
        <div class="stack">
          <Note tone="warn">{t.careful}</Note>
          <div class="row end">
            <LinkButton kind="primary" icon="download" download href="/admin/api/backup">
              {t.downloadAction}
            </LinkButton>
          </div>
        </div>
      </Card>
      <Card title={t.restore} sub={t.restoreSub}>
        <Restore />
      </Card>
    </>
  )
}
