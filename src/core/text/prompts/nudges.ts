/** The exact texts of nudges (rules B2, B4 and C2). */

export const NUDGE_TOOL =
  "You haven't sent your results to your parent agent yet. Use the send_agent_message tool to deliver your results. " +
  "No agentId is needed — it defaults to your parent.";

export const NUDGE_TAG = "You must wrap your final answer in <response>...</response> tags. Emit your response now.";

export const NUDGE_USER_MESSAGE =
  "The message for the user above has not reached the user yet. Present it to the user now, in your own words.";
