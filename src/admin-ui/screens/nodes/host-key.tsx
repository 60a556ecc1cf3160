/** A server that shows another SSH host key: trusted only when the operator brings the fingerprint from the server itself. */
import { api, ok } from '#src/admin-ui/api.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { CopyLine } from '#src/admin-ui/kit/copy-line.tsx'
import { Dialog } from '#src/admin-ui/kit/dialog.tsx'
import { TextArea } from '#src/admin-ui/kit/field.tsx'
import { FormBox, useForm } from '#src/admin-ui/kit/form.tsx'
import { Note } from '#src/admin-ui/kit/page.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { setQuery } from '#src/admin-ui/router.ts'
import { common } from '#src/admin-ui/texts.ts'
import { printedKeys } from './printed-keys.ts'
import { type NodeRow, nodesChanged, nodeTexts, setupHref } from './texts.ts'

/** All keys of a server, as its own console prints them. */
const PRINT_KEYS = 'for key in /etc/ssh/ssh_host_*_key.pub; do ssh-keygen -lf "$key"; done'

const compare = (node: NodeRow) => setQuery({ trust: node.code })

/** What stands on the card of a node with another key. */
export function KeyAlarm({ node }: { node: NodeRow }) {
  const t = nodeTexts().key
  return (
    <Note tone="bad">
      <div class="stack">
        <span>{t.alarm(node.label)}</span>
        <div class="row end">
          <Button small kind="danger" icon="key" onClick={() => compare(node)}>
            {t.compare}
          </Button>
        </div>
      </div>
    </Note>
  )
}

function Prints({ name, prints }: { name: string; prints: string }) {
  return (
    <div class="prints">
      <dt>{name}</dt>
      {prints.split(' ').map((print) => (
        <dd key={print} class="mono break">
          {print}
        </dd>
      ))}
    </div>
  )
}

function Compare({ node, presented }: { node: NodeRow; presented: string }) {
  const t = nodeTexts().key
  const close = () => setQuery({ trust: '' })
  const form = useForm({
    initial: { fingerprint: '' },
    send: ({ fingerprint }) => {
      const prints = printedKeys(fingerprint)
      // What was brought, never what the page knows: the service compares as well.
      const brought = prints?.find((print) => print === presented) ?? prints?.[0] ?? fingerprint
      return ok(
        api.nodes[':code']['trust-host-key'].$post({
          param: { code: node.code },
          json: { fingerprint: brought },
        }),
      )
    },
    done: () => {
      toast(t.trusted(node.label))
      nodesChanged()
      close()
    },
  })
  const field = form.field('fingerprint')
  const prints = printedKeys(field.value)
  const differs = prints !== null && prints.length > 0 && !prints.includes(presented)
  const fault = prints === null ? t.notPrinted : differs ? t.differs : field.error
  return (
    <FormBox
      form={form}
      action={t.trust}
      danger
      extra={<Button onClick={close}>{common().cancel}</Button>}
    >
      <Note tone="bad">{t.what(node.address)}</Note>
      <dl class="stack">
        <Prints name={t.known} prints={node.host_key ?? ''} />
        <Prints name={t.shown} prints={presented} />
      </dl>
      <section class="stack" aria-label={t.meanings}>
        <h3>{t.meanings}</h3>
        <ul class="dots">
          <li>{t.renewed}</li>
          <li>{t.moved}</li>
          <li>{t.between}</li>
        </ul>
      </section>
      <section class="stack" aria-label={t.how}>
        <h3>{t.how}</h3>
        <p class="t2">{t.where}</p>
        <CopyLine label={t.command} text={PRINT_KEYS} />
        <TextArea label={t.fingerprint} hint={t.fingerprintHint} mono {...field} error={fault} />
        <div>
          <LinkButton small kind="ghost" href={setupHref(node.code)}>
            {t.installAgain}
          </LinkButton>
        </div>
      </section>
    </FormBox>
  )
}

export function HostKeyDialog({ node }: { node: NodeRow }) {
  const t = nodeTexts().key
  const { presented_host_key: presented } = node
  return (
    <Dialog title={t.title(node.label)} wide onClose={() => setQuery({ trust: '' })}>
      {presented === null ? (
        <Note tone="ok">{t.gone}</Note>
      ) : (
        <Compare key={presented} node={node} presented={presented} />
      )}
    </Dialog>
  )
}
