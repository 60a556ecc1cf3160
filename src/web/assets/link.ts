/** Small comforts around the subscription link; pages work without them. */
const byId = <E extends HTMLElement>(id: string) => document.getElementById(id) as E | null
const box = byId('sub-link') as HTMLElement
const copy = byId('copy') as HTMLElement
const label = copy.querySelector('span') as HTMLElement
const state = byId('copy-state') as HTMLElement
const ownLabel = label.textContent

/** Without a secure context there is no clipboard: the old command, else the link stays selected for the visitor's own copy. */
const copyLink = async () => {
  let done = false
  try {
    await navigator.clipboard.writeText(box.textContent)
    done = true
  } catch {
    getSelection()?.selectAllChildren(box)
    done = document.execCommand('copy')
  }
  const word = (done ? copy.dataset.copied : copy.dataset.byHand) as string
  if (done) label.textContent = word
  state.textContent = word
  setTimeout(() => {
    label.textContent = ownLabel
  }, 2500)
}

copy.hidden = false
copy.addEventListener('click', () => void copyLink())

// An app that opens hides this page or takes the focus from it. None did: say what else there is.
for (const link of document.querySelectorAll('a[data-add]')) {
  link.addEventListener('click', () => {
    let left = false
    const leave = () => {
      left = true
    }
    addEventListener('blur', leave, { once: true })
    document.addEventListener('visibilitychange', leave, { once: true })
    setTimeout(() => {
      removeEventListener('blur', leave)
      document.removeEventListener('visibilitychange', leave)
      if (left || document.hidden) return
      const manual = byId<HTMLDetailsElement>('manual')
      if (manual) manual.open = true
      copy.focus()
      copy.scrollIntoView({ block: 'center' })
    }, 1500)
  })
}

// Telegram for iPhone does not name itself, but it gives its pages this object.
if ('TelegramWebviewProxy' in window) byId('in-telegram')?.removeAttribute('hidden')

// An iPad calls itself a Macintosh. Macs have no touch screen.
const mac = byId<HTMLInputElement>('os-macos')
if (mac?.checked && navigator.maxTouchPoints > 0 && !/[?&]os=/.test(location.search)) {
  const ios = byId<HTMLInputElement>('os-ios')
  const title = document.querySelector<HTMLElement>('h2.for-ios')
  if (ios) ios.checked = true
  if (title) title.textContent = title.dataset.ipad ?? title.textContent
}

export {}
