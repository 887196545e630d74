import { ServerResponse } from "node:http";
import { Socket } from "node:net";
import { expect, it } from "vitest";
import { JoinedMessage } from "@/lib/server/joined-message";
import { NodeSource } from "@/lib/server/node-source";

it("the headers of a request to our own server know no name but those of headers", () => {
  const message = new JoinedMessage(new Socket());
  message.headers = { "content-type": "text/plain" };
  const { headers } = new NodeSource(message, new ServerResponse(message));
  expect(headers.get("content-type")).toBe("text/plain");
  for (const name of ["constructor", "valueof", "__proto__"] as const) expect(headers.get(name)).toBeNull();
});

it("the signal of a request aborts when its client leaves, and is aborted if it left before anyone asked", () => {
  const message = new JoinedMessage(new Socket());
  const outgoing = new ServerResponse(message);
  const request = new NodeSource(message, outgoing);
  const { signal } = request;
  expect(signal.aborted).toBe(false);
  outgoing.destroy();
  outgoing.emit("close");
  expect(signal.aborted).toBe(true);
  Object.assign(outgoing, { _closed: true }); // as Node does where the socket closes
  expect(request.signal.aborted).toBe(true);
});
