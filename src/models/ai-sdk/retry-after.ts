/** Reads how long a provider asks to wait before the next attempt. */

type Headers = Readonly<Record<string, string | undefined>>;

/** Milliseconds, if the provider asks for a wait. `now` is wall-clock time, for answers without a `date` header. */
export function retryAfterMs(headers: Headers, body: string, now: number | undefined): number | undefined {
  const exact = amount(headers["retry-after-ms"], 1);
  if (exact !== undefined) return exact;
  const header = headers["retry-after"];
  const seconds = amount(header, 1_000);
  if (seconds !== undefined) return seconds;
  if (header !== undefined) return untilDate(header, headers["date"], now);
  // Google sends it in the body: {"@type": "…RetryInfo", "retryDelay": "34s"}.
  return amount(/"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1], 1_000);
}

function amount(text: string | undefined, factor: number): number | undefined {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return undefined;
  return Math.ceil(Number(text) * factor);
}

/** Counts from the answer's own date if it has one, because the server's clock may differ. */
function untilDate(date: string, answered: string | undefined, now: number | undefined): number | undefined {
  const until = Date.parse(date);
  const parsed = answered === undefined ? Number.NaN : Date.parse(answered);
  const from = Number.isNaN(parsed) ? now : parsed;
  return Number.isNaN(until) || from === undefined ? undefined : Math.max(0, until - from);
}
