/**
 * Seeds that once failed, and what they found. They stay in the tests, although a change of the simulation also changes
 * what a seed does.
 */

import type { Trouble } from "./troubles/troubles.ts";

interface Regression {
  readonly seed: number;
  /** The trouble that the seed was given; without it the seed draws its troubles. */
  readonly trouble?: Trouble;
  readonly found: string;
}

export const REGRESSIONS: readonly Regression[] = [
  { seed: 1, found: "a model was sent another context than the journal says: built after the commit, not in the step" },
  { seed: 16, found: "a queued run was never started when its own tree gave the slot back" },
  {
    seed: 89,
    found: "a message that a channel had taken went out again when a channel was attached before the next commit",
  },
  { seed: 175, found: "a model was called for a turn that a later step of the same commit had ended" },
  { seed: 178, found: "a queued run stayed queued for ever when its root was closed" },
  { seed: 181, found: "a process that was replaced sent the user a message that was the other's to send" },
  { seed: 319, found: "what a commit of unknown outcome had ended was executed on, though the commit became durable" },
  { seed: 569, found: "mail that a full disk refused was not tried again" },
  {
    seed: 3_708,
    found: "an answer that waited while its tree was loaded was decided under the definitions of the process before",
  },
  { seed: 5_176, found: "closing with a full disk left the store open" },
  {
    seed: 5_447,
    found: "erasing the texts of a run without a report took its last tool output out of the parent's context",
  },
  {
    seed: 10_433,
    found: "an erasure kept the tool output that came last, not the one that stands last in the context",
  },
  { seed: 10_508, found: "a process that was stopped while it closed brought up a third one when it woke" },
  { seed: 10_889, found: "an erasure lost the answer to a refused call, which was the run's last output" },
  { seed: 13_054, found: "of an answer whose words had been erased but for a report in it, what was left was told" },
  { seed: 28_621, found: "a tree that left memory because its disk was full gave away the slots of its runs for good" },
  { seed: 32_721, found: "the deadline that a commit of unknown outcome had set was not waited for" },
  {
    seed: 80_213,
    found:
      "an erasure kept the words of a reply that came once more, too late, and lost those that the parent was told",
  },
  { seed: 105_809, found: "a call waited for the budget for ever, because room became free after the last look at it" },
  {
    seed: 150_835,
    found: "an erasure kept a refused reply's words, and lost those that were delivered to the parent",
  },
  {
    seed: 706_836,
    found: "a process that was replaced loaded a tree and began the model call that it found decided there",
  },
  { seed: 2_074_396, found: "the texts of a run of a closed tree were never erased after a crash" },
  { seed: 33, trouble: "locked-store", found: "a process that could not start because of a lock left its store open" },
  { seed: 175, trouble: "unwritable-row", found: "the slots of a quarantined tree were not offered to other trees" },
  { seed: 186, trouble: "unwritable-row", found: "a conversation was opened without its first message" },
  { seed: 288, trouble: "endless-reply", found: "children of a closed root kept the tools of an old definition" },
  {
    seed: 1_010,
    trouble: "waiting-store",
    found: "a post was refused when it was repeated while other content under its id was under way",
  },
  {
    seed: 1_442,
    trouble: "waiting-store",
    found: "a message went out again that was recorded as taken while the outbox was read",
  },
  { seed: 1_496, trouble: "locked-store", found: "a channel that replaced another did not get messages after a lock" },
];
