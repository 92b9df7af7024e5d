/** The results and transcripts of runs, as resources that a client can read in parts. */

import { ProtocolError, ProtocolErrorCode } from "@modelcontextprotocol/server";
import { ErrandError } from "../errors.ts";
import type { HostTools } from "../host-tools/host-tools.ts";
import type { HostListOutput } from "../host-tools/output-schemas.ts";

const MIME = "text/plain";
const URI = /^errand:\/\/runs\/([^/?#]{1,64})\/(result|transcript)(?:\?offset=(\d{1,15}))?$/;

export const RUN_TEMPLATES = [
  {
    uriTemplate: "errand://runs/{run_id}/result{?offset}",
    name: "result",
    title: "Result of a run",
    description: "All that an ended run reported, from a byte on.",
    mimeType: MIME,
  },
  {
    uriTemplate: "errand://runs/{run_id}/transcript{?offset}",
    name: "transcript",
    title: "Transcript of a run",
    description: "What its agent was told and said, from a byte on.",
    mimeType: MIME,
  },
];

/** The resources of the newest runs. Only an ended run has a result. */
export function runResources({ runs = [] }: HostListOutput) {
  return runs.flatMap(({ run_id: id, name, status, agent }) => {
    const open = status === "queued" || status === "working" || status === "input_required";
    const kinds = open ? ["transcript"] : ["result", "transcript"];
    return kinds.map((kind) => ({
      uri: `errand://runs/${id}/${kind}`,
      name: `${name}: ${kind}`,
      description: `${kind} of a run of ${agent} (${status})`,
      mimeType: MIME,
    }));
  });
}

export async function readRunResource(hosts: HostTools, uri: string) {
  const [, id = "", kind, offset = "0"] = URI.exec(uri) ?? [];
  if (kind === undefined) throw unknownResource(uri);
  try {
    const { text, bytes, next } = await hosts[kind === "result" ? "result" : "transcript"](id, Number(offset));
    if (next === null) return { uri, mimeType: MIME, text };
    const rest = `errand://runs/${id}/${kind}?offset=${next}`;
    return { uri, mimeType: MIME, text: `${text}\n[cut: ${bytes} bytes in all; go on with ${rest}]` };
  } catch (error) {
    if (!(error instanceof ErrandError) || (error.code !== "run-unknown" && error.code !== "run-open")) throw error;
    throw unknownResource(uri, error.message);
  }
}

function unknownResource(
  uri: string,
  why = "Resources are errand://runs/RUN_ID/result and …/transcript.",
): ProtocolError {
  return new ProtocolError(ProtocolErrorCode.InvalidParams, `There is no resource ${JSON.stringify(uri)}. ${why}`);
}
