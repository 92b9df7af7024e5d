/**
 * The secret of a simulation: the key that its models and tools were configured with. It stands where adapters have it,
 * in the requests behind their failures, and must come out nowhere (I28).
 */

export const SECRET = "sk-simulated-0d5f1c9a7b";

/** What hangs on a failure, as HTTP libraries hang the request on theirs. */
export const FAILED_REQUEST = { cause: { request: { headers: { authorization: `Bearer ${SECRET}` } } } };
