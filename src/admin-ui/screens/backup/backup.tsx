/** A backup to take away, and one to put in place. */
import { useId, useState } from 'preact/hooks'
import { type Answer, api, isConfirmed, ok } from '#src/admin-ui/api.ts'
import { percent } from '#src/admin-ui/format.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { saveFrom } from '#src/admin-ui/kit/download.ts'
import { SecretField } from '#src/admin-ui/kit/field.tsx'
import { Card, Facts, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { messageOf } from '#src/admin-ui/kit/toast.tsx'
import { useAction, useQuery } from '#src/admin-ui/query.ts'
import { common } from '#src/admin-ui/texts.ts'
import { uploadFile } from '#src/admin-ui/upload.ts'
import { accountTexts } from '../security/texts.ts'
import { BACKUP_SETTINGS, Encryption } from './encryption.tsx'
import './backup.css'

const BACKUP = '/admin/api/backup'

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
          outcome.passphrase_taken === true && [t.encryption, t.passphraseTaken],
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

/** Whether a file is an encrypted backup, by its first bytes (docs/backup.md). What can't be read fails when it is sent. */
const isEncrypted = async (file: File) =>
  (await file
    .slice(0, 8)
    .text()
    .catch(() => '')) === 'SPBACKUP'

interface Chosen {
  file: File
  encrypted: boolean
}

function Restore() {
  const t = accountTexts().backup
  const id = useId()
  const [chosen, setChosen] = useState<Chosen | null>(null)
  const [passphrase, setPassphrase] = useState('')
  const [share, setShare] = useState<number | null>(null)
  const [fault, setFault] = useState<string | null>(null)
  const [outcome, setOutcome] = useState<Outcome | null>(null)
  const restore = async () => {
    if (!chosen) return
    const { file, encrypted } = chosen
    const asked = { title: t.confirmTitle(file.name), text: t.confirmText, action: t.action }
    if (!(await confirm({ ...asked, danger: true, type: t.word }))) return
    setFault(null)
    setShare(0)
    try {
      if (!(await isConfirmed())) return
      const texts = encrypted ? { passphrase } : {}
      setOutcome(await uploadFile<Outcome>(`${BACKUP}/restore`, file, texts, setShare))
    } catch (error) {
      setFault(messageOf(error))
    } finally {
      setShare(null)
    }
  }
  const choose = async (file: File | undefined) => {
    setFault(null)
    setChosen(file ? { file, encrypted: await isEncrypted(file) } : null)
  }
  if (outcome) return <Restored outcome={outcome} />
  const isReady = chosen !== null && !(chosen.encrypted && passphrase === '')
  return (
    <div class="stack">
      <div class="fld">
        <label for={id}>{t.file}</label>
        <input
          id={id}
          type="file"
          accept=".gz,.tgz,.enc,application/gzip"
          disabled={share !== null}
          onChange={(event) => choose(event.currentTarget.files?.[0])}
        />
      </div>
      {chosen?.encrypted && (
        <SecretField
          label={t.passphrase}
          name="passphrase"
          hint={t.passphraseNeeded}
          value={passphrase}
          disabled={share !== null}
          onValue={setPassphrase}
        />
      )}
      {fault !== null && <Note tone="bad">{fault}</Note>}
      {share !== null && <Progress share={share} />}
      <div class="row end">
        <Button
          kind="danger"
          icon="upload"
          busy={share !== null}
          disabled={!isReady}
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
  const settings = useQuery(BACKUP_SETTINGS, () => ok(api.settings.backup.$get()))
  const download = useAction(async () => {
    if (await isConfirmed()) saveFrom(BACKUP)
  })
  return (
    <>
      <PageHeader title={t.title} sub={t.sub} />
      <Encryption settings={settings} />
      <Card title={t.download} sub={t.downloadSub}>
        <div class="stack">
          {settings.data?.encrypted ? (
            <Note>{t.carefulEncrypted}</Note>
          ) : (
            <Note tone="warn">{t.careful}</Note>
          )}
          <div class="row end">
            <LinkButton
              kind="primary"
              icon="download"
              download
              href={BACKUP}
              onClick={download.run}
            >
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
