/** Every text of the public pages, in every language: a key missing in one of them does not compile. */
import type { Lang } from './lang.ts'

const plural = (lang: Lang, forms: Partial<Record<Intl.LDMLPluralRule, string>>) => {
  const rules = new Intl.PluralRules(lang)
  return (count: number) => `${count} ${forms[rules.select(count)] ?? forms.other}`
}
const enDays = plural('en', { one: 'day', other: 'days' })
const ruDays = plural('ru', { one: 'день', few: 'дня', many: 'дней', other: 'дня' })

const en = {
  language: 'English',
  languageNav: 'Language',
  openBot: 'Open the bot in Telegram',
  askBot: 'Write to our Telegram bot.',
  copy: 'Copy',
  copied: 'Copied',
  appStoreRussia: 'App Store Russia',

  subTitle: 'Subscription active',
  subUntil: 'until',
  subDays: (days: number) => (days === 0 ? 'ends today' : `${enDays(days)} left`),
  subList: 'Your servers',
  connect: 'Connect this device',
  stepInstall: 'Install Happ',
  stepInstallText: 'Choose your system below, then come back to this page.',
  stepAdd: 'Add your subscription',
  stepAddText: 'The app opens and your servers appear by themselves.',
  addTo: (app: string) => `Add to ${app}`,
  stepOn: 'Press the power button',
  stepOnText: 'Allow the connection when your device asks.',
  manual: 'Button did nothing?',
  manualText:
    'Inside Telegram, open this page in your browser first. Or copy this link and paste it into the app: “+”, then “Paste from clipboard”.',
  subLink: 'Subscription link',
  keepSecret: 'The link is personal: whoever has it uses your subscription.',
  apps: 'Apps',
  ios: 'iPhone, iPad',
  android: 'Android',
  windows: 'Windows',
  macos: 'Mac',
  linux: 'Linux',
  tv: 'TV',
  otherDevice: 'Another device',
  otherDeviceText: 'Point a phone camera or the app’s scanner at this code.',
  qrLabel: 'QR code of the subscription link',
  renew: 'Renew in Telegram',

  openTitle: (app: string) => `Open ${app}`,
  openText: 'The app opens and your servers appear by themselves. Is it installed?',
  openBack: 'All apps and instructions',

  expiredTitle: 'Subscription ended',
  expiredText:
    'There is no active subscription. After renewal the link and the app stay the same: nothing has to be set up again.',

  heroTitle: 'Fast access that just works',
  heroText: 'Pay in Telegram, press one button and connect your phone, computer or TV.',
  plans: 'Plans',
  choose: 'Choose',
  plansEmpty: 'There is nothing on sale right now.',
  servers: 'Servers',
  footerNav: 'Documents',
  offer: 'Public offer',
  privacy: 'Privacy policy',
  contents: 'Contents',
  notSet: 'not set yet',

  cabinet: 'Your account',
  cabinetIntro: 'Open this page by your personal link, or paste your subscription link here.',
  cabinetInput: 'Subscription link',
  cabinetShow: 'Show',
  cabinetNoScript:
    'This page needs JavaScript. Your subscription link works without it: open it in this browser.',
  cabinetLoading: 'Loading…',
  cabinetUnknown: 'This link is not valid. Check it, or ask for a new one in the bot.',
  cabinetFailed: 'Could not load. Check your connection and try again.',
  cabinetNone: 'No active subscription.',
  cabinetUntil: 'until {date}',
  cabinetDays: 'days left: {days}',
  cabinetOpen: 'Connect a device',
  cabinetOther: 'Other link',

  paidTitle: 'Thank you',
  paidText:
    'As soon as the payment is confirmed, usually within seconds, the subscription appears and its link comes in Telegram.',

  errorNotFound: 'Page not found',
  errorNotFoundText: 'Check the address, or ask for a new link in the bot.',
  errorTooMany: 'Too many requests',
  errorTooManyText: 'Wait a little and try again.',
  errorRefused: 'This did not work',
  errorRefusedText: 'The request could not be accepted.',
  errorFault: 'Something went wrong',
  errorFaultText: 'It is our fault. Try again in a minute.',
}

export type Strings = typeof en
/** Keys of plain texts. */
export type StringKey = {
  [K in keyof Strings]: Strings[K] extends string ? K : never
}[keyof Strings]

const ru: Strings = {
  language: 'Русский',
  languageNav: 'Язык',
  openBot: 'Открыть бот в Telegram',
  askBot: 'Напишите нашему боту в Telegram.',
  copy: 'Скопировать',
  copied: 'Скопировано',
  appStoreRussia: 'App Store РФ',

  subTitle: 'Подписка активна',
  subUntil: 'до',
  subDays: (days) => (days === 0 ? 'последний день' : `ещё ${ruDays(days)}`),
  subList: 'Ваши серверы',
  connect: 'Подключите это устройство',
  stepInstall: 'Установите Happ',
  stepInstallText: 'Выберите свою систему ниже, затем вернитесь на эту страницу.',
  stepAdd: 'Добавьте подписку',
  stepAddText: 'Приложение откроется, и серверы появятся сами.',
  addTo: (app) => `Добавить в ${app}`,
  stepOn: 'Нажмите кнопку включения',
  stepOnText: 'Разрешите подключение, когда устройство спросит.',
  manual: 'Кнопка не сработала?',
  manualText:
    'Внутри Telegram сначала откройте эту страницу в браузере. Или скопируйте ссылку и вставьте её в приложении: «+», затем «Вставить из буфера».',
  subLink: 'Ссылка подписки',
  keepSecret: 'Ссылка личная: у кого она есть, тот пользуется вашей подпиской.',
  apps: 'Приложения',
  ios: 'iPhone, iPad',
  android: 'Android',
  windows: 'Windows',
  macos: 'Mac',
  linux: 'Linux',
  tv: 'ТВ',
  otherDevice: 'Другое устройство',
  otherDeviceText: 'Наведите камеру телефона или сканер в приложении на этот код.',
  qrLabel: 'QR-код ссылки подписки',
  renew: 'Продлить в Telegram',

  openTitle: (app) => `Откройте ${app}`,
  openText: 'Приложение откроется, и серверы появятся сами. Оно уже установлено?',
  openBack: 'Все приложения и инструкция',

  expiredTitle: 'Подписка закончилась',
  expiredText:
    'Активной подписки нет. После продления ссылка и приложение останутся прежними, ничего настраивать заново не нужно.',

  heroTitle: 'Быстрый доступ, который просто работает',
  heroText:
    'Оплатите в Telegram, нажмите одну кнопку и подключайтесь с телефона, компьютера или телевизора.',
  plans: 'Тарифы',
  choose: 'Выбрать',
  plansEmpty: 'Сейчас ничего не продаётся.',
  servers: 'Серверы',
  footerNav: 'Документы',
  offer: 'Публичная оферта',
  privacy: 'Политика конфиденциальности',
  contents: 'Содержание',
  notSet: 'ещё не задано (not set yet)',

  cabinet: 'Личный кабинет',
  cabinetIntro: 'Откройте эту страницу по личной ссылке или вставьте сюда ссылку подписки.',
  cabinetInput: 'Ссылка подписки',
  cabinetShow: 'Показать',
  cabinetNoScript:
    'Этой странице нужен JavaScript. Ссылка подписки работает и без него: откройте её в этом браузере.',
  cabinetLoading: 'Загружаем…',
  cabinetUnknown: 'Ссылка не подходит. Проверьте её или попросите новую у бота.',
  cabinetFailed: 'Не удалось загрузить. Проверьте связь и попробуйте ещё раз.',
  cabinetNone: 'Активных подписок нет.',
  cabinetUntil: 'до {date}',
  cabinetDays: 'осталось дней: {days}',
  cabinetOpen: 'Подключить устройство',
  cabinetOther: 'Другая ссылка',

  paidTitle: 'Спасибо',
  paidText:
    'Как только оплата подтвердится, обычно за несколько секунд, подписка появится, а ссылка придёт в Telegram.',

  errorNotFound: 'Страница не найдена',
  errorNotFoundText: 'Проверьте адрес или попросите у бота новую ссылку.',
  errorTooMany: 'Слишком много запросов',
  errorTooManyText: 'Подождите немного и попробуйте ещё раз.',
  errorRefused: 'Не получилось',
  errorRefusedText: 'Запрос не может быть принят.',
  errorFault: 'Что-то пошло не так',
  errorFaultText: 'Это наша ошибка. Попробуйте через минуту.',
}

const catalogue: Record<Lang, Strings> = { en, ru }

export const stringsOf = (lang: Lang): Strings => catalogue[lang]
