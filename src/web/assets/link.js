/** Small comforts around the subscription link; pages work without them. */
// A block: scripts of a page share their names.
{
  const byId = (id) => document.getElementById(id)
  const box = byId('sub-link')
  const copy = byId('copy')

  const select = () => getSelection().selectAllChildren(box)

  /** Without a secure context there is no clipboard: the old command, else the link stays selected for the visitor's own copy. */
  const copyLink = async () => {
    let done = false
    try {
      await navigator.clipboard.writeText(box.textContent)
      done = true
    } catch {
      select()
      done = document.execCommand('copy')
    }
    const word = done ? copy.dataset.copied : copy.dataset.byHand
    const label = copy.querySelector('span')
    copy.dataset.label ||= label.textContent
    if (done) label.textContent = word
    byId('copy-state').textContent = word
    setTimeout(() => {
      label.textContent = copy.dataset.label
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
        byId('manual').open = true
        copy.focus()
        copy.scrollIntoView({ block: 'center' })
      }, 1500)
    })
  }

  // Telegram for iPhone does not name itself, but it gives its pages this object.
  if ('TelegramWebviewProxy' in window) byId('in-telegram')?.removeAttribute('hidden')

  // An iPad calls itself a Macintosh. Macs have no touch screen.
  const mac = byId('os-macos')
  if (mac?.checked && navigator.maxTouchPoints > 0 && !/[?&]os=/.test(location.search)) {
    byId('os-ios').checked = true
    const title = document.querySelector('h2.for-ios')
    title.textContent = title.dataset.ipad
  }
}
