/**
 * Every text of the bot, in every language: a key that is missing in one does not compile, and a further language is one more
 * object. Messages are HTML, with `html` escaping what is put in; labels of buttons and notices (at most 200 characters) are plain.
 */
import type { Lang } from '#src/domain/notify/messages.ts'
import { html } from '#src/lib/html.ts'

/** A subscription as its owner reads it. */
export interface ShownSubscription {
  node: string
  plan: string
  state: 'active' | 'limited' | 'disabled' | 'held' | 'expired'
  /** dd.mm.yyyy */
  until: string
  /** `30 days left` */
  left: string
  /** What is said in place of both: `without end` */
  term?: string
  /** `12.5 of 100 GB, until 1 December`, where it has a limit. */
  traffic?: string | null
}

export interface ShownSale {
  node: string
  plan: string
  price: string
  provider: string
  renewal: boolean
}

export interface ShownPackSale extends Omit<ShownSale, 'renewal'> {
  pack: string
}

const en = {
  language: 'English',
  commands: {
    start: 'Main menu',
    buy: 'Buy a subscription',
    my: 'My subscriptions, links, devices',
    help: 'Help, apps, language',
  },

  // The menu.
  hello: (name: string, brand: string) =>
    html`👋 Hello, ${name}! This is <b>${brand}</b>.

Buy a subscription here, or get the link to the one you have.`,
  buy: '🛒 Buy',
  my: '🔑 My subscriptions',
  help: '❓ Help',
  cabinet: '👤 Your account',
  back: '‹ Back',
  hint: 'I understand buttons and commands only. Here is the menu:',

  // Notices.
  stale: 'This button is out of date. Here is how things are now.',
  fault: 'Something went wrong. Please try again in a minute.',
  banned: 'Your account is blocked. Please write to support.',

  // Buying.
  chooseNode: '🌍 <b>Choose a server</b>',
  choosePlan: (node: string) => html`🗓 <b>Choose a plan</b>

Server: <b>${node}</b>`,
  chooseRenewal: (node: string, until: string) => html`🗓 <b>Renew for how long?</b>

Server: <b>${node}</b>. Expiry date: <b>${until}</b>. Your link and apps stay as they are.`,
  chooseProvider: (node: string, plan: string) => html`💳 <b>How do you want to pay?</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>`,
  closed: 'Nothing is on sale right now. Please come back later.',
  planGone: 'This plan is not sold any more. Here is what there is:',
  sale: ({ node, plan, price, provider, renewal }: ShownSale) =>
    html`🧾 <b>${renewal ? 'Renewal' : 'New subscription'}</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>
Price: <b>${price}</b>, ${provider}

Pay with the button below, then come back. Access is granted automatically, usually within seconds.`,
  packSale: ({ node, plan, pack, price, provider }: ShownPackSale) =>
    html`🧾 <b>More traffic: ${pack}</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>
Price: <b>${price}</b>, ${provider}

Pay with the button below, then come back. The traffic is added automatically, usually within seconds, and lasts until it is used or the subscription ends.`,
  accept: (offer: string, privacy: string) =>
    html`By paying you accept the <a href="${offer}">public offer</a> and the <a href="${privacy}">privacy policy</a>.`,
  pay: (price: string) => `💳 Pay ${price}`,
  paid: '✅ I have paid',
  buyAgain: '🛒 Choose again',
  tooManyPayments: (minutes: number) =>
    `You have started 5 payments in 10 minutes, which is the limit. Pay one of them, or come back in ${minutes} min.`,
  noAnswer:
    'The payment system is not responding. Nothing was charged. Please try again in a minute.',
  providerRefused:
    'The payment system refused this payment. Nothing was charged. Choose another way to pay, or write to support.',
  notSold: 'This can’t be bought any more: the offer has changed. Nothing was charged.',

  // After paying.
  checkedJustNow: 'This was checked a moment ago. Please wait 5 seconds.',
  notPaidYet:
    'The payment has not arrived yet. It can take a few minutes; access is then granted automatically.',
  inReview: 'Your payment has arrived but has to be checked by hand. Please write to support.',
  failed: `❌ <b>The payment did not go through</b>

No access was granted for it. If you were charged, please write to support.`,
  refunded: 'This payment was refunded.',
  paidDone: ({ node, plan, until }: ShownSubscription) =>
    html`✅ <b>Paid. Thank you!</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>, until <b>${until}</b>

Your link is under “My subscriptions”.`,
  paidBefore: '✅ <b>Paid. Thank you!</b>',
  packDone: (bytes: string) => html`✅ <b>Paid. Thank you!</b>

${bytes} of traffic added.`,

  // Telegram Stars.
  starsNotPending: 'This invoice is closed. Please choose a plan again in the bot.',
  starsChanged: 'The offer has changed. Please choose a plan again in the bot.',
  packUnusable:
    'Traffic can be added only to a subscription that has a traffic limit, has not ended and is not switched off.',

  // Own subscriptions.
  list: '🔑 <b>My subscriptions</b>',
  listEmpty: 'You have no subscription yet.',
  state: {
    active: '✅ active',
    limited: '📵 traffic used up',
    disabled: '🚫 switched off',
    held: '⏸ paused',
    expired: '⌛ ended',
  },
  line: ({ node, plan, state, until, left, term, traffic }: ShownSubscription): string =>
    html`<b>${node}</b>, ${plan}
${en.state[state]}, ${term ?? `until ${until}${state === 'expired' ? '' : `, ${left}`}`}${traffic ? `\nTraffic: ${traffic}` : ''}`,
  link: (link: string) => html`Your link, for all your subscriptions and devices:
<code>${link}</code>

Paste it into an app, or open it in a browser and follow the steps. Whoever has it uses your subscription.`,
  importHint: 'Or add it with one tap:',
  copyLink: '📋 Copy link',
  qr: '🔳 QR code',
  qrCaption:
    'Your subscription link as a QR code, for the camera of another device. Keep it to yourself.',
  renew: '🔄 Renew',
  devices: '📱 Devices',
  reset: '♻️ Reset link',

  // Another server, another plan.
  changeServer: '🔁 Change server',
  changePlan: '🔀 Change plan',
  changeDo: 'Yes, change',
  changeWait: (hours: number) => `This was changed not long ago. The next time in ${hours} h.`,
  anotherOffer: 'The offer is another one by now. Tap again to see it.',
  tooLittleLeft:
    'Too little is left for a day of that plan. Renew your subscription instead, by that plan if you like.',
  serverChoose: (node: string) => html`🔁 <b>Choose another server</b>

Now: <b>${node}</b>. The change is free, and your link and expiry date stay as they are.`,
  serverAsk: (from: string, to: string) => html`🔁 <b>${from} → ${to}</b>

Apps connect again once they refresh the list: by themselves within 12 hours, or at once when you do it.`,
  serverDone: (node: string) => html`✅ <b>Your server is ${node} now</b>

Refresh the list in your apps to connect at once.`,
  planChoose: (plan: string) => html`🔀 <b>Choose another plan</b>

Now: <b>${plan}</b>. You pay nothing: the days that are left become days of the new plan, by what both cost.`,
  planAsk: (becomes: string) => html`🔀 <b>${becomes}</b>

Your link and apps stay as they are. What you have used of your traffic stays counted. The next change is possible in 24 hours.`,
  planDone: (becomes: string) => html`✅ <b>${becomes}</b>

Refresh the list in your apps to see its servers at once.`,
  daysOf: (days: string, plan: string) => `${days} of ${plan}`,
  daysUntil: (date: string) => `until ${date}`,

  // Devices.
  deviceList: (count: number, limit: number | null) =>
    html`📱 <b>Devices: ${limit === null ? count : `${count} of ${limit}`}</b>

${count === 0 ? 'No device is connected yet.' : 'Tap a device to remove it and make room for another.'}`,
  device: 'Device',
  deviceLimitReached: (hours: number) =>
    `You can remove 3 devices in 24 hours. The next one in ${hours} h.`,
  deviceRemoved: 'Removed.',

  // Another link.
  resetAsk: `♻️ <b>Reset the link?</b>

The old link and all apps that use it stop working at once. You will have to add the new link to every device.`,
  resetDo: 'Yes, reset it',
  resetLimitReached: (hours: number) =>
    `You can reset the link 3 times in 24 hours. The next time in ${hours} h. If that is too late, write to support.`,
  resetDone: (link: string) => html`♻️ <b>You have a new link</b>

<code>${link}</code>`,

  // Gifts.
  gift: (node: string, plan: string) => html`🎁 <b>A gift for you</b>

Server: <b>${node}</b>
Plan: <b>${plan}</b>`,
  giftTake: '🎁 Activate',
  giftAgain: 'You have already activated this gift.',
  giftRefusal: {
    unknown: 'There is no such gift. Check the link.',
    used: 'Someone has already activated this gift.',
    revoked: 'This gift was withdrawn.',
    expired: 'This gift has expired.',
    gone: 'The server or the plan of this gift no longer exists. Please write to support.',
  },

  // Connecting an account of the site.
  connectAsk: (name: string, both: boolean) =>
    html`🔗 <b>Connect your account to this Telegram?</b>

Account: <b>${name}</b>

${both ? 'You have an account here already. The two become one, and every link and app goes on working.' : 'You will see your subscriptions here, and get messages before they end.'}

⚠️ Go on only if you came here from your own page: whoever has the link of that account sees what you have here.`,
  connectDo: '🔗 Connect',
  connected: '✅ Your account is connected.',
  connectBanned: 'One of the two accounts is blocked, so they stay apart. Please write to support.',
  connectStale:
    'This link has run out or was used. Open your page and tap “Connect Telegram” again.',

  // Help.
  helpText: '❓ <b>Help</b>',
  support: (contact: string) => html`Support: ${contact}`,
  email: (address: string) => html`E-mail: ${address}`,
  documents: (offer: string, privacy: string) =>
    html`<a href="${offer}">Public offer</a>, <a href="${privacy}">privacy policy</a>`,
  appsAsk: 'Apps for your device:',
  apps: (system: string) => html`📲 <b>Apps: ${system}</b>

Install one, then add your link under “My subscriptions”.`,
}

export type Texts = typeof en

const ru: Texts = {
  language: 'Русский',
  commands: {
    start: 'Главное меню',
    buy: 'Купить подписку',
    my: 'Мои подписки, ссылки, устройства',
    help: 'Помощь, приложения, язык',
  },

  hello: (name, brand) => html`👋 Здравствуйте, ${name}! Это <b>${brand}</b>.

Здесь можно купить подписку или получить ссылку на ту, что уже есть.`,
  buy: '🛒 Купить',
  my: '🔑 Мои подписки',
  help: '❓ Помощь',
  cabinet: '👤 Личный кабинет',
  back: '‹ Назад',
  hint: 'Я понимаю только кнопки и команды. Вот меню:',

  stale: 'Эта кнопка устарела. Вот как обстоят дела сейчас.',
  fault: 'Что-то пошло не так. Попробуйте ещё раз через минуту.',
  banned: 'Ваш аккаунт заблокирован. Напишите в поддержку.',

  chooseNode: '🌍 <b>Выберите сервер</b>',
  choosePlan: (node) => html`🗓 <b>Выберите тариф</b>

Сервер: <b>${node}</b>`,
  chooseRenewal: (node, until) => html`🗓 <b>На сколько продлить?</b>

Сервер: <b>${node}</b>. Срок действия: до <b>${until}</b>. Ссылка и приложения останутся прежними.`,
  chooseProvider: (node, plan) => html`💳 <b>Как вы хотите заплатить?</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>`,
  closed: 'Сейчас ничего не продаётся. Загляните позже.',
  planGone: 'Этот тариф больше не продаётся. Вот что есть:',
  sale: ({ node, plan, price, provider, renewal }) =>
    html`🧾 <b>${renewal ? 'Продление' : 'Новая подписка'}</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>
Цена: <b>${price}</b>, ${provider}

Оплатите по кнопке ниже и возвращайтесь. Доступ откроется сам, обычно за несколько секунд.`,
  packSale: ({ node, plan, pack, price, provider }) =>
    html`🧾 <b>Больше трафика: ${pack}</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>
Цена: <b>${price}</b>, ${provider}

Оплатите по кнопке ниже и возвращайтесь. Трафик добавится сам, обычно за несколько секунд, и сохранится, пока не будет израсходован или не закончится подписка.`,
  accept: (offer, privacy) =>
    html`Оплачивая, вы принимаете <a href="${offer}">публичную оферту</a> и <a href="${privacy}">политику конфиденциальности</a>.`,
  pay: (price) => `💳 Оплатить ${price}`,
  paid: '✅ Я оплатил(а)',
  buyAgain: '🛒 Выбрать заново',
  tooManyPayments: (minutes) =>
    `Вы создали 5 платежей за 10 минут, больше пока нельзя. Оплатите один из них или вернитесь через ${minutes} мин.`,
  noAnswer: 'Платёжная система не отвечает. Деньги не списаны. Попробуйте ещё раз через минуту.',
  providerRefused:
    'Платёжная система отклонила эту оплату. Деньги не списаны. Выберите другой способ или напишите в поддержку.',
  notSold: 'Это больше нельзя купить: предложение изменилось. Деньги не списаны.',

  checkedJustNow: 'Оплату только что проверяли. Подождите 5 секунд.',
  notPaidYet:
    'Оплата ещё не пришла. Иногда на это нужно несколько минут, потом доступ откроется сам.',
  inReview: 'Оплата пришла, но её нужно проверить вручную. Напишите в поддержку.',
  failed: `❌ <b>Оплата не прошла</b>

Доступ не выдан. Если деньги списаны, напишите в поддержку.`,
  refunded: 'Деньги за эту оплату возвращены.',
  paidDone: ({ node, plan, until }) => html`✅ <b>Оплачено. Спасибо!</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>, до <b>${until}</b>

Ссылка — в разделе «Мои подписки».`,
  paidBefore: '✅ <b>Оплачено. Спасибо!</b>',
  packDone: (bytes) => html`✅ <b>Оплачено. Спасибо!</b>

Добавлено ${bytes} трафика.`,

  starsNotPending: 'Этот счёт закрыт. Выберите тариф в боте заново.',
  starsChanged: 'Предложение изменилось. Выберите тариф в боте заново.',
  packUnusable:
    'Трафик можно добавить только к подписке, у которой есть лимит трафика и которая не закончилась и не отключена.',

  list: '🔑 <b>Мои подписки</b>',
  listEmpty: 'Подписок у вас пока нет.',
  state: {
    active: '✅ активна',
    limited: '📵 трафик израсходован',
    disabled: '🚫 отключена',
    held: '⏸ на паузе',
    expired: '⌛ закончилась',
  },
  line: ({ node, plan, state, until, left, term, traffic }): string => html`<b>${node}</b>, ${plan}
${ru.state[state]}, ${term ?? `до ${until}${state === 'expired' ? '' : `, ${left}`}`}${traffic ? `\nТрафик: ${traffic}` : ''}`,
  link: (link) => html`Ваша ссылка, одна для всех подписок и устройств:
<code>${link}</code>

Вставьте её в приложение или откройте в браузере и следуйте инструкции. Никому её не показывайте: по ней можно пользоваться вашей подпиской.`,
  importHint: 'Или добавьте одним нажатием:',
  copyLink: '📋 Скопировать ссылку',
  qr: '🔳 QR-код',
  qrCaption:
    'QR-код вашей ссылки: наведите на него камеру другого устройства. Не показывайте его посторонним.',
  renew: '🔄 Продлить',
  devices: '📱 Устройства',
  reset: '♻️ Сменить ссылку',

  changeServer: '🔁 Сменить сервер',
  changePlan: '🔀 Сменить тариф',
  changeDo: 'Да, сменить',
  changeWait: (hours) => `Это меняли совсем недавно. В следующий раз — через ${hours} ч.`,
  anotherOffer: 'Предложение уже другое. Нажмите ещё раз, чтобы увидеть его.',
  tooLittleLeft:
    'Оставшегося не хватает и на день этого тарифа. Вместо смены продлите подписку, можно и по этому тарифу.',
  serverChoose: (node) => html`🔁 <b>Выберите другой сервер</b>

Сейчас: <b>${node}</b>. Смена бесплатная, ссылка и срок действия останутся прежними.`,
  serverAsk: (from, to) => html`🔁 <b>${from} → ${to}</b>

Приложения подключатся снова, когда обновят список: сами в течение 12 часов или сразу, если обновить вручную.`,
  serverDone: (node) => html`✅ <b>Теперь ваш сервер — ${node}</b>

Обновите список в приложениях, чтобы подключиться сразу.`,
  planChoose: (plan) => html`🔀 <b>Выберите другой тариф</b>

Сейчас: <b>${plan}</b>. Платить не нужно: оставшиеся дни пересчитываются в дни нового тарифа по ценам обоих.`,
  planAsk: (becomes) => html`🔀 <b>${becomes}</b>

Ссылка и приложения останутся прежними. Израсходованный трафик остаётся в счёте. Следующая смена — не раньше чем через 24 часа.`,
  planDone: (becomes) => html`✅ <b>${becomes}</b>

Обновите список в приложениях, чтобы сразу увидеть его серверы.`,
  daysOf: (days, plan) => `${days} тарифа «${plan}»`,
  daysUntil: (date) => `до ${date}`,

  deviceList: (count, limit) =>
    html`📱 <b>Устройства: ${limit === null ? count : `${count} из ${limit}`}</b>

${count === 0 ? 'Пока не подключено ни одно устройство.' : 'Нажмите на устройство, чтобы удалить его и освободить место.'}`,
  device: 'Устройство',
  deviceLimitReached: (hours) =>
    `За 24 часа можно удалить 3 устройства. Следующее — через ${hours} ч.`,
  deviceRemoved: 'Удалено.',

  resetAsk: `♻️ <b>Сменить ссылку?</b>

Старая ссылка и все приложения с ней сразу перестанут работать. Новую ссылку придётся добавить на каждое устройство.`,
  resetDo: 'Да, сменить',
  resetLimitReached: (hours) =>
    `За 24 часа ссылку можно сменить 3 раза. В следующий раз — через ${hours} ч. Если это слишком долго, напишите в поддержку.`,
  resetDone: (link) => html`♻️ <b>Теперь у вас новая ссылка</b>

<code>${link}</code>`,

  gift: (node, plan) => html`🎁 <b>Подарок для вас</b>

Сервер: <b>${node}</b>
Тариф: <b>${plan}</b>`,
  giftTake: '🎁 Активировать',
  giftAgain: 'Вы уже активировали этот подарок.',
  giftRefusal: {
    unknown: 'Такого подарка нет. Проверьте ссылку.',
    used: 'Этот подарок уже кто-то активировал.',
    revoked: 'Этот подарок отозван.',
    expired: 'Срок этого подарка истёк.',
    gone: 'Сервера или тарифа этого подарка больше нет. Напишите в поддержку.',
  },

  connectAsk: (name, both) =>
    html`🔗 <b>Подключить ваш аккаунт к этому Telegram?</b>

Аккаунт: <b>${name}</b>

${both ? 'У вас здесь уже есть аккаунт. Они станут одним, все ссылки и приложения продолжат работать.' : 'Вы увидите здесь свои подписки и получите сообщение перед их окончанием.'}

⚠️ Продолжайте, только если пришли сюда со своей страницы: тот, у кого есть ссылка того аккаунта, увидит всё, что есть у вас здесь.`,
  connectDo: '🔗 Подключить',
  connected: '✅ Ваш аккаунт подключён.',
  connectBanned:
    'Один из двух аккаунтов заблокирован, поэтому они не объединяются. Напишите в поддержку.',
  connectStale:
    'Эта ссылка уже не действует. Откройте свою страницу и снова нажмите «Подключить Telegram».',

  helpText: '❓ <b>Помощь</b>',
  support: (contact) => html`Поддержка: ${contact}`,
  email: (address) => html`Эл. почта: ${address}`,
  documents: (offer, privacy) =>
    html`<a href="${offer}">Публичная оферта</a>, <a href="${privacy}">политика конфиденциальности</a>`,
  appsAsk: 'Приложения для вашего устройства:',
  apps: (system) => html`📲 <b>Приложения: ${system}</b>

Установите любое и добавьте ссылку из раздела «Мои подписки».`,
}

const catalogue: Record<Lang, Texts> = { en, ru }

/** The languages in which the bot speaks. */
export const BOT_LANGS = Object.keys(catalogue) as Lang[]

export const textsOf = (lang: Lang): Texts => catalogue[lang]
