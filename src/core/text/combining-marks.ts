// Combining marks of all scripts. A mark sits on the letter before it, so a reader may take both for the letter.
//
// The ranges are the general category M of Unicode 17. They are fixed here, so that a frame built under one version of
// Node is parsed under another (look-alike.ts, invariant 2); a test compares them with its engine. Each word is one
// range in base 36: the distance of its first code point from the last one of the range before, and how many code
// points follow it.

const RANGES = `
lc+33 7o+6 7c+18 2 2+1 2+1 2 21+a 1d+k h 2u+6 3+5 3+1 2+3 10 v+q 2k+a 1n+8 a p+3 2+8 2+2 2+4 18+2 1o+8 17+n
2+w 1j+2 2+h 2+6 b+1 u+2 1l 2+6 3+1 3+2 a b+1 r 3+2 1l 2+4 5+1 3+2 4 v+1 4 c+2 1l 2+7 2+2 2+2 l+1 n+5 2+2 1l
2+6 3+1 3+2 8+2 b+1 v 1o+4 4+2 2+3 a 15+4 1k 2+6 2+2 2+3 8+1 c+1 u+2 1l 2+6 2+2 2+3 8+1 c+1 g d+3 1k+1 2+6
2+2 2+3 a b+1 u+2 1z 5+5 2 2+7 j+1 1q 3+6 d+7 2r 3+8 c+6 22+1 s 2 2 5+1 1e+j 2+1 6+a 2+z a 2t+j o+3 5+2 2+2
3+6 4+3 e+b 2 b+3 jk+2 qb+3 t+2 u+1 v+1 1t+v a 1a+2 2 3a+1 z 3b+b 5+b 64+4 1m+9 2+s 3 1d+19 3+b l+4 1c+g
13+8 d+2 v+c 1l+d 1d+j 49+2 2+k 5 7 3+2 5j+1r k1+w 2db+2 3y 2p+v ff+5 2y+1 n9x+3 2+9 x+1 29+1 7l 4 5 o+4 5
2c+1 1f+h r+h e 13+7 q+c 19+3 1c+d 11 1w+d d 9+1 1a+2 1f 2+2 3+1 6+1 2 16+4 6+1 6l+7 2+1 fn5 ki+f h+f r2 6b
46+4 1af+2 2+1 6+3 15+2 5 4m+1 fy+3 1u+4 8u+1 26+5 1z+a 1e+3 3f+2 1i+e 16 3+1 b+3 1a+a 8 1q+2 11+d h+1 19
d+2 1d+d 9+3 2+1 2l+b 7 3 4e+b m+3 1k+1 2+6 3+1 3+2 a b+1 3+6 4+4 1w+8 2 3 2+3 2+4 2 f+1 2b+h o 2a+j 6k+6
3+8 s+1 2b+g 2z+c 2u+e 75+e 6u+5 2+1 3+3 2 2+1 3y+6 3+6 4 t+9 15+6 2+3 9 a+a 1b+f 5j+7 5k+7 2+7 2b+l 2+d
3f+5 4 2+1 2+6 2 1v+4 2+1 2+4 9o+3 a+1 2 1d+6 4+4 o 44m 7+e 8uh+h 1xd+4 1o+6 t5 2+1i 8+3 2a c+1 f58+1 3mq+19
3+m f3+4 4+5 9+7 3+6 v+3 45+2 1j0+1i 5+1d 9 f n+4 2+e 11t+6 2+g 3+6 2+1 2+4 2t 4h+6 ag 1q+3 e5+3 73+1 6s 3
8+1 6 d7+6 32+6 gzhy+6n
`;

/** First and last code point of each range, in order. */
export function combiningMarkRanges(): readonly (readonly [number, number])[] {
  const ranges: [number, number][] = [];
  let last = 0;
  for (const word of RANGES.trim().split(/\s+/)) {
    const [gap = "", more = "0"] = word.split("+");
    const first = last + Number.parseInt(gap, 36);
    last = first + Number.parseInt(more, 36);
    ranges.push([first, last]);
  }
  return ranges;
}
