/**
 * Background delegation written by hand, the same for every peer, even if it has a feature for it. The tool starts the
 * child and answers at once. When the child has ended, the program sends its result to the parent as a message.
 */
export function delegationByHand(background, run) {
  const started = [];
  return {
    async execute(task) {
      if (!background) return run(task);
      started.push({ task, result: run(task) });
      return "Started. You are told when it has ended.";
    },
    /** Sends the parent a question, and then the result of each child that it started. */
    async ask(send, question) {
      let answer = await send(question);
      for (const { task, result } of started) answer = await send(`Result of "${task}": ${await result}`);
      return answer;
    },
  };
}
