import { appendFileSync, readFileSync } from "node:fs";
import type { IncomingHttpHeaders } from "node:http";
import { isUnderApi } from "@/lib/http/program-path";

/*
 * Records the responses that the tests received, one per line, in the file that RECORDED_ANSWERS names. `npm test`
 * sets it; `tests/contract.test.ts` then checks the responses against the API description.
 */

export type SeenAnswer = {
  /** Undefined for those of the public API. */
  from?: "the backend API";
  method: string;
  /** Without its query. */
  path: string;
  status: number;
  headers: IncomingHttpHeaders;
  body: string;
};

/** Records a response of an API. */
export function recordAnswer(answer: SeenAnswer): void {
  const file = process.env.RECORDED_ANSWERS;
  const path = withoutQuery(answer.path);
  if (file && (answer.from || isUnderApi(path)))
    appendFileSync(file, `${JSON.stringify({ ...answer, path })}\n`);
}

/** Records the response to bytes written to a socket, if there is exactly one: several cannot be told apart. */
export function recordRaw(sent: string, received: string): void {
  const answer = readRaw(sent, received);
  if (answer) recordAnswer(answer);
}

/** The response to bytes written to a socket, if there is exactly one. */
export function readRaw(sent: string, received: string): SeenAnswer | undefined {
  const [, method, target] = /^(\S+) ([^ ]+) HTTP\/1\.[01]\r\n/.exec(sent) ?? [];
  const [head = "", body = "", ...more] = received.split("\r\n\r\n");
  const [statusLine = "", ...fields] = head.split("\r\n");
  const status = Number(/^HTTP\/1\.1 (\d{3}) /.exec(statusLine)?.[1]);
  if (!method || !target || !status || more.length > 0 || body.includes("HTTP/1.1 ")) return undefined;
  const headers = fields.map((field) => {
    const colon = field.indexOf(":");
    return [field.slice(0, colon).toLowerCase(), field.slice(colon + 1).trim()];
  });
  return { method, path: withoutQuery(target), status, headers: Object.fromEntries(headers), body };
}

function withoutQuery(target: string): string {
  return target.replace(/\?.*$/s, "");
}

/** Records the response of a handler that was called without a server. */
export async function recordResponse(method: string, path: string, response: Response): Promise<void> {
  const { status, headers } = response;
  recordAnswer({
    method,
    path,
    status,
    headers: Object.fromEntries(headers),
    body: await response.clone().text(),
  });
}

export function readAnswers(file: string): SeenAnswer[] {
  const lines = readFileSync(file, "utf8").trimEnd().split("\n");
  return lines.map((line) => JSON.parse(line));
}
