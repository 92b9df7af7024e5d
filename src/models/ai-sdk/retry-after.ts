/** Owns the reading of how long a provider asks to wait before the next try. */

type Headers = Readonly<Record<string, string | undefined>>;

/** Milliseconds, if the provider said. `now` is wall-clock time, for dates in answers that have no date of their own. */
export function retryAfterMs(headers: Headers, body: string, now: number | undefined): number | undefined {
  const exact = amount(headers["retry-after-ms"], 1);
  if (exact !== undefined) return exact;
  const said = headers["retry-after"];
  const seconds = amount(said, 1_000);
  if (seconds !== undefined) return seconds;
  if (said !== undefined) return untilDate(said, headers["date"], now);
  // Google says it in the body: {"@type": "…RetryInfo", "retryDelay": "34s"}.
  return amount(/"retryDelay"\s*:\s*"(\d+(?:\.\d+)?)s"/.exec(body)?.[1], 1_000);
}

function amount(text: string | undefined, factor: number): number | undefined {
  if (text === undefined || !/^\s*\d+(?:\.\d+)?\s*$/.test(text)) return undefined;
  return Math.ceil(Number(text) * factor);
}

/** Counted from the answer's own date where it has one: the two clocks may differ. */
function untilDate(date: string, answered: string | undefined, now: number | undefined): number | undefined {
  const until = Date.parse(date);
  const parsed = answered === undefined ? Number.NaN : Date.parse(answered);
  const from = Number.isNaN(parsed) ? now : parsed;
  return Number.isNaN(until) || from === undefined ? undefined : Math.max(0, until - from);
}
