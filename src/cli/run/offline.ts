/** The model that needs no key: what is used when nobody chose another. */

export const OFFLINE = "offline/rehearsal";
