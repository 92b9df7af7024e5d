/**
 * Holds the beginning and the end of a stream of any length.
 *
 * Invariants:
 *  1. Memory is limited to `headBytes` and `tailBytes`.
 *  2. A short stream is held whole. Of a longer one, a line between the parts says how many bytes of how many were left
 *     out, and all bytes go to `whole`, in order.
 *  3. A cut never splits a character.
 */

export interface BoundedOutput {
  add(chunk: Buffer): void;
  /** The length of the stream so far. */
  readonly bytes: number;
  text(): string;
}

export function createBoundedOutput(
  headBytes: number,
  tailBytes: number,
  whole: (chunk: Buffer) => void = () => undefined,
): BoundedOutput {
  let head = Buffer.alloc(0);
  let tail = Buffer.alloc(0);
  let bytes = 0;
  return {
    add(chunk) {
      const room = headBytes + tailBytes;
      if (bytes + chunk.length > room) {
        if (bytes <= room) whole(Buffer.concat([head, tail]));
        whole(chunk);
      }
      bytes += chunk.length;
      const forHead = chunk.subarray(0, headBytes - head.length);
      const forTail = chunk.subarray(forHead.length).subarray(-tailBytes);
      head = Buffer.concat([head, forHead]);
      tail = Buffer.concat([tail, forTail]).subarray(-tailBytes);
    },
    get bytes() {
      return bytes;
    },
    text() {
      if (bytes <= headBytes + tailBytes) return Buffer.concat([head, tail]).toString("utf8");
      const first = head.subarray(0, endOfCharacters(head));
      const last = tail.subarray(startOfCharacters(tail));
      const left = bytes - first.length - last.length;
      return `${first.toString("utf8")}\n[… ${left} of ${bytes} bytes left out here …]\n${last.toString("utf8")}`;
    },
  };
}

const CHARACTER_BYTES = 4;

function continues(byte: number | undefined): boolean {
  return byte !== undefined && (byte & 0xc0) === 0x80;
}

/** The position of the first whole character. */
function startOfCharacters(piece: Buffer): number {
  let start = 0;
  while (start < CHARACTER_BYTES - 1 && continues(piece[start])) start++;
  return start;
}

/** The end of the last whole character. */
function endOfCharacters(piece: Buffer): number {
  let lead = piece.length - 1;
  while (lead > piece.length - CHARACTER_BYTES && continues(piece[lead])) lead--;
  const byte = piece[lead] ?? 0;
  const length = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : byte >= 0xc0 ? 2 : 1;
  return lead + length > piece.length ? lead : piece.length;
}
