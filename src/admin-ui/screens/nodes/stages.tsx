/** What came of an install command until now, stage by stage, and what to do about it. */
import type { ComponentChildren } from 'preact'
import { api, ok } from '#src/admin-ui/api.ts'
import { lacksCore } from '#src/admin-ui/core-missing.ts'
import { Button, LinkButton } from '#src/admin-ui/kit/button.tsx'
import { Icon } from '#src/admin-ui/kit/icons.tsx'
import { Card, Note } from '#src/admin-ui/kit/page.tsx'
import { messageOf } from '#src/admin-ui/kit/toast.tsx'
import { useAction, useQuery } from '#src/admin-ui/query.ts'
import { Said } from '#src/admin-ui/refusals.ts'
import { href, setQuery } from '#src/admin-ui/router.ts'
import { hasRunOut, lacksSsh, type Setup, scriptFault } from './setup-state.ts'
import { type NodeRow, nodesChanged, nodeTexts } from './texts.ts'

type Mark = 'todo' | 'now' | 'done' | 'bad'

const REPORT: Record<Setup, Mark> = {
  none: 'todo',
  waiting: 'now',
  expired: 'bad',
  failed: 'bad',
  registered: 'done',
  unreachable: 'done',
  active: 'done',
}

const REACH: Partial<Record<Setup, Mark>> = {
  registered: 'now',
  unreachable: 'bad',
  active: 'done',
}

function Stage(p: { mark: Mark; name: string; children?: ComponentChildren }) {
  const t = nodeTexts().setup
  return (
    <li class={`stage ${p.mark}`}>
      <span class="stage-mark" aria-hidden="true">
        {p.mark === 'now' && <span class="spin" />}
        {p.mark === 'done' && <Icon name="check" />}
        {p.mark === 'bad' && <Icon name="alert" />}
      </span>
      <div class="stage-text">
        <span class="stage-name">
          {p.name}
          <span class="sr">: {t.marks[p.mark]}</span>
        </span>
        {p.children}
      </div>
    </li>
  )
}

function ScriptFailed({ node }: { node: NodeRow }) {
  const t = nodeTexts().setup
  const { step, reason } = scriptFault(node.last_error)
  const known = step !== null && Object.hasOwn(t.help, step) ? (step as keyof typeof t.help) : null
  const name = known ? t.scriptSteps[known] : step
  return (
    <Note tone="bad">
      <p>
        <b>{name === null ? t.failed : t.failedAt(name)}</b>
      </p>
      {reason !== '' && <p class="mono break">{reason}</p>}
      <p>{known ? t.help[known] : t.helpElse}</p>
      <p>{hasRunOut(node, Date.now()) ? t.againNew : t.again}</p>
    </Note>
  )
}

function Unreachable({ node }: { node: NodeRow }) {
  const t = nodeTexts()
  const sync = useAction(async () => {
    await ok(api.sync.$post({ json: {} }))
    nodesChanged()
  })
  return (
    <>
      <Note tone="bad">
        <p>{t.setup.unreachable}</p>
        {node.last_error !== null && (
          <p class="break">
            <Said text={node.last_error} />
          </p>
        )}
        {lacksSsh(node) && <p>{t.setup.unreachableHint(node.address, node.ssh_port)}</p>}
        {lacksCore(node) && <p>{t.setup.noCoreHint}</p>}
      </Note>
      <div class="row end">
        {node.presented_host_key !== null && (
          <Button small icon="key" onClick={() => setQuery({ trust: node.code })}>
            {t.key.compare}
          </Button>
        )}
        <Button small icon="refresh" busy={sync.busy} onClick={sync.run}>
          {t.setup.tryNow}
        </Button>
      </div>
    </>
  )
}

/** Dialled once it has been reached; what the answer is does not hold the node back. */
function Port({ node }: { node: NodeRow }) {
  const t = nodeTexts().setup
  const place = `${node.address}:${node.port}`
  const check = useQuery(
    `port ${node.code} ${place}`,
    () => ok(api.nodes[':code'].check.$post({ param: { code: node.code } })),
    { stale: 60_000 },
  )
  const again = useAction(check.reload)
  const alive = check.data?.alive
  if (alive === undefined && !check.error) {
    return (
      <Stage mark="now" name={t.stages.port}>
        <p class="muted">{t.portChecking}</p>
      </Stage>
    )
  }
  const told = check.error ? messageOf(check.error) : alive ? t.portOk(place) : t.portDead(place)
  const isGood = alive && !check.error
  return (
    <Stage mark={isGood ? 'done' : 'bad'} name={t.stages.port}>
      <p class="muted">{told}</p>
      {!isGood && (
        <Button small icon="refresh" busy={again.busy} onClick={again.run}>
          {t.portAgain}
        </Button>
      )}
    </Stage>
  )
}

/** One sentence of how things stand; none where more is said elsewhere. */
function sentence(node: NodeRow, setup: Setup): string {
  const t = nodeTexts().setup
  if (setup === 'waiting') return t.waiting
  if (setup === 'registered') return t.registered
  if (setup !== 'active') return ''
  return node.enabled ? t.activeOn : t.activeOff
}

export function Status({ node, setup }: { node: NodeRow; setup: Setup }) {
  const t = nodeTexts()
  const w = t.setup
  const said = sentence(node, setup)
  return (
    <Card title={w.status}>
      <div class="stack">
        <p role="status" class={setup === 'active' ? 'setup-done' : 't2'}>
          {said}
        </p>
        <ol class="stages">
          <Stage mark={REPORT[setup]} name={w.stages.report}>
            {setup === 'failed' && <ScriptFailed node={node} />}
          </Stage>
          <Stage mark={REACH[setup] ?? 'todo'} name={w.stages.reach}>
            {setup === 'unreachable' && <Unreachable node={node} />}
          </Stage>
          {setup === 'active' ? <Port node={node} /> : <Stage mark="todo" name={w.stages.port} />}
        </ol>
        {setup === 'active' && (
          <div class="row end">
            <LinkButton href={href('/nodes/add')}>{w.another}</LinkButton>
            <LinkButton kind="primary" href={href('/nodes', { node: node.code })}>
              {t.open(node.label)}
            </LinkButton>
          </div>
        )}
      </div>
    </Card>
  )
}
