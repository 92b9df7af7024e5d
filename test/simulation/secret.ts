/**
 * The secret of a simulation: the key of its models and tools. It is in the requests behind their failures, as with
 * real adapters, and must not appear anywhere else (I28).
 */

export const SECRET = "sk-simulated-0d5f1c9a7b";

/** The cause of a failure, with the request, as HTTP libraries attach it. */
export const FAILED_REQUEST = { cause: { request: { headers: { authorization: `Bearer ${SECRET}` } } } };
