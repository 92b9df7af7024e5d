import fc from "fast-check";
import { expect, test } from "vitest";
import { createBoundedOutput } from "./bounded-output.ts";

const NOTE = /^([^]*)\n\[… (\d+) of (\d+) bytes left out here …\]\n([^]*)$/;

test("a short stream is held whole, a longer one as its beginning and its end", () => {
  const text = fc.string({ unit: fc.constantFrom("a", "é", "€", "😀"), maxLength: 200, size: "max" });
  fc.assert(
    fc.property(text, fc.array(fc.nat(40)), (whole, sizes) => {
      const bytes = Buffer.from(whole);
      const output = createBoundedOutput(32, 24);
      let at = 0;
      for (const size of [...sizes, bytes.length]) {
        output.add(bytes.subarray(at, at + size));
        at += size;
      }
      expect(output.bytes).toBe(bytes.length);
      if (bytes.length <= 56) {
        expect(output.text()).toBe(whole);
        return;
      }
      const [, head = "?", left, total, tail = "?"] = NOTE.exec(output.text()) ?? [];
      expect(whole.startsWith(head) && whole.endsWith(tail)).toBe(true);
      expect(Number(total)).toBe(bytes.length);
      expect(Number(left)).toBe(bytes.length - Buffer.byteLength(head) - Buffer.byteLength(tail));
      expect(Buffer.byteLength(head)).toBeGreaterThan(32 - 4);
      expect(Buffer.byteLength(tail)).toBeGreaterThan(24 - 4);
    }),
  );
});
