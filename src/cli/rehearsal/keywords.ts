/**
 * What can be taken from a sentence without understanding it: keywords, subjects and file names.
 *
 * Invariant: the same text gives the same words in the same order, whatever the locale.
 */

export type Subject = "project" | "source" | "tests";

export interface Keyword {
  readonly word: string;
  /** The word without its ending. The search is for the stem. */
  readonly stem: string;
}

const MAX_KEYWORDS = 5;

const STOP_WORDS: ReadonlySet<string> = new Set(
  (
    "about above after again against also always among another answer around because been before being below " +
    "between both brief briefly bring came cannot come could current currently describe describes detail details " +
    "different does doing done down each either else every everything example explain explains find finds first " +
    "found from give given gives goes good happen happens have having hello help here hers holds into itself just " +
    "keep know large last least less like list look looks made main mainly make makes many maybe mean means mine " +
    "more most much must need needs never nothing once only other others over part parts place places please " +
    "quite rather read reads really same says search second seem seen several shall should show shows since some " +
    "someone something still such summarise summarize summary take tell tells than thank thanks that their them " +
    "then there these they thing things think this those through today together under until upon used user uses " +
    "using very want wants ways well went were what when where wherever whether which while whole whom whose will " +
    "with within without word words work working works would write written your yours located defined"
  ).split(" "),
);

/** STRONG words always name a subject, WEAK words only if the text has no keywords. */
const STRONG: Readonly<Record<Subject, RegExp>> = {
  project: /^(projects?|repositor(y|ies)|repo|codebase|overview|librar(y|ies)|readme)$/,
  source: /^(organi[sz](ed|es?|ing|ation)|structur(ed?|es)|architectur(e|al)|layout|codebase|modules?)$/,
  tests: /^(tests?|testing|tested|specs?|testsuite)$/,
};
const WEAK: Readonly<Record<Subject, RegExp>> = {
  project: /^(folders?|director(y|ies)|packages?|applications?|apps?|programs?)$/,
  source: /^(source|sources|code|files?)$/,
  tests: /^(spec)$/,
};

/** Words of four letters or more, and abbreviations such as API. */
export function keywordsOf(text: string): readonly Keyword[] {
  const found = new Map<string, Keyword>();
  for (const written of wordsOf(withoutFiles(text))) {
    const word = written.toLowerCase();
    const abbreviation = written.length === 3 && /^[A-Z]+$/.test(written);
    if ((word.length < 4 && !abbreviation) || STOP_WORDS.has(word) || subjectWord(word)) continue;
    const stem = stemOf(word);
    if (!found.has(stem)) found.set(stem, { word, stem });
    if (found.size === MAX_KEYWORDS) break;
  }
  return [...found.values()];
}

export function subjectsOf(text: string): ReadonlySet<Subject> {
  const words = wordsOf(withoutFiles(text)).map((word) => word.toLowerCase());
  const tables = keywordsOf(text).length === 0 ? [STRONG, WEAK] : [STRONG];
  const subjects: readonly Subject[] = ["project", "source", "tests"];
  return new Set(subjects.filter((subject) => tables.some((table) => words.some((word) => table[subject].test(word)))));
}

/** The paths with an extension in the text. */
export function filesNamedIn(text: string): readonly string[] {
  const named = [...text.matchAll(FILE)].map((match) => (match[1] ?? "").replace(/^\.\//, ""));
  return [...new Set(named)].slice(0, MAX_KEYWORDS);
}

/** Sentences, and clauses between commas and `and`. */
export function clausesOf(text: string): readonly string[] {
  return text
    .split(/[.;:!?](?=\s|$)|,|\n|\band\b/i)
    .map((clause) => clause.trim())
    .filter((clause) => clause !== "");
}

export function wordsOf(text: string): readonly string[] {
  return text.match(/[\p{L}\p{N}_$]+(?:-[\p{L}\p{N}_$]+)*/gu) ?? [];
}

const EXTENSIONS =
  "tsx?|jsx?|mjs|cjs|mts|json|md|mdx|txt|ya?ml|toml|py|rs|go|java|kt|rb|php|cs?|cc|cpp|h|hpp|sh|css|html|sql|lock";
const FILE = new RegExp(`(?<![\\w/.-])((?:[\\w@.-]+/)*[\\w@-][\\w@.-]*\\.(?:${EXTENSIONS}))(?![\\w/-])`, "g");

function withoutFiles(text: string): string {
  return text.replace(FILE, " ");
}

function subjectWord(word: string): boolean {
  return [STRONG, WEAK].some((table) => Object.values(table).some((pattern) => pattern.test(word)));
}

/** The same for related words such as `configured`, `configures` and `config`. */
export function stemOf(word: string): string {
  const singular = word.length > 4 && /[^s]s$/.test(word) ? word.slice(0, -1) : word;
  const bare = /^(.{4,}?)(ing|ed|ation|ations)$/.exec(singular)?.[1] ?? singular;
  const single = bare !== singular && /([bdglmnprt])\1$/.test(bare) ? bare.slice(0, -1) : bare;
  if (single.startsWith("configur")) return "config";
  if (/^authenti|^authori[sz]/.test(single)) return "auth";
  return single;
}
