/** The bot's token. */
import { raiseWantedGeneration } from '#db/bot-state.ts'
import type { Actor } from '#src/domain/audit.ts'
import { alertFormer, audienceOf } from '#src/domain/notify/alerts.ts'
import { awaitBotRestart } from '#src/domain/notify/bot-restart.ts'
import { keepPrevious } from '#src/domain/payments/shops.ts'
import { readSettingsIn, writeSettings } from '#src/domain/settings.ts'
import { formatTimestamp } from '#src/lib/time.ts'
import { refusal } from '#src/refusals/index.ts'
import type { Services } from '#src/services.ts'

type Deps = Pick<Services, 'db' | 'clock' | 'config' | 'log' | 'telegram'>

/**
 * Asks Telegram whose token it is, saves both, and restarts the bot. Throws 400 when Telegram can't be reached or refuses the
 * token.
 */
export async function saveBotToken(
  s: Deps,
  actor: Actor,
  token: string,
): Promise<{ username: string; restarted: boolean }> {
  const identity = await s.telegram.identify(token)
  if (identity === 'unreachable') throw refusal('telegram-unreachable')
  if (identity === 'rejected') throw refusal('bot-token-rejected')
  const { username } = identity
  const now = s.clock.now()
  const at = formatTimestamp(now)
  const { before, generation } = await s.db.tx(function* (tx) {
    const settings = yield* readSettingsIn(tx, s)
    const former = audienceOf(settings)
    const before = settings.text('BOT_USERNAME')
    yield* writeSettings(tx, actor, at, { BOT_TOKEN: token, BOT_USERNAME: username })
    // Of those that take payments through the bot.
    for (const { id } of s.config.gateways) yield* keepPrevious(tx, s, id, settings, now)
    if (former.botToken !== token) {
      yield* alertFormer(tx, s, at, former, { about: 'bot-changed', before, username, ...actor })
    }
    return { before, generation: yield* raiseWantedGeneration(tx) }
  })
  if (before !== '' && before !== username) {
    s.log.warn('another bot: links that were given out lead to the old one', {
      before,
      now: username,
    })
  }
  return { username, restarted: await awaitBotRestart(s, generation) }
}
