/** Checks whether a service answers. It is asked without a key, so any answer counts, also a refusal. */

import type { World } from "../../../contracts/world.ts";
import { type Environment, firstOf } from "../../../models/registry/model-sources.ts";
import { elapsedLabel } from "../../../view/amounts.ts";
import { broken, type Finding, ok } from "./finding.ts";
import { abortAfter } from "../../waiting.ts";

const NAME = "network";
const WITHIN_MS = 5_000;

export async function checkReach(
  provider: string,
  url: string,
  { env, world }: { readonly env: Environment; readonly world: World },
): Promise<Finding> {
  const parsed = URL.parse(url);
  if (parsed === null || !/^https?:$/.test(parsed.protocol)) {
    const text = `${provider}: the base URL is no URL: ${url}`;
    return broken(NAME, text, "Give one that begins with https:// or http://.");
  }
  if (parsed.username !== "" || parsed.password !== "") {
    const url = `the base URL of ${parsed.host}`;
    const text = `${provider}: ${url} holds a name or a password, and no request may have these`;
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

/** The error of `fetch` does not say why it failed; its cause does. */
function reasonOf(thrown: unknown): string {
  const error = thrown instanceof Error && thrown.cause instanceof Error ? thrown.cause : thrown;
  if (!(error instanceof Error)) return String(error);
  const code = "code" in error && typeof error.code === "string" ? error.code : "";
  return error.message === "" ? code : error.message;
}

function remedyFor(env: Environment): string {
  const proxy = firstOf(env, ["HTTPS_PROXY", "https_proxy", "HTTP_PROXY", "http_proxy"]);
  if (proxy !== null && firstOf(env, ["NODE_USE_ENV_PROXY"]) === null) {
    return `${proxy.name} is set, and Node.js uses it only with NODE_USE_ENV_PROXY=1.`;
  }
  return "Check the URL, the network, and a proxy or firewall on the way.";
}
