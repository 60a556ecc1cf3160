/** Two-factor login for whoever can do nothing before it is set up. */
import { useEffect } from 'preact/hooks'
import { boot } from '#src/admin-ui/boot.ts'
import { forgetAll } from '#src/admin-ui/query.ts'
import { accountTexts } from '#src/admin-ui/screens/security/texts.ts'
import { session } from '#src/admin-ui/session.ts'
import { TwoFactor } from './two-factor.tsx'

export function Enrolment() {
  const t = accountTexts().security
  useEffect(() => {
    document.title = `${t.twoFactor} · ${boot.brandName}`
  }, [t])
  return (
    <div class="login-box">
      <h1>{t.enrolTitle}</h1>
      <p class="t2">{t.enrolText}</p>
      <TwoFactor
        onDone={() => {
          forgetAll()
          session.set('in')
        }}
      />
    </div>
  )
}
