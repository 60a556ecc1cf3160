/** The traffic packs: what is sold beside quotas, for how much, in which order. */

import { useState } from 'preact/hooks'
import { api, ok } from '#src/admin-ui/api.ts'
import { money, number } from '#src/admin-ui/format.ts'
import { Button, IconButton } from '#src/admin-ui/kit/button.tsx'
import { confirm } from '#src/admin-ui/kit/dialog.tsx'
import { Menu } from '#src/admin-ui/kit/menu.tsx'
import { Card } from '#src/admin-ui/kit/page.tsx'
import { Reorder } from '#src/admin-ui/kit/reorder.tsx'
import { Empty, Loaded } from '#src/admin-ui/kit/state.tsx'
import { toast, toastError } from '#src/admin-ui/kit/toast.tsx'
import { useAction, useQuery } from '#src/admin-ui/query.ts'
import { gbText } from '#src/admin-ui/quotas.tsx'
import { CreatePack, EditPack } from './pack-form.tsx'
import { type Pack, packsChanged, packTexts } from './pack-texts.ts'

const packs = api['traffic-packs']

function usePackActions() {
  const t = packTexts()
  const archive = useAction(async (pack: Pack) => {
    if (!pack.archived) {
      const asked = { title: t.archiveTitle(pack.label), text: t.archiveText, action: t.archiveOne }
      if (!(await confirm(asked))) return
    }
    const param = { code: pack.code }
    await ok(packs[':code'].$patch({ param, json: { archived: !pack.archived } }))
    toast(pack.archived ? t.restored(pack.label) : t.archived(pack.label))
    packsChanged()
  })
  const remove = useAction(async (pack: Pack) => {
    const title = t.removeTitle(pack.label)
    if (!(await confirm({ title, text: t.removeText, action: t.remove, danger: true }))) return
    const { archived } = await ok(packs[':code'].$delete({ param: { code: pack.code } }))
    toast(archived ? t.archived(pack.label) : t.removed(pack.label))
    packsChanged()
  })
  return { archive: archive.run, remove: remove.run }
}

function PackRow({ pack, edit }: { pack: Pack; edit: (pack: Pack) => void }) {
  const t = packTexts()
  const { archive, remove } = usePackActions()
  return (
    <div class="plan-row">
      <div class="plan-name">
        <b>{pack.label}</b>
        <small class="muted">
          <span class="mono">{pack.code}</span> · {gbText(pack.gb)}
        </small>
      </div>
      <div class="plan-price">
        <b class="num">{money(pack.price, pack.currency)}</b>
      </div>
      <small class="plan-stars muted">
        {pack.price_stars === null ? t.noStars : t.stars(number(pack.price_stars))}
      </small>
      <div class="row">
        <IconButton icon="edit" label={t.edit(pack.label)} onClick={() => edit(pack)} />
        <Menu
          label={t.actions(pack.label)}
          items={[
            {
              label: pack.archived ? t.restore : t.archiveOne,
              icon: pack.archived ? 'play' : 'pause',
              onClick: () => archive(pack),
            },
            { label: t.remove, icon: 'trash', danger: true, onClick: () => remove(pack) },
          ]}
        />
      </div>
    </div>
  )
}

/** Those on sale in their new order, then those that are archived: the service wants every pack. */
const saveOrder = (onSale: string[], all: Pack[]) =>
  ok(
    packs.reorder.$post({
      json: {
        codes: [...onSale, ...all.filter((pack) => pack.archived).map((pack) => pack.code)],
      },
    }),
  )

/** `wanted`: a plan has a quota, beside which packs are sold; without one they are shown only where there are some. */
export function Packs({ wanted }: { wanted: boolean }) {
  const t = packTexts()
  const query = useQuery('traffic-packs', () => ok(packs.$get()))
  const [open, setOpen] = useState<Pack | 'new' | null>(null)
  const onSale = query.data?.filter((pack) => !pack.archived)
  const archived = query.data?.filter((pack) => pack.archived) ?? []
  if (!wanted && !query.data?.length) return null
  return (
    <>
      <Card
        title={t.title}
        sub={t.sub}
        flush
        actions={
          <Button small icon="plus" onClick={() => setOpen('new')}>
            {t.create}
          </Button>
        }
      >
        <Loaded query={query} lines={2}>
          {(all) =>
            onSale?.length === 0 ? (
              <Empty title={t.none} hint={t.noneHint} icon="traffic" />
            ) : (
              <Reorder
                label={t.title}
                items={all.filter((pack) => !pack.archived)}
                itemKey={(pack) => pack.code}
                itemName={(pack) => pack.label}
                onOrder={(codes) =>
                  saveOrder(codes, all)
                    .catch(toastError)
                    .then(() => query.reload())
                }
              >
                {(pack) => <PackRow pack={pack} edit={setOpen} />}
              </Reorder>
            )
          }
        </Loaded>
        {archived.length > 0 && (
          <ul class="archived-plans" aria-label={t.archivedOnes}>
            {archived.map((pack) => (
              <li key={pack.code}>
                <PackRow pack={pack} edit={setOpen} />
              </li>
            ))}
          </ul>
        )}
      </Card>
      {open === 'new' && <CreatePack close={() => setOpen(null)} />}
      {open !== null && open !== 'new' && <EditPack pack={open} close={() => setOpen(null)} />}
    </>
  )
}
