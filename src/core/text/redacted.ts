/**
 * The mark that stands where a secret stood. Whatever is recorded, shown or sent to a model holds the mark instead of a key, a token or
 * a password that Errand was configured with (invariant I28).
 */

export const REDACTED = "[redacted by Errand]";
