/** The models that need no key, and what is asked of them where nothing else is. */

/** What is used when nobody chose another. */
export const OFFLINE = "offline/rehearsal";
/** The same for an audience: it takes its time, and one of its children forgets to report. */
export const OFFLINE_PACED = "offline/paced";

export const DEMO_TASK = "Explain what this project is, how its source is organised and where its tests are";
