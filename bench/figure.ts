/**
 * Measures one figure of Errand in its own process: `node figure.ts NAME prepare|measure '{…}'` prints one line of
 * JSON.
 */

interface Figure {
  prepare(options: object): Promise<void>;
  measure(options: object): Promise<object>;
}

const [name = "", phase = "", options = "{}"] = process.argv.slice(2);
const figure = (await import(`./figures/${name}.mjs`)) as Figure;
const given = JSON.parse(options) as object;
const output = phase === "prepare" ? await figure.prepare(given) : await figure.measure(given);
process.stdout.write(`${JSON.stringify(output ?? {})}\n`);
process.exit(0);
