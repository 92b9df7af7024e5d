/**
 * `errand send AGENT TEXT`. With `--json` one object: `{ type: "sent", agent, tree, id, by, taken }`, where `by` is `mail` or `owner`
 * and `taken` says whether the owner had it when the command ended.
 */

import { notTaken } from "../../../runtime/messages/posted-message.ts";
import type { PostInput } from "../../../runtime/messages/mail.ts";
import { workspaceTools } from "../../../tools/index.ts";
import type { CommandAction } from "../../command.ts";
import { jsonLine } from "../../display/jsonl.ts";
import { EXIT } from "../../exit-code.ts";
import { givenText } from "../../work/task-text.ts";
import { deliver, newPostId } from "../../../runtime/messages/deliver.ts";
import { findId } from "../../store/find-id.ts";
import { requireTrusted, withView } from "../../store/open-view.ts";

export const sendCommand: CommandAction = ({ args: [given = "", message = ""], options, scope, host }) =>
  withView(scope, async (store, view) => {
    const found = await findId(store, given, scope);
    const file = await view.holder(found.tree.id);
    requireTrusted(file);
    const said = await givenText(message, "message", `errand send ${given} "your message"`, host);
    const text = host.redactor.text(said);
    const tree = found.tree.id;
    const agent = found.kind === "tree" ? tree : found.run.agent;
    if (found.kind === "run" && found.run.state === "ended") throw notTaken(agent, "its run has ended");
    const id = newPostId(host.world);
    const to = found.kind === "tree" ? 0 : found.run.number;
    const input: PostInput = { type: "message-posted", id, to, kind: "user", size: text.length };
    const delivered = await deliver(
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
    const { by, taken, late } = delivered;
    if (late !== null) throw notTaken(agent, late);
    if (options.json === true) host.out(jsonLine({ type: "sent", agent, tree, id, by, taken }));
    else host.out(`${sentLine(delivered)}\n`);
    return EXIT.done;

    function sentLine({ by, taken }: typeof delivered): string {
      if (by === "owner") return `kept in the store; nobody works on it now: errand resume ${tree}`;
      return taken
        ? `taken by the owner; watch it with: errand logs -f ${tree}`
        : "in the mail; the owner has not looked yet";
    }
  });
