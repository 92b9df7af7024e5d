/** The models that need no key, and the one of them that is used when nobody chose another. */

export const OFFLINE = "offline/rehearsal";

export function offlineIs(model: string): boolean {
  return model.startsWith("offline/");
}
