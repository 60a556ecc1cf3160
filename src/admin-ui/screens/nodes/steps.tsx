/** What the pages of the wizard have in common. */
import { Icon } from '#src/admin-ui/kit/icons.tsx'
import { nodeTexts } from './texts.ts'

/** The four steps; those before `now` are done. */
export function Steps({ now }: { now: number }) {
  const t = nodeTexts().setup
  return (
    <ol class="steps" aria-label={t.steps}>
      {[t.stepServer, t.stepTransports, t.stepCommand, t.stepStatus].map((name, at) => (
        <li
          key={name}
          class={at < now ? 'done' : undefined}
          aria-current={at === now ? 'step' : undefined}
        >
          <span class="step-mark" aria-hidden="true">
            {at < now ? <Icon name="check" /> : at + 1}
          </span>
          {name}
          {at < now && <span class="sr">, {t.done}</span>}
        </li>
      ))}
    </ol>
  )
}

/** For `ref`: what came in the place of something else takes the focus, once. */
export const takeFocus = (element: HTMLElement | null) => element?.focus()
