/** Replaces a configured key, token or password in all that is recorded, shown or sent to a model (invariant I28). */

export const REDACTED = "[redacted by Errand]";
