/** Buttons. */
import type { ComponentChildren } from 'preact'
import { useState } from 'preact/hooks'
import { common } from '#src/admin-ui/texts.ts'
import { Icon, type IconName } from './icons.tsx'
import { toast } from './toast.tsx'

export interface ButtonProps {
  children: ComponentChildren
  /** Without it the button submits its form. */
  onClick?: (() => unknown) | undefined
  kind?: 'primary' | 'plain' | 'danger' | 'ghost'
  small?: boolean
  icon?: IconName
  disabled?: boolean
  /** Works: can't be pressed, and says so. */
  busy?: boolean
  /** For a text that says too little alone. */
  label?: string
  /** Leaves the icon alone on phones. */
  short?: boolean
}

const classOf = (...names: (string | false | undefined)[]) => names.filter(Boolean).join(' ')

export function Button(p: ButtonProps) {
  return (
    <button
      type={p.onClick ? 'button' : 'submit'}
      class={classOf('btn', p.kind, p.small && 'sm', p.short && 'short')}
      onClick={p.onClick && (() => void p.onClick?.())}
      disabled={p.disabled || p.busy}
      aria-busy={p.busy || undefined}
      aria-label={p.label}
    >
      {p.busy ? <span class="spin" /> : p.icon && <Icon name={p.icon} />}
      <span>{p.children}</span>
    </button>
  )
}

export interface LinkButtonProps extends Pick<ButtonProps, 'children' | 'kind' | 'small' | 'icon'> {
  href: string
  /** Saves what is there under its own name. */
  download?: boolean
  /** In place of what the browser would do. */
  onClick?: () => unknown
  /** Opens beside the panel. */
  external?: boolean
}

/** A link that looks like a button. */
export const LinkButton = (p: LinkButtonProps) => (
  <a
    class={classOf('btn', p.kind, p.small && 'sm')}
    href={p.href}
    download={p.download ? '' : undefined}
    onClick={
      p.onClick &&
      ((event) => {
        event.preventDefault()
        void p.onClick?.()
      })
    }
    {...(p.external && { target: '_blank', rel: 'noopener noreferrer' })}
  >
    {p.icon && <Icon name={p.icon} />}
    <span>{p.children}</span>
  </a>
)

export interface IconButtonProps {
  icon: IconName
  label: string
  onClick: () => unknown
  bordered?: boolean
  disabled?: boolean
  pressed?: boolean
}

export const IconButton = (p: IconButtonProps) => (
  <button
    type="button"
    class={classOf('icon-btn', p.bordered && 'bordered')}
    aria-label={p.label}
    title={p.label}
    aria-pressed={p.pressed}
    disabled={p.disabled}
    onClick={() => void p.onClick()}
  >
    <Icon name={p.icon} />
  </button>
)

/** Puts a text on the clipboard; tells what to do where the browser refuses (plain http). */
export async function copyText(text: string): Promise<boolean> {
  try {
    await navigator.clipboard.writeText(text)
    return true
  } catch {
    toast(common().copyFailed, 'bad')
    return false
  }
}

const COPIED_MS = 1800

/** Copies `text`. `label` names what is copied, for those who don't see what stands beside it. */
export function CopyButton(p: {
  text: string
  label?: string
  small?: boolean
  iconOnly?: boolean
  kind?: 'primary' | 'plain'
}) {
  const [copied, setCopied] = useState(false)
  const t = common()
  const copy = async () => {
    if (!(await copyText(p.text))) return
    setCopied(true)
    setTimeout(() => setCopied(false), COPIED_MS)
  }
  const icon = copied ? 'check' : 'copy'
  if (p.iconOnly) {
    return <IconButton icon={icon} label={copied ? t.copied : (p.label ?? t.copy)} onClick={copy} />
  }
  return (
    <Button
      icon={icon}
      onClick={copy}
      kind={p.kind ?? 'plain'}
      {...(p.small && { small: true })}
      {...(p.label && !copied && { label: p.label })}
    >
      {copied ? t.copied : t.copy}
    </Button>
  )
}
