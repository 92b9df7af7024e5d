/** Whether a service answers at all. It is asked without a key, so that any answer will do, a refusal too. */

import type { World } from "../../../contracts/world.ts";
import { type Environment, firstOf } from "../../../models/registry/model-sources.ts";
import { elapsedLabel } from "../../../view/amounts.ts";
import { broken, type Finding, ok } from "./finding.ts";
import { abortAfter } from "../../abort-after.ts";

const NAME = "network";
const WITHIN_MS = 5_000;

export async function checkReach(
  provider: string,
  url: string,
  { env, world }: { readonly env: Environment; readonly world: World },
): Promise<Finding> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    return broken(
      NAME,
      `${provider}: the base URL is no URL: ${url}`,
      "Give one that begins with https:// or http://.",
    );
  }
  if (parsed.username !== "" || parsed.password !== "") {
    const text = `${provider}: the base URL of ${parsed.host} holds a name or a password, which no request can be made with`;
    return broken(NAME, text, "Take out what stands before the @, and give a key in the environment instead.");
  }
  const began = world.monotonic();
  try {
    const { status } = await abortAfter(WITHIN_MS, world, async (signal) => {
      const answer = await fetch(url, { signal, redirect: "manual" });
      await answer.body?.cancel();
      return answer;
    });
    return ok(NAME, `${provider}: ${url} answers (HTTP ${status}) in ${elapsedLabel(world.monotonic() - began)}`);
  } catch (thrown) {
    return broken(NAME, `${provider}: ${url} does not answer: ${reasonOf(thrown)}`, remedyFor(env));
  }
}

/** `fetch` says only that it failed; why stands in the cause. */
function reasonOf(thrown: unknown): string {
  const { cause } = thrown instanceof Error ? thrown : {};
  const told = cause instanceof Error ? cause : thrown;
  if (!(told instanceof Error)) return String(told);
  const code = "code" in told && typeof told.code === "string" ? told.code : "";
  return told.message === "" ? code : told.message;
}

function remedyFor(env: Environment): string {
  const proxy = firstOf(env, ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]);
  if (proxy !== null && firstOf(env, ["NODE_USE_ENV_PROXY"]) === null) {
    return `${proxy.name} is set, and Node.js uses it only with NODE_USE_ENV_PROXY=1.`;
  }
  return "Check the URL, the network, and a proxy or firewall on the way.";
}
