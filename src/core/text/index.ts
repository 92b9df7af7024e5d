// The public text functions, as `errand/text`. Pure: no I/O, no clock, nothing outside this folder.

export { codePointsPrefix, cutToBytes, utf8Length } from "./bytes.ts";
export {
  CANONICAL_MAX_DEPTH,
  CanonicalJsonError,
  type CanonicalJsonErrorCode,
  canonicalJson,
} from "./canonical-json.ts";
export { durationLabel } from "./duration.ts";
export {
  frameBuild,
  type Framed,
  type FrameName,
  FrameOriginError,
  frameParse,
  messageBuildSystemText,
  messageBuildUserFacing,
  messageIsUserFacing,
  messageParseSystemText,
} from "./frame.ts";
export { messageNoMessageIs, messageSaid, noMessageHeld } from "./no-message.ts";
export { REDACTED } from "./redacted.ts";
export { salvageText } from "./salvage.ts";
export { sayBlocks } from "./say.ts";
export { type LabelledOutcome, statusLabel } from "./status-label.ts";
export { tagExtract, tagExtractAll, tagStrip } from "./tag.ts";
