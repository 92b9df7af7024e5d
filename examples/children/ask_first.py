"""A child of Errand: a program that gets one request, and answers with envelopes. It asks before it counts."""

import json
import sys

# The request is one line. The input stays open: the answer comes there.
request = json.loads(sys.stdin.readline())


def say(**envelope):
    print(json.dumps({"v": 1, "correlation_id": request["correlation_id"], **envelope}), flush=True)


def finish(status, summary, **more):
    say(type="result", status=status, summary=summary, artifacts=[], **more)


print("this is a log", file=sys.stderr)
say(type="progress", text="counting the letters of the task")
say(type="question", id="case", text="Count capital letters only?", choices=["yes", "no"])
answer = json.loads(sys.stdin.readline())
if "text" not in answer:
    finish("cancelled", "nobody wanted to answer")
    sys.exit()

letters = [letter for letter in request["task"] if letter.isalpha()]
if answer["text"] == "yes":
    letters = [letter for letter in letters if letter.isupper()]
finish("ok", f"{len(letters)} letters", data={"letters": len(letters)})
