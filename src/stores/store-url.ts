/** Names of stores: the path of a file, or the URL of a database. */

/** True for the URL of a PostgreSQL store. */
export function postgresUrlIs(store: string): boolean {
  return /^postgres(ql)?:/i.test(store);
}

/** A store's name for people: a URL without its user and password. */
export function storeName(store: string): string {
  if (!postgresUrlIs(store)) return store;
  const read = URL.parse(store);
  return read === null || read.hostname === "" ? "the database" : `postgres://${read.host}${read.pathname}`;
}

/** The password in a store's URL, encoded and decoded. A password that equals the user's name is no secret. */
export function storeSecrets(store: string): readonly string[] {
  const { username = "", password = "" } = (postgresUrlIs(store) ? URL.parse(store) : null) ?? {};
  if (password === "" || password === username) return [];
  try {
    return [password, decodeURIComponent(password)];
  } catch {
    return [password];
  }
}
