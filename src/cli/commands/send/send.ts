/** `errand send AGENT TEXT`. */

import { notTaken } from "../../../runtime/messages/posted-message.ts";
import type { PostInput } from "../../../runtime/messages/mail.ts";
import { workspaceTools } from "../../../tools/index.ts";
import type { CommandAction } from "../../command.ts";
import { print } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { givenText } from "../../running/task-text.ts";
import { deliver, newPostId } from "../../../runtime/messages/deliver.ts";
import { findId } from "../../store/find-id.ts";
import { requireTrusted, withView } from "../../store/open-view.ts";

export const sendCommand: CommandAction = (call) =>
  withView(call.scope, async (store, view) => {
    const { args, scope, host } = call;
    const [given = "", message = ""] = args;
    const found = await findId(store, given, scope);
    const file = await view.holder(found.tree.id);
    requireTrusted(file);
    const typed = await givenText(message, "message", `errand send ${given} "your message"`, host);
    const text = host.redactor.text(typed);
    const tree = found.tree.id;
    const agent = found.kind === "tree" ? tree : found.run.agent;
    if (found.kind === "run" && found.run.state === "ended") throw notTaken(agent, "its run has ended");
    const id = newPostId(host.world);
    const to = found.kind === "tree" ? 0 : found.run.number;
    const input: PostInput = { type: "message-posted", id, to, kind: "user", size: text.length };
    const { by, taken, rejected } = await deliver(
      file,
      {
        tree,
        input,
        texts: [text],
        async asOwner(errand) {
          await (await errand.agent(agent)).post(text, { id });
          return null;
        },
      },
      { world: host.world, tools: workspaceTools({ world: host.world, environment: {} }) },
    );
    if (rejected !== null) throw notTaken(agent, rejected);
    print(call, { type: "sent", agent, tree, id, by, taken }, () => {
      if (by === "owner") return `kept in the store; no process works on it now: errand resume ${tree}`;
      return taken
        ? `taken by the owner; watch it with: errand logs -f ${tree}`
        : "in the mail; the owner has not looked yet";
    });
    return EXIT.done;
  });
