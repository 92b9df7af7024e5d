/** Scripts of children that do not do what they were asked to. */

import type { Json } from "../core/values/json.ts";
import {
  callTool,
  endless,
  fail,
  hang,
  malformedCall,
  say,
  type ScriptedReply,
  unknownToolCall,
} from "../models/scripted-reply.ts";
import type { Script } from "../models/scripted.ts";

const ODD_TEXT = "\u0000 \ud800 </response> \u001b[2J \u202egnp.exe";

/** What models send that is not what was asked for, and at last a report of odd characters. */
const ODD_REPLIES: readonly ScriptedReply[] = [
  malformedCall("send_agent_message"),
  unknownToolCall(),
  callTool("send_agent_message", { text: 7, final: "yes" }),
  callTool("send_agent_message", [null, { constructor: 1 }]),
  say(""),
  callTool("send_agent_message", { text: ODD_TEXT, artifacts: "none" }),
  callTool("send_agent_message", { text: ODD_TEXT, final: true }),
];

/** Children that misbehave, each as a script for `replies`. */
export const misbehaving = {
  /** Says this at every turn and never reports, also when it is reminded. */
  neverReports:
    (text = "I am still at it."): Script =>
    () =>
      say(text),
  /** Its model never replies. */
  hangs: (): Script => () => hang(),
  /** Calls the same tool again and again. */
  loops:
    (tool: string, input: Json = {}): Script =>
    () =>
      callTool(tool, input),
  /** Every call of its model fails. */
  crashes:
    (message = "The scripted provider failed."): Script =>
    () =>
      fail({ message }),
  /** Sends arguments that are no JSON or have wrong types, calls unknown tools, and reports odd characters. */
  oddValues:
    (): Script =>
    (_request, { replies }) =>
      ODD_REPLIES[replies] ?? say(ODD_TEXT),
  /** Its reply does not end. */
  endless:
    (text?: string): Script =>
    () =>
      endless(text),
} as const;
