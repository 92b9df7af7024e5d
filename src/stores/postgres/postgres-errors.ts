/**
 * What PostgreSQL's errors, and those on the way to it, mean to a user of Errand.
 *
 * Invariant: an ErrandError is passed on as it is.
 */

import { errorText, ErrandError } from "../../errors.ts";
import { rowRefused } from "../refusals.ts";

/** The SQLSTATE of an error that the server sent, the code of one of Node's, or null. */
function codeOf(error: unknown): string | null {
  return error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : null;
}

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return errorText(error);
}

/** The words of `pg` for a connection that ended, or that was never one; they carry no code. */
const CONNECTION_WORDS =
  /^(Connection terminated|Query read timeout|Client has encountered a connection error|Client was closed|timeout (expired|exceeded when trying to connect)|The server closed)/;
/** Codes of Node for a network that failed. */
const NETWORK_CODES = /^(E[A-Z]{2,}|EAI_AGAIN)$/;
/**
 * SQLSTATEs after which another connection may do better: class 08, a server that stops, starts or has no connection left, a session ended
 * for idling, and one that was moved to a server that only reads.
 */
const CONNECTION_STATES = /^(08...|57P0[1235]|53300|25P03|25006)$/;
/** Deadlock and serialisation: nothing was kept, and it can be tried again. */
const CONFLICT_STATES = /^(40001|40P01)$/;
/** Time-outs of a lock or a statement: nothing was kept, and it can be tried again once whoever holds the lock lets it go. */
const BUSY_STATES = /^(55P03|57014)$/;

/** A value out of range or of another form, a constraint, a limit of the server: the transaction was refused for what it holds. */
const VALUE_STATES = /^(22|23|54)/;

/** True if the connection failed, not what was asked over it. */
export function connectionLost(error: unknown): boolean {
  if (error instanceof ErrandError) return false;
  const code = codeOf(error);
  if (code === null) return CONNECTION_WORDS.test(messageOf(error)) || error instanceof AggregateError;
  return CONNECTION_STATES.test(code) || NETWORK_CODES.test(code);
}

/** True if the server gave up waiting for a lock, or a statement took too long: nothing of it was kept. */
export function serverBusy(error: unknown): boolean {
  return BUSY_STATES.test(codeOf(error) ?? "");
}

/** The SQLSTATE of `errand.require`. */
export const REFUSED = "ER001";

/** What a statement of Errand's own refused, by its word, or null if the error is another one. */
export function refusalOf(error: unknown): string | null {
  const cause = error instanceof ErrandError ? error.cause : error;
  return codeOf(cause) === REFUSED ? messageOf(cause) : null;
}

const LOCK_REMEDY =
  "Errand waits and goes on by itself. See who holds the lock: select pid, state, query from pg_stat_activity " +
  "where pid in (select pid from pg_locks where mode = 'AccessExclusiveLock' and granted)";

/** The error that a read or a write of an open store throws. */
export function storeErrorOf(cause: unknown, description: string): unknown {
  if (cause instanceof ErrandError) return cause;
  const code = codeOf(cause) ?? "";
  const why = messageOf(cause);
  if (connectionLost(cause)) return unreachable(description, cause);
  if (BUSY_STATES.test(code)) {
    return new ErrandError("store-busy", `${description} is held up by a lock of another session (${why}).`, {
      remedy: LOCK_REMEDY,
      cause,
    });
  }
  if (CONFLICT_STATES.test(code)) {
    return new ErrandError("commit-conflict", `${description} was too busy with another write (${why}).`, {
      remedy: "It is tried again; if it lasts, look for a transaction that stays open.",
      cause,
    });
  }
  if (VALUE_STATES.test(code)) return rowRefused(description, cause);
  if (code === "53100") {
    return new ErrandError("store-full", `${description} has no room left for a write (${why}).`, {
      remedy:
        "Make room on the disk of the server. Work under way waits for it and goes on by itself; new work was refused and can be tried again.",
      cause,
    });
  }
  if (code === "42501") return refused(description, why, "Grant the user what it lacks.", cause);
  if (/^(42P01|42703|3F000)$/.test(code)) {
    return new ErrandError("store-unreadable", `${description} lacks a part of its tables (${why}).`, {
      remedy: "Restore the database from a backup; its schema `errand` was changed by something other than Errand.",
      cause,
    });
  }
  if (/^XX00[12]$/.test(code)) {
    return new ErrandError("store-corrupt", `${description} is damaged (${why}).`, {
      remedy: "Stop Errand and restore the database from a backup.",
      cause,
    });
  }
  return new ErrandError("store-failed", `${description} could not be read or written (${why}).`, {
    remedy: "Stop Errand and look at the server's log; nothing of the write was kept.",
    cause,
  });
}

export function commitUnknown(description: string, cause: unknown): ErrandError {
  const message = `The connection to ${description} ended while a commit was under way (${messageOf(cause)}).`;
  return new ErrandError("commit-unknown", message, {
    remedy: "Whether it became durable is looked up; nothing is repeated before.",
    cause,
  });
}

function unreachable(description: string, cause: unknown): ErrandError {
  return new ErrandError("store-unreachable", `${description} cannot be reached (${messageOf(cause)}).`, {
    remedy: "Check that the server runs, and the host and port of the URL.",
    cause,
  });
}

function refused(description: string, why: string, remedy: string, cause: unknown): ErrandError {
  return new ErrandError("store-refused", `${description} refuses this user (${why}).`, { remedy, cause });
}

/** The error that opening a store throws. */
export function openErrorOf(cause: unknown, description: string): unknown {
  if (cause instanceof ErrandError) return cause;
  const why = messageOf(cause);
  switch (codeOf(cause)) {
    case "28P01":
    case "28000":
      return refused(
        description,
        why,
        "Check the user and the password of the URL, and the server's pg_hba.conf.",
        cause,
      );
    case "3D000":
      return refused(description, why, "Make the database first: createdb NAME", cause);
    case "42501":
      return refused(
        description,
        why,
        "Grant it: GRANT CREATE ON DATABASE name TO user; or let another user open the store first.",
        cause,
      );
    case null:
      if (/password/i.test(why))
        return refused(description, why, "Put the password into the URL: user:password@host", cause);
      if (/SSL/.test(why)) return unreachable(description, cause);
      break;
    default:
  }
  return storeErrorOf(cause, description);
}
