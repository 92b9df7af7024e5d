import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { tagExtract, tagExtractAll, tagStrip } from "./tag.ts";

describe("tagExtract", () => {
  test.each([
    ["Some preamble <response>The actual answer</response> trailing", "The actual answer"],
    [
      "text <response>outer <response>inner</response> middle</response> end",
      "outer <response>inner</response> middle",
    ],
    ['<rEsPoNsE foo="bar">content</RESPONSE>', "content"],
  ])("E3: the contract's vector %j gives %j", (text, expected) => {
    expect(tagExtract(text, "response")).toBe(expected);
  });

  test("E3: the first open tag and the last close tag bound the content", () => {
    expect(tagExtract("<say>a</say> b <say>c</say>", "say")).toBe("a</say> b <say>c");
  });

  test("E3, B3: an empty block is an empty string and not missing", () => {
    expect(tagExtract("<response></response>", "response")).toBe("");
    expect(tagExtract("<response> \n </response>", "response")).toBe("");
  });

  test("E3: the content is unmodified except that it is trimmed", () => {
    expect(tagExtract("<response>\n  a\r\n\tb &lt; <b>c</b>\u200B \n</response>", "response")).toBe(
      "a\r\n\tb &lt; <b>c</b>\u200B",
    );
  });

  test.each([
    ["", "no text"],
    ["<response>a", "no close tag"],
    ["a</response>", "no open tag"],
    ["</response> a <response>", "the last close stands before the open"],
    ["<responses>a</responses>", "a longer name"],
    ["<response-x>a</response-x>", "a longer name with a hyphen"],
    ["<response:x>a</response:x>", "a longer name with a colon"],
    ["<resp>a</resp>", "a shorter name"],
    ["< response>a</response>", "a space before the name"],
    ["<response>a</ response>", "a space before the name of the close tag"],
    ['<response foo="bar"', "an unfinished open tag"],
    ['<response foo="bar"</response>', "an open tag ended by another tag"],
    ['<response foo="bar>a</response>', "a value that is never closed"],
    ["<response>a</response", "an unfinished close tag"],
    ['<response>a</response x="y">', "a close tag with attributes"],
    ["<response/>", "a self-closing tag"],
    ["<response/>a</response>", "a self-closing tag before a close tag"],
    ['<response a="b" />a</response>', "a self-closing tag with attributes"],
    ['<response a="</response>">', "a close tag inside an attribute"],
    ["<reſponse>a</reſponse>", "a letter that only Unicode folds to s"],
  ])("E3: %j has no block (%s)", (text) => {
    expect(tagExtract(text, "response")).toBeNull();
    expect(tagStrip(text, "response")).toBe(text);
    expect(tagExtractAll(text, "response")).toEqual([]);
  });

  test.each([
    ["<response >a</response >", "a"],
    ["<response\n>a</response\n\t>", "a"],
    ['<response a="x > y">a</response>', "a"],
    ["<response a='x > \" y'>a</response>", "a"],
    ['<response a = "<response>" b>a</response>', "a"],
    ["<response a=b/c>a</response>", "a"],
    ["<response isn't>a, isn't it</response>", "a, isn't it"],
    ["<response/><response>a</response>", "a"],
    ['<response a="<response>"/><response>b</response>', "b"],
    ["<response <response>a</response>", "a"],
    ['<response a="<response>b</response>', "b"],
    ["İ<response>ßİ</response>", "ßİ"],
  ])("E3: %j holds %j", (text, expected) => {
    expect(tagExtract(text, "response")).toBe(expected);
  });

  test("E3: the name asked for may be written in any case", () => {
    expect(tagExtract("<response>a</response>", "RESPONSE")).toBe("a");
  });
});

describe("tagStrip", () => {
  test("E3, B3: exactly the block is removed, and the space around it stays", () => {
    expect(tagStrip("before \n<response>x</response>\n after", "response")).toBe("before \n\n after");
    expect(tagStrip("a<say>b</say>c<say>d</say>e", "say")).toBe("ae");
    expect(tagStrip("<say <say>b</say>", "say")).toBe("<say ");
  });

  test("E3: what is stripped is what is extracted", () => {
    const part = fc.constantFrom(
      "<say>",
      "</say>",
      '<say a=">">',
      "<say/>",
      "</say >",
      " ",
      "x",
      "<say",
      '"',
      "=",
      "<SAY\n>",
    );
    fc.assert(
      fc.property(fc.array(part), (parts) => {
        const text = parts.join("");
        const content = tagExtract(text, "say");
        const left = tagStrip(text, "say");
        if (content === null) {
          expect(left).toBe(text);
        } else {
          expect(text).toContain(content);
          expect(left.length).toBeLessThanOrEqual(text.length - content.length - "<say></say>".length);
          expect(tagExtractAll(text, "say").length).toBeGreaterThan(0);
        }
      }),
      { numRuns: 1000 },
    );
  });

  test("E3: text put into a block comes back trimmed, whatever tags it holds", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(tagExtract(`pre <response>${text}</response> post`, "response")).toBe(text.trim());
      }),
    );
  });
});

describe("tagExtractAll", () => {
  test("E3: every block is given, in order, each to its next close tag", () => {
    expect(tagExtractAll("<say>a</say> x <SAY b='c'> d </say><say></say> <say>e", "say")).toEqual(["a", "d", ""]);
  });

  test("E3: blocks do not overlap", () => {
    expect(tagExtractAll("<say>a<say>b</say>c</say><say>d</say>", "say")).toEqual(["a<say>b", "d"]);
  });
});

describe("time", () => {
  test.each([
    "<",
    "<response>",
    "</response>",
    "</response",
    "</response ",
    "<response ",
    '<response a="',
    '<response " ="',
    "<response a='\"<response a=\"'",
    "<response/>",
    "<response>x</response>",
    "=\"='",
    " ",
  ])("E3: a megabyte of %j is searched in linear time", (unit) => {
    const text = `<response>${unit.repeat((1 << 20) / unit.length)}`;
    for (const search of [tagExtract, tagStrip, tagExtractAll]) {
      for (const whole of [text, text.slice("<response>".length), `${text.slice("<response>".length)}</response>`]) {
        const started = performance.now();
        search(whole, "response");
        expect(performance.now() - started).toBeLessThan(5_000);
      }
    }
  });
});
