/** What names a store: a file, or the URL of a database. */

/** True for what names a PostgreSQL store rather than a file. */
export function postgresUrlIs(store: string): boolean {
  return /^postgres(ql)?:/i.test(store);
}

/** A store's name as people may see it: a URL without its user and password. */
export function storeName(store: string): string {
  if (!postgresUrlIs(store)) return store;
  const read = URL.parse(store);
  return read === null || read.hostname === "" ? "the database" : `postgres://${read.host}${read.pathname}`;
}

/** The password that a store's URL holds, as it stands there and as it is meant. A password that repeats the user's name is none. */
export function storeSecrets(store: string): readonly string[] {
  const { username = "", password = "" } = (postgresUrlIs(store) ? URL.parse(store) : null) ?? {};
  if (password === "" || password === username) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
