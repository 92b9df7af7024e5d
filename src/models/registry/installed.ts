/** Owns the look whether a provider's package can be imported, without importing it. */

import { findPackageJSON } from "node:module";

export function packageIsInstalled(packageName: string): boolean {
  try {
    return findPackageJSON(packageName, import.meta.url) !== undefined;
  } catch {
    return false;
  }
}
