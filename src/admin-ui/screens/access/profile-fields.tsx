/** What an admin writes of a customer: the fields of a new one's form and of a known one's. */
import { TextField } from '#src/admin-ui/kit/field.tsx'
import type { Form } from '#src/admin-ui/kit/form.tsx'
import { access } from './texts.ts'

/** As it is typed; tags with commas between them. */
export interface ProfileValues {
  name: string
  email: string
  tags: string
  telegram_id: string
}

/** Between the tags of the field. */
export const BETWEEN_TAGS = /,/

/** Tags as the API wants them. */
export const tagsOf = (text: string): string[] =>
  text
    .split(BETWEEN_TAGS)
    .map((tag) => tag.trim())
    .filter((tag) => tag !== '')

/** A Telegram id as the API wants it. What is no number goes as it is: the service says so. */
export const telegramIdOf = (text: string): number =>
  /^\d+$/.test(text.trim()) ? Number(text) : (text as unknown as number)

export function ProfileFields(p: {
  field: Form<ProfileValues>['field']
  /** Who came by Telegram is named by their id there, which stays. */
  withTelegram: boolean
}) {
  const t = access().profile
  return (
    <>
      <TextField label={t.name} hint={t.nameHint} focus {...p.field('name')} />
      <TextField label={t.email} inputMode="email" {...p.field('email')} />
      <TextField label={t.tags} hint={t.tagsHint} {...p.field('tags')} />
      {p.withTelegram && (
        <TextField
          label={access().tgId}
          hint={t.telegramHint}
          inputMode="numeric"
          {...p.field('telegram_id')}
        />
      )}
    </>
  )
}
