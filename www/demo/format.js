// Values as people read them. Pure functions; they know nothing of the page.

// The warehouse keeps UTC, so everyone who looks at an order reads the same hour.
const ZONE = "UTC";
const LOCALE = "en-GB";

const DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", year: "numeric", timeZone: ZONE });
const SHORT_DAY = new Intl.DateTimeFormat(LOCALE, { day: "numeric", month: "short", timeZone: ZONE });
const HOUR = new Intl.DateTimeFormat(LOCALE, { hour: "2-digit", minute: "2-digit", timeZone: ZONE });
const NUMBER = new Intl.NumberFormat(LOCALE);

export const STATUSES = ["pending", "packed", "shipped", "delivered", "cancelled", "refunded"];

/** 12850, "EUR" → "€128.50" */
export function money(cents, currency) {
  return new Intl.NumberFormat(LOCALE, { style: "currency", currency }).format(cents / 100);
}

/** 1285000, "EUR" → "€12,850": for large figures, where cents are noise. */
export function roundMoney(cents, currency) {
  return new Intl.NumberFormat(LOCALE, { style: "currency", currency, maximumFractionDigits: 0 }).format(cents / 100);
}

export function number(value) {
  return NUMBER.format(value);
}

/** 1, "order" → "1 order"; 3, "order" → "3 orders" */
export function count(value, noun, plural = `${noun}s`) {
  return `${number(value)} ${value === 1 ? noun : plural}`;
}

/** "2026-11-03T09:12:00Z" → "3 Nov 2026" */
export function day(iso) {
  return dated(iso, (date) => DAY.format(date));
}

/** "2026-11-03" → "3 Nov" */
export function shortDay(iso) {
  return dated(iso, (date) => SHORT_DAY.format(date));
}

/** "2026-11-03T09:12:00Z" → "3 Nov 2026, 09:12" */
export function moment(iso) {
  return dated(iso, (date) => `${DAY.format(date)}, ${HOUR.format(date)}`);
}

/** "pending" → "Pending" */
export function capital(word) {
  return word.charAt(0).toUpperCase() + word.slice(1);
}

function dated(iso, write) {
  const date = new Date(iso);
  return Number.isNaN(date.getTime()) ? String(iso ?? "") : write(date);
}
