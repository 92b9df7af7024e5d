/**
 * Background delegation written by hand, the same for every peer, whether or not it has a feature of its own for it: the tool
 * starts the child and answers at once; when the child has ended, the program sends its result to the parent as a message.
 */
export function delegationByHand(background, run) {
  const started = [];
  return {
    async execute(task) {
      if (!background) return run(task);
      started.push({ task, result: run(task) });
      return "Started. You are told when it has ended.";
    },
    /** Asks the parent, and tells it of each child that it started. */
    async ask(send, question) {
      let answer = await send(question);
      for (const { task, result } of started) answer = await send(`Result of "${task}": ${await result}`);
      return answer;
    },
  };
}
