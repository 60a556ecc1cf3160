/** A language that is read from right to left, for tests: the words of two pages, the rest in English. It is not shipped. */
import { counted } from '#src/web/plural.ts'
import { catalogue, type Strings } from '#src/web/strings.ts'

const days = counted('fa', { other: 'روز' })
const devices = counted('fa', { other: 'دستگاه' })

const PERSIAN: Strings = {
  ...catalogue.en,
  dir: 'rtl',
  language: 'فارسی',
  languageNav: 'زبان',
  support: 'پشتیبانی',
  copy: 'رونوشت',
  footerNav: 'اسناد',
  subTitle: 'اشتراک فعال است',
  subUntil: 'تا',
  number: days.number,
  dayWord: days.word,
  subDays: (count) => `${days.phrase(count)} مانده`,
  subList: 'سرورهای شما',
  connectText: 'سه گام، کمتر از یک دقیقه.',
  recommended: 'پیشنهاد ما',
  appText: 'با پیوند شما وصل می‌شود',
  stepInstall: (app) => `${app} را نصب کنید`,
  stepAdd: 'اشتراک خود را بیفزایید',
  stepAddText: 'برنامه باز می‌شود و سرورها خودشان پیدا می‌شوند.',
  addTo: (app) => `افزودن به ${app}`,
  stepOn: 'دکمهٔ روشن را بزنید',
  manual: 'دکمه کار نکرد؟',
  manualText: 'پیوند را رونوشت کنید، برنامه را باز کنید و آن را بچسبانید.',
  keepSecret: 'این پیوند شخصی است: هر که آن را دارد از اشتراک شما استفاده می‌کند.',
  devices: 'دستگاه‌ها',
  devicesOf: (count, limit) => `${devices.number(count)} از ${devices.number(limit)}`,
  otherDevice: 'دستگاه دیگر',
  otherDeviceText: 'دوربین تلفن را رو به این رمزینه بگیرید.',
  renew: 'تمدید در تلگرام',
  renewOnSite: 'تمدید در سایت',
  heroTitle: 'دسترسی سریع که به‌سادگی کار می‌کند',
  heroText: 'در تلگرام بخرید، یک دکمه بزنید و تلفن، رایانه یا تلویزیون را وصل کنید.',
  openBot: 'باز کردن ربات',
  seePlans: 'دیدن قیمت‌ها',
  deviceLimit: (count) => `تا ${devices.phrase(count)} با یک پیوند`,
  plans: 'طرح‌ها',
  choose: 'انتخاب',
  perMonth: (price) => `${price} در ماه`,
  factsTitle: 'چگونه کار می‌کند',
  servers: 'سرورها',
  offer: 'شرایط فروش',
  privacy: 'حریم خصوصی',
  cabinet: 'حساب شما',
}

/** Makes pages speak it from now on, as `fa`. */
export function addPersian(): 'en' {
  Object.assign(catalogue, { fa: PERSIAN })
  // A language of pages as far as types go; English ones never see it.
  return 'fa' as 'en'
}
