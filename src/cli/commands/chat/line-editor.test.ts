import { describe, expect, test } from "vitest";
import type { Key } from "../../host.ts";
import { createLineEditor, type LineEditor } from "./line-editor.ts";

const key = (name: string, over: Partial<Key> = {}): Key => ({ name, text: "", ctrl: false, meta: false, ...over });
const ctrl = (name: string): Key => key(name, { ctrl: true });
const alt = (name: string): Key => key(name, { meta: true });
const paste = (text: string): Key => key("paste", { text });

function editing(past: readonly string[] = []): {
  readonly editor: LineEditor;
  type(text: string): void;
  press(...keys: readonly (Key | string)[]): string | null;
  /** The text with a bar where the cursor is. */
  seen(): string;
} {
  const editor = createLineEditor();
  editor.remember(past);
  const press = (...keys: readonly (Key | string)[]): string | null =>
    keys.map((each) => editor.press(typeof each === "string" ? key(each) : each)).at(-1) ?? null;
  return {
    editor,
    press,
    type: (text) => {
      for (const letter of text) editor.press(key(letter, { text: letter }));
    },
    seen: () => `${editor.text.slice(0, editor.cursor)}|${editor.text.slice(editor.cursor)}`,
  };
}

describe("editing", () => {
  test.each<[string, readonly (Key | string)[], string]>([
    ["left and right", ["left", "left", "right"], "one tw|o"],
    ["home and end", ["home"], "|one two"],
    ["Ctrl-A and Ctrl-E", [ctrl("a"), ctrl("e")], "one two|"],
    ["backspace", ["backspace"], "one tw|"],
    ["delete at the end", ["delete"], "one two|"],
    ["delete", ["home", "delete"], "|ne two"],
    ["Ctrl-W", [ctrl("w")], "one |"],
    ["Alt-Backspace", [alt("backspace")], "one |"],
    ["Ctrl-U", ["left", ctrl("u")], "|o"],
    ["Ctrl-K", ["home", "right", ctrl("k")], "o|"],
    ["a word back and forth", [alt("b"), alt("b"), alt("f")], "one| two"],
    ["Ctrl-arrows", [ctrl("left"), ctrl("left"), ctrl("right")], "one| two"],
    ["Alt-D", [alt("b"), alt("d")], "one |"],
    ["what is no letter", ["escape", "tab", "f5", key("", { text: "\u001b[99~" })], "one two|"],
  ])("%s", (_what, keys, expected) => {
    const { type, press, seen } = editing();
    type("one two");
    press(...keys);
    expect(seen()).toBe(expected);
  });

  test("what is one character to a reader is passed and removed as one", () => {
    const { type, press, seen } = editing();
    type("a");
    press(paste("👩‍👩‍👧e\u0301日"));
    press("left", "left", "left");
    expect(seen()).toBe("a|👩‍👩‍👧e\u0301日");
    press("delete", "right", "backspace");
    expect(seen()).toBe("a|日");
  });

  test("Enter sends the line without its edges, and nothing when there is nothing", () => {
    const { type, press, seen } = editing();
    expect(press("return")).toBeNull();
    type("  hello ");
    expect(press("return")).toBe("hello");
    expect(seen()).toBe("|");
  });
});

describe("several lines", () => {
  test("a paste of several lines is one message, and no key of it is pressed", () => {
    const { press, seen } = editing();
    expect(press(paste("first\r\nsecond\rthird\u0003\u001b[2J\tend"))).toBeNull();
    expect(seen()).toBe("first\nsecond\nthird\tend|");
    expect(press("return")).toBe("first\nsecond\nthird\tend");
  });

  test("Ctrl-J and Alt-Enter begin another line; up and down go between them, then to the history", () => {
    const { type, press, seen } = editing(["before"]);
    type("long line");
    press("enter");
    type("ab");
    press(alt("return"));
    type("third");
    expect(seen()).toBe("long line\nab\nthird|");
    press("up");
    expect(seen()).toBe("long line\nab|\nthird");
    press("up");
    expect(seen()).toBe("lo|ng line\nab\nthird");
    press("home", "up");
    expect(seen()).toBe("before|");
    press("down");
    expect(seen()).toBe("long line\nab\nthird|");
  });
});

describe("history", () => {
  test("up and down go through what was sent, now and before, and come back to the line as it was left", () => {
    const { type, press, seen } = editing(["one", "two"]);
    type("three");
    press("return");
    type("dra");
    press("up");
    expect(seen()).toBe("three|");
    press("up", "up", "up", "up");
    expect(seen()).toBe("one|");
    press("down", "down", "down", "down");
    expect(seen()).toBe("dra|");
  });

  test("what is changed while looking back is sent, and the history stays as it was", () => {
    const { type, press, seen } = editing(["one"]);
    press("up");
    type("!");
    expect(press("return")).toBe("one!");
    press("up", "up");
    expect(seen()).toBe("one|");
  });

  test("the same line twice is remembered once; a cleared one is not", () => {
    const { editor, type, press, seen } = editing(["one"]);
    type("one");
    press("return");
    type("gone");
    editor.clear();
    press("up", "up");
    expect(seen()).toBe("one|");
    press("up");
    expect(seen()).toBe("one|");
  });
});
