#!/bin/sh
# A child of Errand: a program that gets one request, and answers with envelopes. It counts the files of its folder.

# The request is one line. Errand always writes its fields in the same order, so the id can be cut out of its beginning.
read -r request
id=$(printf '%s' "$request" | sed 's/^{"v":1,"type":"request","correlation_id":"\([^"]*\)".*/\1/')

say() {
  printf '{"v":1,"correlation_id":"%s",%s}\n' "$id" "$1"
}

result() {
  say "\"type\":\"result\",\"status\":\"$1\",\"summary\":\"$2\",\"artifacts\":[]"
}

say '"type":"progress","text":"counting files"'
echo "this is a log" >&2

# Texts that may contain quotes or line breaks need a tool that writes JSON, such as jq. A number needs none.
if count=$(find . -type f | wc -l); then
  result ok "$((count)) files"
else
  result error "the files could not be counted"
fi
