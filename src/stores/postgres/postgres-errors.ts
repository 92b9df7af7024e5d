/**
 * Errors of PostgreSQL, and of the connection to it, as errors of Errand.
 *
 * Invariant: an ErrandError is passed on unchanged.
 */

import { errorCode, errorText, ErrandError } from "../../errors.ts";
import { rowRefused } from "../refusals.ts";

function messageOf(error: unknown): string {
  if (error instanceof AggregateError && error.message === "") return messageOf(error.errors[0]);
  return errorText(error);
}

/** Codes of Node.js for a network that failed. */
const NETWORK_CODES = /^(E[A-Z]{2,}|EAI_AGAIN)$/;
/**
 * SQLSTATEs after which another connection may succeed: class 08; a server that stops, starts or has no connection
 * left; a session that was ended for idling, or moved to a read-only server.
 */
const CONNECTION_STATES = /^(08...|57P0[1235]|53300|25P03|25006)$/;
/** Deadlock and serialisation: nothing was stored, and it can be tried again. */
const CONFLICT_STATES = /^(40001|40P01)$/;
/** Timeouts of a lock or a statement: nothing was stored, and it can be tried again once the lock is free. */
const BUSY_STATES = /^(55P03|57014)$/;
/** A value out of range or of another form, a constraint, a limit of the server: the content was refused. */
const VALUE_STATES = /^(22|23|54)/;

/**
 * True if the connection failed, not what was asked over it. The server's errors and Node's have codes. A plain Error
 * without a code is from `pg` itself: the connection ended, timed out or was never made.
 */
export function connectionLost(error: unknown): boolean {
  if (error instanceof ErrandError) return false;
  const code = errorCode(error);
  if (code !== null) return CONNECTION_STATES.test(code) || NETWORK_CODES.test(code);
  return error instanceof AggregateError || (error instanceof Error && error.constructor === Error);
}

/** True if the server gave up waiting for a lock, or a statement took too long: nothing of it was stored. */
export function serverBusy(error: unknown): boolean {
  return BUSY_STATES.test(errorCode(error) ?? "");
}

/** The SQLSTATE of `errand.require`. */
export const REFUSED = "ER001";

/** The name of the refusal if a statement of Errand refused, else null. */
export function refusalOf(error: unknown): string | null {
  const cause = error instanceof ErrandError ? error.cause : error;
  return errorCode(cause) === REFUSED ? messageOf(cause) : null;
}

const LOCK_REMEDY =
  "Errand waits and continues by itself. See who holds the lock: select pid, state, query from pg_stat_activity " +
  "where pid in (select pid from pg_locks where mode = 'AccessExclusiveLock' and granted)";

/** The error that a read or a write of an open store throws. */
export function storeErrorOf(cause: unknown, description: string): unknown {
  if (cause instanceof ErrandError) return cause;
  const code = errorCode(cause) ?? "";
  const why = messageOf(cause);
  if (connectionLost(cause)) return unreachable(description, cause);
  if (BUSY_STATES.test(code)) {
    return new ErrandError("store-busy", `${description} is delayed by a lock of another session (${why}).`, {
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
        "Make room on the disk of the server. Work under way waits and continues by itself; new work was refused and " +
        "can be tried again.",
      cause,
    });
  }
  if (code === "42501") return refused(description, why, "Grant the user what it lacks.", cause);
  if (/^(42P01|42703|3F000)$/.test(code)) {
    return new ErrandError("store-unreadable", `${description} lacks a part of its tables (${why}).`, {
      remedy: "Restore the database from a backup; something other than Errand changed its schema `errand`.",
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
    remedy: "Stop Errand and check the server's log; nothing of the write was stored.",
    cause,
  });
}

export function commitUnknown(description: string, cause: unknown): ErrandError {
  const message = `The connection to ${description} ended while a commit was under way (${messageOf(cause)}).`;
  return new ErrandError("commit-unknown", message, {
    remedy: "Errand looks up whether it became durable before it repeats anything.",
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

/** The error if the server asks for a password and there is none. `pg` has no code for that. */
export function passwordMissing(description: string, cause: unknown): ErrandError {
  return refused(description, messageOf(cause), "Put the password into the URL: user:password@host", cause);
}

/** The error that opening a store throws. */
export function openErrorOf(cause: unknown, description: string): unknown {
  if (cause instanceof ErrandError) return cause;
  const why = messageOf(cause);
  switch (errorCode(cause)) {
    case "28P01":
    case "28000":
      return refused(
        description,
        why,
        "Check the user and the password of the URL, and the server's pg_hba.conf.",
        cause,
      );
    case "3D000":
      return refused(description, why, "Create the database first: createdb NAME", cause);
    case "42501":
      return refused(
        description,
        why,
        "Grant it: GRANT CREATE ON DATABASE name TO user; or let another user open the store first.",
        cause,
      );
    default:
  }
  return storeErrorOf(cause, description);
}
