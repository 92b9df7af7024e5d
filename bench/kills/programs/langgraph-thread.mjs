/**
 * Runs a thread of a checkpointed graph to its answer, from the start or from the last checkpoint. A thread that has
 * ended returns its last state. An empty `next` does not mean that it has ended: it is also empty while the writes of
 * the last step are stored and their checkpoint is not.
 */
export async function continueThread(graph, agent, question) {
  const thread = { configurable: { thread_id: "thread" } };
  const { values, next } = await graph.getState(thread);
  const begun = next.length > 0 || (values?.messages ?? []).length > 0;
  const input = begun ? null : { messages: [{ role: "user", content: question }] };
  const state = await agent.invoke(input, { ...thread, durability: "sync" });
  return state.messages.at(-1).text;
}
