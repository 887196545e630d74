import type { ReactNode } from "react";
import { parseEmailAddress } from "@/lib/accounts/email-address";
import type { Operator as By } from "@/lib/db/audit";
import type { Db } from "@/lib/db/store";
import { ApiError } from "@/lib/http/errors";
import type { Operator } from "@/lib/office/operators";

/** A request of a signed-in operator. */
export type OfficeCall = {
  db: Db;
  operator: Operator;
  /** The operator, for the audit. */
  by: By;
  nowMs: number;
  /** A field of the form or, if it has none with this name, of the query; trimmed. */
  input: (name: string) => string | undefined;
  /** A field of the form alone, for a form that comes back: a link cannot fill it in. */
  typed: (name: string) => string | undefined;
  /** Why the act that this page belongs to was refused: its form shows what was typed. */
  problem?: ApiError;
};

export type OfficeView = { title: string; content: ReactNode; status?: number };

/** A page of the office, which changes nothing. */
export type OfficePage = {
  path: `/${string}`;
  /** Its name in the navigation; pages without one are reached from others. */
  name?: string;
  /** The page of the navigation that it belongs to, if it is not there itself. */
  section?: OfficePage["path"];
  show: (call: OfficeCall) => Promise<OfficeView>;
  /** What its forms do. It explains their refusals. */
  acts?: readonly OfficeAct[];
};

/** What a form does. */
export type OfficeAct = {
  path: `/${string}`;
  /** What it does, as in "to delete the account". */
  name: string;
  /** It gives, takes away or speaks to everyone, so the operator proves again who they are. */
  needsProof?: true;
  /** Throws an {@link ApiError} if it changes nothing. Returns the address to go to, or what to show. */
  run: (call: OfficeCall) => Promise<string | OfficeView>;
};

/** A path with these parameters; empty ones are left out. */
export function addressOf(path: string, parameters: Record<string, string | undefined>): string {
  const given = Object.entries(parameters).filter((pair): pair is [string, string] => Boolean(pair[1]));
  return given.length > 0 ? `${path}?${new URLSearchParams(given)}` : path;
}

/** A text that people will read: one line. Throws an {@link ApiError}. */
export function requireLine(what: string, text = ""): string {
  if (text !== "" && text.length <= 500 && !/\p{Cc}/u.test(text)) return text;
  throw invalid(`${what} must be one line of 1 to 500 characters.`);
}

/** The address of the page of an account, or of an email without one; after an act, with what was done. */
export function accountAddress(email: string, done?: string): string {
  return addressOf("/account", { email, done });
}

/** The email that a page or a form is about. Throws an {@link ApiError} if there is none. */
export function requireEmail({ input }: Pick<OfficeCall, "input">): string {
  const email = parseEmailAddress(input("email") ?? "");
  if (email) return email;
  throw invalid("This is not an email address.");
}

/** A refusal of what was typed. */
export function invalid(message: string): ApiError {
  return new ApiError("invalid_request", { message, hint: "Nothing was changed." });
}

/** A refusal because someone else was first. */
export function conflict(message: string): ApiError {
  return new ApiError("forbidden", {
    status: 409,
    message,
    hint: "What you typed is still in the form. Send it again if it should be done all the same.",
  });
}
