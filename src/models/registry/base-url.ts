/** Brings the base URLs that users write into one form. */

const OLLAMA_PORT = "11434";

export function baseUrlIs(text: string): boolean {
  return URL.canParse(text) && /^https?:$/.test(new URL(text).protocol);
}

/** The URL without a slash at its end, and with an API version. */
export function withVersion(url: string, version: string): string {
  const bare = withoutSlash(url);
  return /\/v\d+[a-z0-9]*$/.test(bare) ? bare : `${bare}/${version}`;
}

export function withoutSlash(url: string): string {
  return url.replace(/\/+$/, "");
}

/** `host` is `OLLAMA_HOST`: a host, a host with a port, an address to listen on, or a URL. */
export function ollamaBaseUrl(host: string | undefined): string {
  const given = (host ?? "").trim();
  if (given === "") return `http://127.0.0.1:${OLLAMA_PORT}/v1`;
  if (given.includes("://")) return withVersion(given, "v1");
  const [, name = "", port = OLLAMA_PORT] = /^(.*?)(?::(\d+))?$/.exec(withoutSlash(given)) ?? [];
  return `http://${name === "" || name === "0.0.0.0" ? "127.0.0.1" : name}:${port}/v1`;
}
