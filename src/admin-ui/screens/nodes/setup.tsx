/** The second half of the wizard, and what leads a server through its setup again: its command, and what came of it. */
import { useEffect, useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { dateTime } from '#src/admin-ui/format.ts'
import { Button, CopyButton, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Card, Note, PageHeader } from '#src/admin-ui/kit/page.tsx'
import { Empty, Loaded, Skeleton } from '#src/admin-ui/kit/state.tsx'
import { toast } from '#src/admin-ui/kit/toast.tsx'
import { useAction } from '#src/admin-ui/query.ts'
import { href } from '#src/admin-ui/router.ts'
import { keepCommand, useCommand } from './install.ts'
import { hasRunOut, type Setup, setupOf } from './setup-state.ts'
import { Status } from './stages.tsx'
import { Steps } from './steps.tsx'
import { type NodeRow, nodesChanged, nodeTexts, useNodes } from './texts.ts'

const POLL_MS = 3000

/** Nothing to see: looks often while something may come. */
function Watch() {
  useNodes(POLL_MS)
  return null
}

/** Gives a command out anew; asks first where one may be under way. */
function useNewCommand(node: NodeRow, setup: Setup) {
  const t = nodeTexts().setup
  return useAction(async () => {
    if (setup === 'waiting' || setup === 'failed') {
      const question = { title: t.newTitle(node.label), text: t.newText, action: t.newCommand }
      if (!(await confirm({ ...question, danger: true }))) return
    }
    const { code, command, provision_expires_at } = await ok(
      api.nodes[':code'].provision.$post({ param: { code: node.code } }),
    )
    keepCommand(code, { command, end: provision_expires_at, before: node.provision_expires_at })
    toast(t.newDone)
    nodesChanged()
  })
}

/** What is said in place of a command that is not shown. */
function hiddenText(setup: Setup): string {
  const t = nodeTexts().setup
  if (setup === 'waiting' || setup === 'failed') return t.hidden
  if (setup === 'expired') return t.expired
  return setup === 'none' ? t.none : t.againHint
}

function Command({ node, setup }: { node: NodeRow; setup: Setup }) {
  const t = nodeTexts().setup
  const kept = useCommand(node)
  const { run, busy } = useNewCommand(node, setup)
  // An expired one is of no use, and one that has done its work no more.
  const isOf = (setup === 'waiting' || setup === 'failed') && !hasRunOut(node, Date.now())
  const command = isOf ? kept : undefined
  return (
    <Card title={command === undefined ? t.stepCommand : t.command}>
      <div class="stack">
        {command === undefined ? (
          <p class="t2">{hiddenText(setup)}</p>
        ) : (
          <>
            <pre class="command mono">{command}</pre>
            <p class="hint">
              {node.provision_expires_at && t.validUntil(dateTime(node.provision_expires_at))}{' '}
              {t.commandHint}
            </p>
          </>
        )}
        <div class="row end">
          <Button
            icon="refresh"
            busy={busy}
            kind={setup === 'expired' || setup === 'none' ? 'primary' : 'plain'}
            onClick={run}
          >
            {t.newCommand}
          </Button>
          {command !== undefined && <CopyButton kind="primary" text={command} />}
        </div>
      </div>
    </Card>
  )
}

/** Which of the four steps one is at. */
function stepOf(setup: Setup): number {
  if (setup === 'active') return 4
  return setup === 'registered' || setup === 'unreachable' ? 3 : 2
}

function SetupOf({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const setup = setupOf(node, Date.now())
  const step = stepOf(setup)
  const parts = [
    <Command key="command" node={node} setup={setup} />,
    <Status key="status" node={node} setup={setup} />,
  ]
  return (
    <>
      <PageHeader title={t.setup.titleOf(node.label)} sub={`${node.address}:${node.port}`}>
        <LinkButton href={href('/nodes')}>{t.toList}</LinkButton>
      </PageHeader>
      {setup !== 'active' && <Watch />}
      <div class="setup stack">
        <Steps now={step} />
        {setup === 'waiting' && node.provisioning === 'again' && <Note>{t.setup.againHint}</Note>}
        {step > 2 ? parts.reverse() : parts}
      </div>
    </>
  )
}

export function SetUpNode({ code }: { code: string }) {
  const t = nodeTexts()
  const nodes = useNodes()
  // What is remembered may be older than the node.
  const [fresh, setFresh] = useState(false)
  useEffect(() => {
    void nodes.reload().then(() => setFresh(true))
  }, [])
  const empty = (title: string, hint: string) => (
    <>
      <PageHeader title={t.setup.title} />
      <Empty title={title} hint={hint} icon="nodes">
        <LinkButton href={href('/nodes')}>{t.toList}</LinkButton>
      </Empty>
    </>
  )
  return (
    <Loaded query={nodes} lines={6} tall>
      {(rows) => {
        const node = rows.find((row) => row.code === code)
        if (!node && !fresh) return <Skeleton lines={6} tall />
        if (!node) return empty(t.setup.gone, t.setup.goneHint)
        if (node.kind !== 'managed') return empty(t.setup.notOurs, t.setup.notOursHint)
        return <SetupOf key={code} node={node} />
      }}
    </Loaded>
  )
}
